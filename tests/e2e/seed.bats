#!/usr/bin/env bats
# shellcheck disable=SC2154 # body, status and headers are set by the words of stack.bash
# The seed contract, word for word, with real processes on both sides of nginx.

load stack
load front

LATE=late-sheet-5f3a9c17

setup_file() {
	export ONEJOB_GRACE_SECONDS=1 ONEJOB_POLL_MS=50
	stack_up --workers 8 --pollers 2
	provider tick /tick
	provider once /once/echo
	provider laser /laser
	provider slow /slow/stall '"timeout_ms":400,"retry":{"base_ms":1,"max_ms":1}'
	provider late /late '"timeout_ms":300000'
	mode late "stall,body=%22$LATE%22"	# not in the provider's URL, which the database has
	freeze
}

# A lease lasts half a minute at least, so what needs one to run out begins before everything else: a poller is frozen
# while its request is at the provider.
freeze() {
	local BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR i

	create frozen '{"provider":"late","input":"a sheet"}'
	FROZEN_JOB=$(field .id)
	shop '/shop/wait?printer=late&requests=1&timeout_ms=20000' -f -o /dev/null
	FROZEN=$(sql -e "SELECT p.pid FROM attempts a JOIN pollers p ON p.id = a.claimed_by WHERE a.job_id = x'${FROZEN_JOB//-/}'")
	kill -STOP "$FROZEN"
	for i in 1 2; do
		[ "$(cat "$STACK/poller-$i.pid")" = "$FROZEN" ] || AWAKE=poller-$i
	done
	export FROZEN_JOB FROZEN AWAKE
}

teardown_file() {
	kill -CONT "$FROZEN" || true
	shop /shop/reset -X POST || true
	stack_down
}

# doubt KEY: a job of `slow` whose time-out has passed; $job, $attempt.
doubt() {
	create "$1" '{"provider":"slow","input":"a sheet"}'
	is created "$status" 201
	job=$(field .id)
	wait_job "$job" unknown
	attempt=$(field '.attempts[0].id')
}

settle() { operator POST "/v1/attempts/$1/settle" -d "$2"; }

races_of() { operator GET '/v1/races?limit=200'; jq -c --arg id "$1" '.races[] | select(.job_id == $id)' <<<"$body"; }

clicks() { # N
	burst "$BATS_TEST_TMPDIR/clicks" "$1" "click-$1" '{"provider":"once","input":{"sheet":"boarding pass"}}'
	one_job "$BATS_TEST_TMPDIR/clicks" "$1"
	is 'rows of the key' "$(sql -e "SELECT COUNT(*) FROM jobs WHERE owner = 'demo' AND idempotency_key = 'click-$1'")" 1
	wait_job "$job" succeeded
	tick 2
	is 'requests at the provider' "$(sent "$job")" 1
	is 'attempts' "$(sql -e "SELECT COUNT(*) FROM attempts WHERE job_id = x'${job//-/}'")" 1
}

@test "1 two simultaneous POSTs of one key: one id, one request at the provider" {
	clicks 2
}

@test "1 fifty simultaneous POSTs of one key: one id, one request at the provider" {
	clicks 50
}

@test "2 the same key with another intent: 409, and nothing has changed" {
	local before row

	create mismatch '{"provider":"once","input":{"sheet":1},"metadata":{"a":"b"}}'
	is created "$status" 201
	job=$(field .id)
	wait_job "$job" succeeded
	before=$(rows_of "$job") jobs=$(sql -e 'SELECT COUNT(*) FROM jobs')
	while IFS='|' read -r row; do
		create mismatch "$row"
		refused 409 idempotency-key-reused
		is "job_id for $row" "$(field .job_id)" "$job"
		no grep -q '"input"\|"result"\|"sheet"' <<<"$body"
	done <<-'ROWS'
		{"provider":"once","input":{"sheet":2},"metadata":{"a":"b"}}
		{"provider":"laser","input":{"sheet":1},"metadata":{"a":"b"}}
		{"provider":"once","input":{"sheet":1},"metadata":{"a":"c"}}
		{"provider":"once","input":{"sheet":1}}
		{"provider":"once","input":{"sheet":1},"metadata":{"a":"b"},"max_attempts":4}
		{"provider":"once","input":{"sheet":1},"metadata":{"a":"b"},"not_before":"2001-01-01T00:00:00Z"}
		{"provider":"once","input":{"sheet":1,"more":null},"metadata":{"a":"b"}}
	ROWS
	is 'the rows' "$(rows_of "$job")" "$before"
	is 'the number of jobs' "$(sql -e 'SELECT COUNT(*) FROM jobs')" "$jobs"
	is 'requests at the provider' "$(sent "$job")" 1
	create mismatch '{"metadata":{"\u0061":"b"}, "input":{"sheet":1.0}, "provider":"once", "max_attempts":3}'
	is 'an equal intent' "$status $(field .id)" "200 $job"
}

