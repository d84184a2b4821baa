#!/usr/bin/env bash
# Checks the models exhaustively with spin, then each mutation of them, which must be found. TAP, one line a claim; the number of
# states is in the diagnostics. It needs spin and gcc, one core for about half a minute, and at most 1.5 GB.
#
# Each model is compiled twice: as it is, and with every mutation in it; which one, and how far a run goes, the verifier reads from
# its environment (choices.pml).
set -u

models=$(cd "$(dirname "$0")" && pwd -P)
source=$(cd "$(dirname "$0")/../../src" && pwd -P)
work=$(mktemp -d "${TMPDIR:-/tmp}/onejob-model.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 143' TERM INT HUP
n=0 failed=0
usual=(MUTATION=0 TRIES=2 FAULTS=255 OPS=255 RESENDS=1 GIVE_UPS=0 ONLY_THE_WORK=0)

for tool in spin gcc; do
	command -v "$tool" >/dev/null || { echo "Bail out! $tool isn't installed (Debian's package $tool)"; exit 1; }
done
quick=gcc	# for what runs only for a moment
! command -v clang >/dev/null || quick=clang
cd "$work" || exit 1
cp "$models"/*.pml . || exit 1

mutants=()	# M_NAME=NUMBER, for each that a model asks for
while read -r name; do
	mutants+=("$name=$((${#mutants[@]} + 1))")
done < <(grep -ohE '\bM_[A-Z_]+\b' ./*.pml | sort -u)
printf '#define %s\n' "${mutants[@]/=/ }" >mutants.pml	# spin has no room for so many on its command line

# result STATUS SENTENCE DIAGNOSTICS
result() {
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
	else
		failed=1
		echo "not ok $n - $2"
	fi
	[ -z "$3" ] || printf '%s\n' "$3" | sed 's/^/# /'
}

# compile PROGRAM MODEL COMPILER LEVEL MACRO...
compile() {
	local program=$1 model=$2 compiler=$3 level=$4

	shift 4
	spin -a "$@" "$model.pml" >said 2>&1 && "$compiler" "$level" -w -DSAFETY -DMEMLIM=1500 -o "$program" pan.c >>said 2>&1
}

# build MODEL COMPILER LEVEL: the verifiers ./MODEL.as_it_is and ./MODEL.mutants
build() {
	compile "$1.as_it_is" "$1" "$2" "$3" && compile "$1.mutants" "$1" "$quick" -O0 -DMUTANTS && return
	cat said
	echo "Bail out! $1.pml can't be built"
	exit 1
}

# explore MODEL KIND HASH-BITS CHOICE...: writes what the verifier says to ./said. No trail is left from an earlier one.
explore() {
	local model=$1 kind=$2 bits=$3

	shift 3
	rm -f said "$model.pml.trail"
	env "${usual[@]}" "$@" "./$model.$kind" -m50000 "-w$bits" >said 2>&1
}

states() {
	sed -nE 's/^ *([0-9]+) states, stored.*/\1/p' said
}

# The name that leads the assertion which failed.
broken_rule() {
	sed -nE 's/.*assertion violated \(*([a-z_]+).*/\1/p' said | head -n 1
}

# The whole space was searched, and nothing was found.
clean() {
	grep -q 'errors: 0$' said && ! grep -qE 'Search not completed|max search depth too small|out of memory' said
}

# story MODEL CHOICE...: how it came about, without the monitors' own steps.
story() {
	local model=$1 choice
	local -A chosen=()

	shift
	[ -e "$model.pml.trail" ] || { tail -n 20 said; return; }
	echo "broken: $(broken_rule)"
	for choice in "${usual[@]}" "$@"; do
		chosen[${choice%%=*}]=-D$choice
	done
	spin -t -p -DTELLING "${chosen[@]}" "$model.pml" 2>&1 | grep -E '^ *[0-9]+:.proc' |
		grep -vE 'assert|_was|\(goto\)|sub-sequence|\[IF\]' | tail -n 80
}

# holds MODEL SENTENCE CHOICE...
holds() {
	local model=$1 sentence=$2

	shift 2
	if explore "$model" as_it_is 22 "$@" && clean; then
		result 0 "$sentence" "$(states) states"
	else
		result 1 "$sentence" "$(story "$model" "$@")"
	fi
}

# reached MODEL: steps that no run takes would prove nothing. What remains are the ends of endless processes, and the complaints.
reached() {
	local unreached

	unreached=$(grep -E "^	$1\\.pml:[0-9]+, state" said | grep -vE '"-end-"|no_attempt_starting_for_ever|no_job_forgotten')
	[ -z "$unreached" ] && grep -q '^unreached in proctype' said
	result $? "every step of $1.pml is taken by some run" "$unreached"
}

