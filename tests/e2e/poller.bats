#!/usr/bin/env bats
# shellcheck disable=SC2034,SC2154,SC2155 # words and variables that stack.bash, front.bash and work.bash share
# The poller as a program: its options, its end, a database that goes and comes, leases that live as long as it does, and providers
# and owners that don't hold each other back.

load stack
load front
load work

setup_file() {
	export ONEJOB_GRACE_SECONDS=2 ONEJOB_POLL_MS=50
	local BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR

	stack_up --workers 4
	provider good /good
	# Longer than the lease; it is waited for later on.
	start slow delay=35000 '"timeout_ms":120000'
	SLOW=$job
	export SLOW
}

teardown_file() {
	shop /shop/reset -X POST || true
	stack_down
}

POLLER() { "$ONEJOB_BUILD/onejob-poller" "$@"; }

@test "--help and --version say so on stdout; what isn't an option is refused with 2" {
	run --separate-stderr POLLER --help
	is status "$status" 0
	has help '^usage: onejob-poller' "$output"
	has help 'ONEJOB_GRACE_SECONDS' "$output"
	is 'on stderr' "$stderr" ''
	run --separate-stderr POLLER --version
	has version '^0 onejob-poller [0-9]' "$status $output"
	local words
	for words in --nonsense '--for' '--for 0' '--for 86401' '--for 1s' '--for -1' 'now' '--once --for 5' '--once=yes'; do
		# shellcheck disable=SC2086 # a word each
		run --separate-stderr POLLER $words
		is "status of $words" "$status" 2
		is "on stdout of $words" "$output" ''
		has "what is told of $words" '^usage: onejob-poller' "$stderr"
	done
}

@test "a setting that can't be is refused by its name" {
	run --separate-stderr env ONEJOB_LEASE_SECONDS=5 "$ONEJOB_BUILD/onejob-poller" --once
	is status "$status" 1
	has 'what is told' ONEJOB_LEASE_SECONDS "$stderr"
}

@test "more in flight than descriptors is refused, with both numbers" {
	run --separate-stderr bash -c 'ulimit -n 256 && ONEJOB_IN_FLIGHT=1000 exec "$ONEJOB_BUILD/onejob-poller" --once'
	is status "$status" 1
	has 'what is told' 'ONEJOB_IN_FLIGHT=1000.*1064.*256' "$stderr"
}

@test "--once runs what is due and leaves" {
	# The stack's poller is frozen, so that it is this one that works; its lease lasts for much longer.
	local main
	main=$(cat "$STACK/poller-1.pid")
	kill -STOP "$main"
	provider once /once/delay=300 '"max_in_flight":2'
	FLOOD_MEMBERS='' flood "$BATS_TEST_TMPDIR/once" 1 7 once
	create once-later "{\"provider\":\"once\",\"input\":1,\"not_before\":\"$(in_ms 60000)\"}"
	local later
	later=$(field .id)
	run --separate-stderr timeout 20 "$ONEJOB_BUILD/onejob-poller" --once
	kill -CONT "$main"
	is 'status' "$status" 0
	is 'succeeded' "$(sql -e "SELECT COUNT(*) FROM jobs WHERE provider = 'once' AND state = 'succeeded'")" 7
	within peak "$(counts once peak)" 1 2
	is 'the one that is not due' "$(sql -e "SELECT state FROM jobs WHERE id = x'${later//-/}'")" queued
	is 'its own log' "$(grep -c 'provider=once.*verdict=settled' <<<"$stderr")" 7
}

@test "--once with nothing to do leaves at once" {
	run --separate-stderr timeout 10 "$ONEJOB_BUILD/onejob-poller" --once
	is 'status' "$status" 0
	has 'its log' poller.end "$stderr"
}

@test "--for claims for so long, finishes what is on its way, and leaves" {
	local began=$EPOCHSECONDS main
	main=$(cat "$STACK/poller-1.pid")
	own_poller poller-for -- --for 2
	wait_for 10 registered "$poller"
	kill -STOP "$main"
	start for-finishes delay=3500
	local first=$job
	shop '/shop/wait?printer=for-finishes&requests=1' -f -o /dev/null
	wait_for 10 eval '[ $EPOCHSECONDS -gt $((began + 3)) ]'
	create for-late '{"provider":"good","input":1}'
	local late
	late=$(field .id)
	ended "$poller" 15
	is 'status' $code 0
	look "$late"
	is 'what came after' "$(field .state)" queued
	job_is "$first" succeeded
	kill -CONT "$main"
	wait_job "$late" succeeded
	within 'seconds' $((EPOCHSECONDS - began)) 3 20
}

@test "a second SIGTERM doesn't wait for the grace" {
	local main
	main=$(cat "$STACK/poller-1.pid")
	own_poller poller-twice ONEJOB_GRACE_SECONDS=3600
	wait_for 10 registered "$poller"
	kill -STOP "$main"
	start twice stall
	shop '/shop/wait?printer=twice&requests=1' -f -o /dev/null
	kill -CONT "$main"
	kill -TERM "$poller"
	wait_for 5 eval 'poller_log poller-twice | grep -q poller.stop'
	registered "$poller"
	kill -TERM "$poller"
	ended "$poller" 5
	is 'status' $code 0
	settles "$job" unknown 'unknown sent shutdown null'
}

