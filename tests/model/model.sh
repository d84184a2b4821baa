#!/usr/bin/env bash
# Checks onejob.pml exhaustively with spin, then each mutation of it, which must be found. TAP, one line a claim; the number of
# states is in the diagnostics. It needs spin and gcc, one core for about a minute, and at most 1.5 GB.
set -u

model=$(cd "$(dirname "$0")" && pwd -P)/onejob.pml
source=$(cd "$(dirname "$0")/../../src" && pwd -P)
work=$(mktemp -d "${TMPDIR:-/tmp}/onejob-model.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 143' TERM INT HUP
n=0 failed=0

for tool in spin gcc; do
	command -v "$tool" >/dev/null || { echo "Bail out! $tool isn't installed (Debian's package $tool)"; exit 1; }
done
quick=gcc	# for what runs only for a moment
! command -v clang >/dev/null || quick=clang
cd "$work" || exit 1
cp "$model" onejob.pml || exit 1

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

# explore COMPILER LEVEL HASH-BITS MACRO...: writes what the verifier says to ./said. No trail is left from an earlier one.
explore() {
	local compiler=$1 level=$2 bits=$3

	shift 3
	rm -f said onejob.pml.trail pan
	spin -a "$@" onejob.pml >said 2>&1 && "$compiler" "$level" -w -DSAFETY -DMEMLIM=1500 -o pan pan.c >>said 2>&1 &&
		./pan -m10000 "-w$bits" >>said 2>&1
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

# How it came about, without the monitors' own steps.
story() {
	[ -e onejob.pml.trail ] || { tail -n 20 said; return; }
	echo "broken: $(broken_rule)"
	spin -t -p "${@}" onejob.pml 2>&1 | grep -E '^ *[0-9]+:.proc' | grep -vE 'assert|_was|\(goto\)|sub-sequence|\[IF\]' |
		tail -n 80
}

# holds SENTENCE MACRO...
holds() {
	local sentence=$1

	shift
	if explore gcc -O1 24 "$@" && clean; then
		result 0 "$sentence" "$(states) states"
	else
		result 1 "$sentence" "$(story "$@")"
	fi
}

# Steps that no run takes would prove nothing. What remains are the ends of endless processes, and the two complaints at rest.
reached() {
	local unreached

	unreached=$(grep -E '^	onejob\.pml:[0-9]+, state' said | grep -vE '"-end-"|no_attempt_starting_for_ever|no_job_forgotten')
	[ -z "$unreached" ] && grep -q '^unreached in proctype' said
	result $? 'every step of the model is taken by some run' "$unreached"
}

# found RULE MACROS SENTENCE: that rule must be seen broken.
found() {
	local rule

	# shellcheck disable=SC2086 # one or more macros
	explore "$quick" -O0 20 $2 -DTRIES=2 || true
	rule=$(broken_rule)
	[ "$rule" = "$1" ]
	result $? "it is found when $3" "$2 breaks ${rule:-nothing, not $1}; $(states) states"
}

holds 'no order of steps breaks a rule: two attempts, one sent again, any number of faults and of words' -DTRIES=2
holds 'no order of steps breaks a rule: three attempts, none sent again, one fault, two words of an operator' \
	-DTRIES=3 -DRESENDS=0 -DFAULTS=1 -DOPS=2
holds 'no order of steps breaks a rule: three attempts, sent again twice, one fault, one word of an operator' \
	-DTRIES=3 -DRESENDS=2 -DFAULTS=1 -DOPS=1
reached

# What a comment of the model calls a function is one of the program, or a step of the model itself.
named() {
	local name strangers=

	for name in $(grep -oE '\b[a-z_]+\(\)' onejob.pml | sort -u | tr -d '()'); do
		grep -qE "\binline $name\(" onejob.pml ||
			grep -rqE --include='*.c' "\b$name\(" "$source" || strangers+=" $name"
	done
	[ -z "$strangers" ]
	result $? 'each function that the model speaks of is one of the program' "${strangers:+in none:$strangers}"
}
named

while IFS='|' read -r rule macros sentence; do
	found "$rule" "$macros" "$sentence"
done <<'TABLE'
no_result_after_an_unseen_decision|-DM_SWAP_ANY_VERSION|the swap doesn't compare the version
one_winner|-DM_SWAP_TAKEN_SLOT|the swap doesn't ask whether the slot is empty
no_result_after_an_unseen_decision|-DM_CANCELLED_TAKES_RESULT|a cancelled job still takes a result
an_ended_attempt_stays|-DM_ENDED_MOVES|a result moves an attempt that has ended
version_counts_decisions|-DM_FAILURE_KEEPS_VERSION|failing for good leaves the version
version_counts_decisions|-DM_EXPIRY_KEEPS_VERSION|expiry leaves the version
version_counts_decisions|-DM_CANCEL_KEEPS_VERSION|cancelling leaves the version
no_doubt_resolved_by_a_timer|-DM_TIMEOUT_FAILS|a time-out after sending fails the attempt
no_doubt_resolved_by_a_timer|-DM_REAPER_FAILS|the reaper fails what it finds
no_attempt_starting_for_ever|-DM_NO_REAPER|nobody reaps
no_attempt_starting_for_ever|-DM_UNCERTAIN_KEEPS_LEASE|a poller keeps its id after a claim whose commit got no answer
one_attempt_in_doubt|-DM_CLAIM_BESIDE_DOUBT|a job is claimed while an attempt is in doubt
job_and_doubt_agree|-DM_REQUEST_BESIDE_DOUBT|a request for an attempt doesn't look for doubts
job_and_doubt_agree|-DM_RETRY_BESIDE_DOUBT|a failure requeues the job though another attempt is in doubt
no_send_after_its_turn|-DM_STARTING_BY_HAND|an operator may release or end a starting attempt
no_send_after_its_turn|-DM_SEND_LATE|a poller sends without a look at its lease
sent_only_when_committed|-DM_SEND_BEFORE_COMMIT|a request goes out before its attempt is committed
sent_only_when_committed|-DM_SEND_UNCERTAIN|a request goes out though the claim's commit got no answer
sent_only_once|-DM_SEND_AGAIN|a request is sent again after it was lost track of
sent_again_only_while_it_holds|-DM_RESEND_UNHELD|a request is sent again without a look at whether its attempt holds the job
no_failure_while_sent_again|-DM_FREED_WHILE_SENT_AGAIN|a word frees the job while the request is being sent again
no_failure_while_sent_again|-DM_NO_RESEND_LEASE|a request is sent again under no lease
no_failure_while_sent_again|-DM_ANY_SENDINGS_FAILURE -DFAULTS=1 -DOPS=0|the first sender's failure counts while the request is being sent again
no_send_after_its_turn|-DM_NO_HOLD -DRESENDS=2|a request is sent again though another poller is about to
one_row_per_key|-DM_LOOK_THEN_INSERT|a create looks first and then inserts
failed_only_when_certain|-DM_GATEWAY_FAILS|a gateway's answer is taken for the provider's refusal
a_settled_job_stays|-DM_REQUEST_REVIVES|a request for an attempt revives a cancelled job
no_job_forgotten|-DM_NO_EXPIRY|no queued job ever expires
work_done_twice_only_by_hand|-DM_TIMEOUT_FAILS -DONLY_THE_WORK|a time-out fails the attempt, and nobody minds but the customer
work_done_twice_only_by_hand|-DM_CLAIM_BESIDE_DOUBT -DONLY_THE_WORK|a second attempt starts beside a doubt, and nobody minds
work_done_twice_only_by_hand|-DM_ANY_SENDINGS_FAILURE -DFAULTS=1 -DOPS=0 -DONLY_THE_WORK|the first sender's failure counts, and nobody minds
work_done_twice_only_by_hand|-DM_NO_RESEND_LEASE -DFAULTS=1 -DOPS=0 -DONLY_THE_WORK|a request is sent again under no lease, and nobody minds
work_done_twice_only_by_hand|-DM_NO_HOLD -DRESENDS=2 -DFAULTS=0 -DOPS=0 -DONLY_THE_WORK|two send the same again, and nobody minds
TABLE

echo "1..$n"
exit "$failed"