# found MODEL RULE MUTATION CHOICES SENTENCE: that rule must be seen broken.
found() {
	local rule number=

	for number in "${mutants[@]}"; do
		[ "${number%=*}" != "$3" ] || break
	done
	# shellcheck disable=SC2086 # none or more
	explore "$1" mutants 18 "MUTATION=${number#*=}" $4 || true
	rule=$(broken_rule)
	[ "$rule" = "$2" ] && broken+=" $1:$2"
	result $? "it is found when $5" "$3 breaks ${rule:-nothing, not $2}; $(states) states"
}

# What a comment of a model calls a function is one of the program, or a step of the model itself.
named() {
	local name strangers=

	for name in $(grep -ohE '\b[a-z_]+\(\)' ./*.pml | sort -u | tr -d '()'); do
		grep -qE "\binline $name\(" ./*.pml ||
			grep -rqE --include='*.c' "\b$name\(" "$source" || strangers+=" $name"
	done
	[ -z "$strangers" ]
	result $? 'each function that the models speak of is one of the program' "${strangers:+in none:$strangers}"
}

build onejob gcc -O1	# large: worth an optimizer
build intake "$quick" -O0
build routes "$quick" -O0
holds onejob 'no order of steps breaks a rule: two attempts, one sent again, any number of faults and of words'
holds onejob 'no order of steps breaks a rule: three attempts, none sent again, one fault, two words of an operator' \
	TRIES=3 RESENDS=0 FAULTS=1 OPS=2 GIVE_UPS=1
holds onejob 'no order of steps breaks a rule: three attempts, sent again twice, one fault, one word of an operator' \
	TRIES=3 RESENDS=2 FAULTS=1 OPS=1 GIVE_UPS=1
reached onejob
holds intake 'no order of steps breaks a rule: four clients create under one key, three of one owner, and one cancels by it'
reached intake
holds routes 'no order of steps breaks a rule: a job fails over while certificates die and are renewed'
reached routes
named

tried="" broken=""
while IFS='|' read -r model rule mutation choices sentence; do
	found "$model" "$rule" "$mutation" "$choices" "$sentence"
	tried+=" $mutation"
done <<'TABLE'
onejob|no_result_after_an_unseen_decision|M_SWAP_ANY_VERSION|FAULTS=0 OPS=2 RESENDS=0|the swap doesn't compare the version
onejob|one_winner|M_SWAP_TAKEN_SLOT|FAULTS=0 OPS=1|the swap doesn't ask whether the slot is empty
onejob|no_result_after_an_unseen_decision|M_CANCELLED_TAKES_RESULT||a cancelled job still takes a result
onejob|an_ended_attempt_stays|M_ENDED_MOVES||a result moves an attempt that has ended
onejob|version_counts_decisions|M_FAILURE_KEEPS_VERSION||failing for good leaves the version
onejob|version_counts_decisions|M_EXPIRY_KEEPS_VERSION||expiry leaves the version
onejob|version_counts_decisions|M_CANCEL_KEEPS_VERSION||cancelling leaves the version
onejob|no_doubt_resolved_by_a_timer|M_TIMEOUT_FAILS|FAULTS=0 OPS=0|a time-out after sending fails the attempt
onejob|no_doubt_resolved_by_a_timer|M_REAPER_FAILS||the reaper fails what it finds
onejob|no_attempt_starting_for_ever|M_NO_REAPER||nobody reaps
onejob|no_attempt_starting_for_ever|M_UNCERTAIN_KEEPS_LEASE||a poller keeps its id after a claim whose commit got no answer
onejob|one_attempt_in_doubt|M_CLAIM_BESIDE_DOUBT|FAULTS=0 OPS=1|a job is claimed while an attempt is in doubt
onejob|job_and_doubt_agree|M_REQUEST_BESIDE_DOUBT||a request for an attempt doesn't look for doubts
onejob|job_and_doubt_agree|M_RETRY_BESIDE_DOUBT|FAULTS=0 OPS=2 RESENDS=0|a failure requeues the job though another attempt is in doubt
onejob|no_send_after_its_turn|M_STARTING_BY_HAND||an operator may release or end a starting attempt
onejob|no_send_after_its_turn|M_SEND_LATE||a poller sends without a look at its lease
onejob|sent_only_when_committed|M_SEND_BEFORE_COMMIT||a request goes out before its attempt is committed
onejob|sent_only_when_committed|M_SEND_UNCERTAIN||a request goes out though the claim's commit got no answer
onejob|sent_only_once|M_SEND_AGAIN||a request is sent again after it was lost track of
onejob|sent_again_only_while_it_holds|M_RESEND_UNHELD||a request is sent again without a look at whether its attempt holds the job
onejob|no_failure_while_sent_again|M_FREED_WHILE_SENT_AGAIN||a word frees the job while the request is being sent again
onejob|no_failure_while_sent_again|M_NO_RESEND_LEASE||a request is sent again under no lease
onejob|no_failure_while_sent_again|M_ANY_SENDINGS_FAILURE|FAULTS=1 OPS=0|the first sender's failure counts while the request is being sent again
onejob|no_send_after_its_turn|M_NO_HOLD|RESENDS=2|a request is sent again though another poller is about to
onejob|failed_only_when_certain|M_GATEWAY_FAILS||a gateway's answer is taken for the provider's refusal
onejob|a_settled_job_stays|M_REQUEST_REVIVES||a request for an attempt revives a cancelled job
onejob|no_job_forgotten|M_NO_EXPIRY||no queued job ever expires
onejob|work_done_twice_only_by_hand|M_TIMEOUT_FAILS|FAULTS=0 OPS=0 ONLY_THE_WORK=1|a time-out fails the attempt, and nobody minds but the customer
onejob|work_done_twice_only_by_hand|M_CLAIM_BESIDE_DOUBT|FAULTS=0 OPS=1 ONLY_THE_WORK=1|a second attempt starts beside a doubt, and nobody minds
onejob|work_done_twice_only_by_hand|M_ANY_SENDINGS_FAILURE|FAULTS=1 OPS=0 ONLY_THE_WORK=1|the first sender's failure counts, and nobody minds
onejob|work_done_twice_only_by_hand|M_NO_RESEND_LEASE|FAULTS=1 OPS=0 ONLY_THE_WORK=1|a request is sent again under no lease, and nobody minds
onejob|work_done_twice_only_by_hand|M_NO_HOLD|RESENDS=2 FAULTS=0 OPS=0 ONLY_THE_WORK=1|two send the same again, and nobody minds
intake|one_job_per_key|M_LOOKS_FIRST||a create looks first and then inserts
intake|no_job_of_another_intent|M_NO_COMPARE||a create takes what has its key for its own
intake|no_job_of_another_owner|M_KEY_WITHOUT_OWNER||the unique key leaves out the owner
intake|conflict_only_with_another_intent|M_COMPARES_SPELLING||intents are compared as they are written
intake|a_job_keeps_its_intent|M_UPSERTS||an insert writes over what has its key
intake|new_only_once|M_ALWAYS_NEW||a job that was there already is said to be new
intake|same_intent_same_job|M_REPLACES||an insert takes the place of what has its key
intake|a_duplicate_finds_its_job|M_LOOKS_ONCE||nobody looks again, with a lock, for what an insert has met
intake|the_job_is_there|M_GROUP_IGNORES||a statement for several passes over a key that is there, and all are told that it is written
intake|the_job_is_there|M_GROUP_TOLD_ANYWAY||those taken along are told that it is written, whatever came of the statement
routes|no_uncertified_failover|M_NO_RECHECK||the claim doesn't ask again for the certificate
routes|no_uncertified_failover|M_EXPIRY_IGNORED||the claim doesn't ask how old the certificate is
routes|no_uncertified_failover|M_FAILED_RUN_COUNTS||the claim doesn't ask whether the certification passed
routes|no_uncertified_failover|M_ROW_NOT_HELD||the claim doesn't hold the provider's row until it is committed
routes|no_uncertified_failover|M_SURVIVES_EDIT|ONLY_THE_WORK=1|a certificate survives an edit of its provider
routes|no_uncertified_failover|M_CONTRACT_EDIT_COUNTS_NOT|ONLY_THE_WORK=1|a certificate survives an edit of its contract
routes|no_uncertified_failover|M_VERDICT_UNCHECKED|ONLY_THE_WORK=1|a certification doesn't ask at its end whether what it went by still stands
routes|chosen_only_when_certified|M_CHOICE_UNCHECKED||a route is chosen without a look at its certificate
routes|first_route_needs_none|M_FIRST_BOUND||the first attempt needs a certificate
routes|no_job_forgotten|M_LEFT_BEHIND||a claim that may not take a job leaves it where it is
TABLE

# forgotten: a mutation that the models offer and the table leaves out
forgotten=
for mutation in "${mutants[@]}"; do
	[[ "$tried " == *" ${mutation%=*} "* ]] || forgotten+=" ${mutation%=*}"
done
[ -z "$forgotten" ]
result $? 'each mutation of the models is tried' "$forgotten"

# vacuous: a rule that a model asserts, and no mutation of it was seen to break
vacuous=
for model in onejob intake routes; do
	for rule in $(grep -ohE '\bassert\(+[a-z_]+' "$model.pml" | tr -d '(' | sed 's/^assert//' | sort -u); do
		[[ "$broken " == *" $model:$rule "* ]] || vacuous+=" $model:$rule"
	done
done
[ -z "$vacuous" ]
result $? 'each rule of the models is broken by some mutation' "$vacuous"

echo "1..$n"
exit "$failed"