# refuse_all JOB: every way to ask for another attempt.
refuse_all() {
	local etag key

	api POST "/v1/jobs/$1/attempts" -d '{}'
	refused 409 attempt-in-doubt
	is 'the attempt in the way' "$(field .attempt.id)" "$attempt"
	api POST "/v1/jobs/$1/attempts" -d '{"provider":"laser"}'
	refused 409 attempt-in-doubt
	operator POST "/v1/jobs/$1/attempts" -d '{"provider":"laser"}'
	refused 409 attempt-in-doubt
	api GET "/v1/jobs/$1"
	etag=$(header ETag) key=$(field .idempotency_key)
	api POST "/v1/jobs/$1/attempts" -d '{"provider":"laser"}' -H "If-Match: $etag"
	refused 409 attempt-in-doubt
	create "$key" '{"provider":"slow","input":"a sheet"}'
	is 'the create again' "$status $(field .id) $(field .state)" "200 $1 unknown"
	create "$key" '{"provider":"laser","input":"a sheet"}'
	refused 409 idempotency-key-reused
}

@test "3 after a time-out the job is unknown, not failed, and no way leads to another attempt" {
	local before again pid

	doubt time-out
	is 'the attempt' "$(field '.attempts[0] | "\(.state) \(.reason) \(.phase) \(.finished_at)"')" 'unknown timeout sent null'
	is 'the job' "$(field '"\(.error) \(.in_doubt) \(.advice) \(.version) \(.completed_by)"')" 'null true ask_operator 0 null'
	before=$(rows_of "$job")
	refuse_all "$job"
	tick 4
	is 'requests after several looks at the queue' "$(sent "$job")" 1
	timeout 30 onejob-poller --once 3>&-
	is 'requests after another poller' "$(sent "$job")" 1
	kill -9 "$(cat "$STACK/$AWAKE.pid")"
	again=$(cat "$STACK/$AWAKE.pid")
	stack_start
	pid=$(cat "$STACK/$AWAKE.pid")
	[ "$pid" != "$again" ]
	tick 2
	refuse_all "$job"
	is 'requests after a restart' "$(sent "$job")" 1
	is 'the rows' "$(rows_of "$job")" "$before"
}

@test "3 settled as succeeded: that result is the job's, and nothing more is sent" {
	doubt settle-succeeded
	settle "$attempt" '{"outcome":"succeeded","result":{"sheet":12345678901234567890.10},"note":"it lay in the tray"}'
	is settled "$status $(field .state) $(field .completed_by)" "200 succeeded $attempt"
	grep -qF '"result":{"sheet":12345678901234567890.10}' <<<"$body"
	api POST "/v1/jobs/$job/attempts" -d '{}'
	refused 409 job-settled
	tick 2
	is 'requests' "$(sent "$job")" 1
}

@test "3 settled as failed: only now does another attempt start" {
	doubt settle-failed
	settle "$attempt" '{"outcome":"failed","error":"out of paper","provider":"laser"}'
	is settled "$status $(field .state)" '200 queued'
	wait_job "$job" succeeded
	is 'the attempts' "$(field '[.attempts[] | "\(.provider) \(.state)"] | join(", ")')" 'slow failed, laser succeeded'
	is 'requests' "$(sent "$job")" 2
}

@test "3 settled as cancelled: only now does another attempt start" {
	doubt settle-cancelled
	settle "$attempt" '{"outcome":"cancelled"}'
	is settled "$status" 200
	wait_job "$job" unknown	# by itself it goes to the same provider
	is 'the attempts' "$(field '[.attempts[] | "\(.provider) \(.state)"] | join(", ")')" 'slow cancelled, slow unknown'
	is 'requests' "$(sent "$job")" 2
}

@test "3 settled as released: only now does another attempt start, and both may win" {
	doubt settle-released
	settle "$attempt" '{"outcome":"released","provider":"slow"}'
	is settled "$status $(field .state)" '200 queued'
	wait_job "$job" unknown
	is 'the attempts' "$(field '[.attempts[] | "\(.provider) \(.state)"] | join(", ")')" 'slow released, slow unknown'
	attempt=$(field '.attempts[1].id')
	refuse_all "$job"
	settle "$(field_of_first "$job")" '{"outcome":"succeeded","result":"the first, after all"}'
	is 'the first wins' "$status $(field .state) $(field .result)" '200 succeeded the first, after all'
	is 'requests' "$(sent "$job")" 2
}

