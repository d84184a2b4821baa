#!/usr/bin/env bats
# shellcheck disable=SC2034,SC2154,SC2155 # words and variables that stack.bash, front.bash and work.bash share
# Every process killed with -9 in the middle of load. Nothing acknowledged is lost, nothing is sent twice, and only what was on the
# wire of a killed poller is in doubt afterwards.

load stack
load front
load work

JOBS=160	# of each part that is killed
PARTS=(poller worker api mariadbd nginx)

setup_file() {
	export ONEJOB_GRACE_SECONDS=1 ONEJOB_POLL_MS=20 ONEJOB_IN_FLIGHT=2000
	local BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR part

	stack_up --workers 4
	ACKS=$BATS_FILE_TMPDIR/acks
	export ACKS
	for part in "${PARTS[@]}"; do
		provider "$part" "/$part/delay=150" '"max_in_flight":20'
		kill_amid_load "$part"
	done
}

teardown_file() { stack_down; }

# kill_amid_load PART: a part of its jobs has come to the shop, and they go on coming.
kill_amid_load() {
	flood "$ACKS/$1" 1 "$JOBS" "$1" &
	local load=$!

	shop "/shop/wait?printer=$1&requests=5&timeout_ms=30000" -f -o /dev/null
	victims "$1" >"$ACKS/$1.victims"
	xargs kill -9 <"$ACKS/$1.victims" 2>/dev/null || true	# some go with their parent before their turn
	stack_start
	wait $load
	# What a client does whose answer didn't come: the same again.
	flood "$ACKS/$1-again" 1 "$JOBS" "$1"
}

victims() {
	case $1 in
	poller) cat "$STACK/poller-1.pid" ;;
	worker) api_processes | grep -v "^$(cat "$STACK/api.pid")$" | tail -1 ;;
	api) api_processes ;;
	mariadbd | nginx) processes_of "$1" ;;
	esac
}

# All that write to a part's log: the main process and what it has forked.
processes_of() {
	find /proc/[0-9]*/fd/2 -maxdepth 0 -lname "$STACK/log/$1.log*" 2>/dev/null | cut -d/ -f3
}

api_processes() { processes_of api; }

rows() { sql -e "SELECT COUNT(*) FROM jobs WHERE $1"; }

# acknowledged FOLDER: "KEY ID" of every answer that said yes.
acknowledged() {
	(cd "$1" && awk '$2 == 200 || $2 == 201 { print $1 }' codes | xargs cat) | jq -r '"\(.idempotency_key) \(.id)"' | sort
}

open_jobs() { rows "provider = '$1' AND state IN ('queued','running')"; }
all_settled() { [ "$(open_jobs "$1")" = 0 ]; }

@test "kill: each part was killed under load" {
	local part
	for part in "${PARTS[@]}"; do
		within "victims of $part" "$(grep -c . "$ACKS/$part.victims")" 1 20
		is "answers for $part" "$(grep -c . "$ACKS/$part/codes")" "$JOBS"
	done
}

@test "kill: every key that was acknowledged has its job, under the id that was told" {
	local part
	for part in "${PARTS[@]}"; do
		sql -e "SELECT idempotency_key, id_text FROM (SELECT CONVERT(idempotency_key USING utf8mb4) AS idempotency_key,
			LOWER(CONCAT_WS('-', SUBSTR(HEX(id), 1, 8), SUBSTR(HEX(id), 9, 4), SUBSTR(HEX(id), 13, 4), SUBSTR(HEX(id), 17, 4),
			SUBSTR(HEX(id), 21))) AS id_text FROM jobs WHERE provider = '$part') j" | tr '\t' ' ' | sort >"$BATS_TEST_TMPDIR/rows"
		acknowledged "$ACKS/$part" >"$BATS_TEST_TMPDIR/acked"
		within "acknowledged at first for $part" "$(wc -l <"$BATS_TEST_TMPDIR/acked")" 20 "$JOBS"
		is "acknowledged for $part, and not there so" "$(comm -23 "$BATS_TEST_TMPDIR/acked" "$BATS_TEST_TMPDIR/rows")" ''
		acknowledged "$ACKS/$part-again" >"$BATS_TEST_TMPDIR/again"
		is "after a repeat, jobs of $part" "$(diff "$BATS_TEST_TMPDIR/again" "$BATS_TEST_TMPDIR/rows")" ''
		is "jobs of $part" "$(wc -l <"$BATS_TEST_TMPDIR/rows")" "$JOBS"
		is "keys of $part" "$(cut -d' ' -f1 <"$BATS_TEST_TMPDIR/rows" | sort -u | wc -l)" "$JOBS"
	done
}