@test "two that stall at one provider don't hold back another provider, nor the owner another" {
	provider full /full/stall '"max_in_flight":3'
	FLOOD_MEMBERS='' flood "$BATS_TEST_TMPDIR/full" 1 30 full
	wait_for 10 eval '[ "$(counts full open)" = 3 ]'
	start beside ''
	wait_job "$job" succeeded 5
	is 'open at the full one' "$(counts full open)" 3
	# As many as may be at once, and as each ends, another.
	shop '/shop/mode?printer=full&mode=delay=5' -X PUT -o /dev/null
	shop '/shop/release?printer=full' -X POST -o /dev/null
	wait_for 10 eval '[ "$(counts full open)" = 3 ] && [ "$(counts full requests)" = 6 ]'
	is peak "$(counts full peak)" 3
	operator GET /v1/providers/full
	provider full /full '"max_in_flight":3,"enabled":false'
	shop '/shop/release?printer=full' -X POST -o /dev/null
}

@test "a provider that takes few at once gets the next as soon as one ends, not at the next look" {
	local main
	main=$(cat "$STACK/poller-1.pid")
	kill -STOP "$main"
	# A look every five seconds for two of them would take a minute and a half.
	own_poller poller-lazy ONEJOB_POLL_MS=5000
	provider quick /quick '"max_in_flight":2,"enabled":false'
	flood "$BATS_TEST_TMPDIR/quick" 1 40 quick
	provider quick /quick '"max_in_flight":2'
	wait_for 20 eval '[ "$(sql -e "SELECT COUNT(*) FROM jobs WHERE provider = '"'quick'"' AND state = '"'succeeded'"'")" = 40 ]'
	kill -CONT "$main"
	kill -TERM "$poller"
	ended "$poller" 10
	within peak "$(counts quick peak)" 1 2
}

@test "a result that the database can't take fails its attempt and holds up nothing" {
	local packet
	packet=$(sql -e 'SELECT @@max_allowed_packet')
	start monster "big=$((packet + 1000000))" '"max_result_bytes":67108864,"timeout_ms":20000'
	local monster=$job
	shop '/shop/wait?printer=monster&requests=1' -f -o /dev/null
	start not-a-monster ''
	wait_job "$job" succeeded 10
	settles "$monster" failed 'failed answer_begun too_large 200'
	is 'wire requests' "$(wire monster)" 1
}

@test "an attempt that takes longer than the lease is its poller's for as long as that lives" {
	settles "$SLOW" succeeded 'succeeded answer_begun null 200' 120
	within 'seconds' "$(sql -e "SELECT TIMESTAMPDIFF(SECOND, started_at, finished_at) FROM attempts WHERE job_id = x'${SLOW//-/}'")" 34 120
	# Claimed and completed: had it been called unknown in between, that would be one more.
	is 'changes' "$(sql -e "SELECT revision FROM jobs WHERE id = x'${SLOW//-/}'")" 2
	is 'wire requests' "$(wire slow)" 1
}

@test "the database goes in the middle and comes back: what came meanwhile lands, and nothing is sent twice" {
	start outage stall '"timeout_ms":60000'
	shop '/shop/wait?printer=outage&requests=1' -f -o /dev/null
	kill -9 "$(cat "$STACK/mariadbd.pid")"
	shop '/shop/release?printer=outage' -X POST -o /dev/null
	shop '/shop/wait?printer=outage&open=0' -f -o /dev/null
	wait_for 10 eval 'poller_log poller-1 | grep -q database.trouble'
	local main
	main=$(cat "$STACK/poller-1.pid")
	stack_start
	is 'the same poller' "$(cat "$STACK/poller-1.pid")" "$main"
	settles "$job" succeeded 'succeeded answer_begun null 200'
	is 'wire requests' "$(wire outage)" 1
	start after-outage ''
	wait_job "$job" succeeded
}

@test "a poller that finds no database waits for it; told to stop, it goes" {
	kill -9 "$(cat "$STACK/mariadbd.pid")"
	own_poller poller-early
	wait_for 10 eval 'poller_log poller-early | grep -q database.trouble'
	own_poller poller-gives-up
	local gives_up=$poller early
	early=$(cat "$STACK/poller-early.pid")
	wait_for 10 eval 'poller_log poller-gives-up | grep -q database.trouble'
	kill -TERM "$gives_up"
	ended "$gives_up" 10
	stack_start
	wait_for 10 registered "$early"
	kill -TERM "$early"
	ended "$early" 10
	is 'status' $code 0
}

@test "told to stop with an answer in hand and no database, it tries for a while and goes; the lease tells the rest" {
	local main
	main=$(cat "$STACK/poller-1.pid")
	own_poller poller-in-hand ONEJOB_GRACE_SECONDS=1
	wait_for 10 registered "$poller"
	kill -STOP "$main"
	start in-hand stall
	shop '/shop/wait?printer=in-hand&requests=1' -f -o /dev/null
	kill -9 "$(cat "$STACK/mariadbd.pid")"
	shop '/shop/release?printer=in-hand' -X POST -o /dev/null
	shop '/shop/wait?printer=in-hand&open=0' -f -o /dev/null
	wait_for 10 eval 'poller_log poller-in-hand | grep -q database.trouble'
	kill -TERM "$poller"
	wait_for 10 eval 'poller_log poller-in-hand | grep -q "poller.stop.*again=0"'	# two that wait are one
	kill -TERM "$poller"
	ended "$poller" 10
	has 'its log' poller.unsettled "$(poller_log poller-in-hand)"
	kill -CONT "$main"
	stack_start
	look "$job"
	is 'wire requests' "$(wire in-hand)" 1
	is state "$(field .state)" running
}

@test "over all of this file no attempt has made more than one request" {
	within 'keys met' "$(wire_by_key | wc -l)" 40 20000
	sent_at_most_once
}