field_of_first() { operator GET "/v1/jobs/$1"; field '.attempts[0].id'; }

@test "3 the job of a doubt that is cancelled sends nothing more" {
	doubt job-cancelled
	api POST "/v1/jobs/$job/cancel"
	is cancelled "$status $(field .state) $(field .in_doubt)" '200 cancelled true'
	api POST "/v1/jobs/$job/attempts" -d '{"provider":"laser"}'
	refused 409 job-settled
	tick 2
	is 'requests' "$(sent "$job")" 1
}

# loses ATTEMPT PAYLOAD WINNER: the race is on record with no more than digest and size, and the payload is nowhere.
loses() {
	local race

	race=$(races_of "$job")
	is 'races' "$(grep -c . <<<"$race")" 1
	is 'the race' "$(jq -r '"\(.attempt_id) \(.winner) \(.why) \(.bytes)"' <<<"$race")" "$1 $3 lost_swap ${#2}"
	is 'its digest' "$(jq -r .sha256 <<<"$race")" "$(printf %s "$2" | sha256sum | cut -d ' ' -f 1)"
	races_are_counted
}

@test "4 by an operator's word: the second to return loses, though it was the primary" {
	local before payload='"primary-late-77b0e1"' winner

	doubt reverse-hand
	settle "$attempt" '{"outcome":"released","provider":"laser"}'
	wait_job "$job" succeeded
	winner=$(field '.attempts[1].id')
	is 'the winner' "$(field .completed_by)" "$winner"
	before=$(rows_of_job "$job")
	settle "$attempt" "{\"outcome\":\"succeeded\",\"result\":$payload}"
	refused 409 attempt-lost
	is 'the row of the job' "$(rows_of_job "$job")" "$before"
	loses "$attempt" "$payload" "$winner"
	operator GET "/v1/jobs/$job"
	is 'the attempts' "$(field '[.attempts[] | "\(.provider) \(.state)"] | join(", ")')" 'slow discarded, laser succeeded'
	nowhere primary-late-77b0e1
}

@test "4 by an operator's word: the second to return loses, being the fallback" {
	local before payload='{"from":"fallback-late-31cc09"}'

	doubt forward-hand
	settle "$attempt" '{"outcome":"released","provider":"slow"}'
	wait_job "$job" unknown
	second=$(field '.attempts[1].id')
	settle "$attempt" '{"outcome":"succeeded","result":"the primary was first"}'
	is 'the primary wins' "$status $(field .completed_by)" "200 $attempt"
	before=$(rows_of_job "$job")
	settle "$second" "{\"outcome\":\"succeeded\",\"result\":$payload}"
	refused 409 attempt-lost
	is 'the row of the job' "$(rows_of_job "$job")" "$before"
	loses "$second" "$payload" "$attempt"
	grep -qF "the primary was first" <(dump onejob)	# what is looked for below would be found
	nowhere fallback-late-31cc09
}

@test "4 F02 a frozen poller's lease runs out; what it brings after the thaw has lost and is thrown away" {
	local before winner

	job=$FROZEN_JOB
	wait_job "$job" unknown 60
	is 'the attempt' "$(field '[.attempts[] | "\(.provider) \(.state) \(.reason) \(.phase)"] | join(", ")')" \
		'late unknown poller_lost null'
	attempt=$(field '.attempts[0].id')
	tick 2
	is 'requests while frozen' "$(sent "$job")" 1
	settle "$attempt" '{"outcome":"released","provider":"laser"}'
	is 'released' "$status" 200
	wait_job "$job" succeeded
	winner=$(field '.attempts[1].id')
	is 'the winner' "$(field .completed_by)" "$winner"
	before=$(rows_of_job "$job")
	shop '/shop/release?printer=late' -X POST -f -o /dev/null	# it waits in the socket
	kill -CONT "$FROZEN"
	wait_for 30 is_discarded "$job"
	is 'the row of the job' "$(rows_of_job "$job")" "$before"
	loses "$attempt" "\"$LATE\"" "$winner"
	is 'requests' "$(sent "$job")" 2
	is 'the shop sent it' "$(counts late sheets)" 1
	nowhere "$LATE"
}

is_discarded() {
	operator GET "/v1/jobs/$1"
	[ "$(field '.attempts[0].state')" = discarded ]
}