@test "kill: what was refused was refused as unavailable, never otherwise" {
	local part
	for part in "${PARTS[@]}"; do
		is "codes for $part" "$(cut -d' ' -f2 "$ACKS/$part/codes" | sort -u | grep -vxE '200|201|503|502|504|000' | xargs)" ''
		is "codes for $part, again" "$(cut -d' ' -f2 "$ACKS/$part-again/codes" | sort -u | grep -vxE '200|201' | xargs)" ''
	done
	is 'codes while a poller was killed' "$(cut -d' ' -f2 "$ACKS/poller/codes" | sort -u | xargs)" 201
}

@test "kill: every job ends, in success or, where a poller was killed, in doubt" {
	local part
	for part in "${PARTS[@]}"; do
		wait_for 75 all_settled "$part" || { rows "provider = '$part' AND state = 'queued'"; return 1; }
		[ "$part" = poller ] && continue
		is "not succeeded, of $part" "$(rows "provider = '$part' AND state <> 'succeeded'")" 0
	done
	is 'neither succeeded nor unknown' "$(rows "provider = 'poller' AND state NOT IN ('succeeded','unknown')")" 0
	within 'in doubt' "$(rows "provider = 'poller' AND state = 'unknown'")" 1 20
	is 'in doubt otherwise than by the lost poller' "$(sql -e "SELECT COUNT(*) FROM attempts WHERE state = 'unknown' AND reason <> 'poller_lost'")" 0
}

@test "kill: nothing was sent twice" {
	local part
	within 'keys met' "$(wire_by_key | wc -l)" $((JOBS * 4)) $((JOBS * 5))
	sent_at_most_once
	is 'keys met twice' "$(wire_by_key | awk '$2 > 1' | xargs)" ''
	for part in "${PARTS[@]}"; do
		within "sheets of $part" "$(counts "$part" sheets)" 1 "$JOBS"
	done
}

@test "kill: no job has two results, or a result that isn't its winner's" {
	is 'jobs with two attempts that succeeded' "$(sql -e "SELECT COUNT(*) FROM (SELECT job_id FROM attempts WHERE state = 'succeeded' GROUP BY job_id HAVING COUNT(*) > 1) x")" 0
	is 'successes without a winner' "$(sql -e "SELECT COUNT(*) FROM jobs j LEFT JOIN attempts a ON a.id = j.completed_by AND a.job_id = j.id AND a.state = 'succeeded' WHERE j.state = 'succeeded' AND a.id IS NULL")" 0
	is 'results for another key' "$(sql -e "SELECT COUNT(*) FROM jobs WHERE state = 'succeeded' AND JSON_VALUE(result, '\$.key') <> LOWER(CONCAT_WS('-', SUBSTR(HEX(id), 1, 8), SUBSTR(HEX(id), 9, 4), SUBSTR(HEX(id), 13, 4), SUBSTR(HEX(id), 17, 4), SUBSTR(HEX(id), 21), '0'))")" 0
}

@test "two pollers at once send each of 2,000 jobs exactly once" {
	own_poller poller-second
	wait_for 10 registered "$poller"
	provider both /both '"max_in_flight":500,"enabled":false'
	flood "$ACKS/both" 1 2000 both
	is created "$(rows "provider = 'both'")" 2000
	provider both /both '"max_in_flight":500'
	wait_for 60 all_settled both
	kill "$poller"
	ended "$poller" 10
	is succeeded "$(rows "provider = 'both' AND state = 'succeeded'")" 2000
	is 'wire requests' "$(wire both)" 2000
	is keys "$(counts both distinct_keys)" 2000
	is 'pollers that took part' "$(for log in poller-1 poller-second; do poller_log $log | grep -c 'provider=both' ; done | grep -vc '^0$')" 2
}

@test "one poller has a thousand requests in flight" {
	provider wide /wide/stall '"max_in_flight":2000,"timeout_ms":60000,"enabled":false'
	flood "$ACKS/wide" 1 1000 wide
	is created "$(rows "provider = 'wide'")" 1000
	provider wide /wide/stall '"max_in_flight":2000,"timeout_ms":60000'
	wait_for 30 eval '[ "$(counts wide open)" -ge 1000 ]'
	shop '/shop/release?printer=wide' -X POST -o /dev/null
	wait_for 30 all_settled wide
	is succeeded "$(rows "provider = 'wide' AND state = 'succeeded'")" 1000
	is peak "$(counts wide peak)" 1000
	is 'wire requests' "$(wire wide)" 1000
}
