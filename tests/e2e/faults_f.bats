#!/usr/bin/env bats
# shellcheck disable=SC2034,SC2154,SC2155 # words and variables that stack.bash, front.bash and work.bash share
# Queue and operations: pollers that die, freeze, disagree about the time or are told to stop; a queue that one owner floods.

load stack
load front
load work

FAKETIME=/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1

setup_file() {
	export ONEJOB_GRACE_SECONDS=2 ONEJOB_POLL_MS=50
	local BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR

	stack_up --workers 4
	provider good /good
	lose_pollers
}

# Half a minute goes by until a lease is over, so all that needs it begins here: poller-1 is killed with a request on the wire,
# and the next one is frozen with three. Two pollers whose clocks are ten minutes wrong watch them.
lose_pollers() {
	provider killed /killed/stall '"timeout_ms":900000'
	provider frozen /frozen/stall '"timeout_ms":900000'
	provider rival /rival
	frozen_contract
	begun killed killed
	KILLED=$job
	kill -9 "$(cat "$STACK/poller-1.pid")"
	own_poller poller-frozen
	FROZEN=$poller
	wait_for 10 registered "$FROZEN"
	begun frozen frozen-lands
	LANDS=$job
	begun frozen frozen-fenced
	FENCED=$job
	begun frozen frozen-cancelled
	CANCELLED=$job
	operator POST /v1/contracts/frozen/certify -d '{"side_effects":true,"routes":["nobody"]}'
	shop '/shop/wait?printer=words&requests=1&timeout_ms=20000' -f -o /dev/null
	watchers
	kill -STOP "$FROZEN"
	FROZEN_AT=$EPOCHSECONDS
	LEASE_UNTIL=$(sql -e "SELECT lease_until FROM pollers WHERE pid = $FROZEN")
	export LEASE_UNTIL KILLED FROZEN LANDS FENCED CANCELLED FROZEN_AT
}

# Its certification begins with a tokenizer that doesn't answer yet; the work itself finds nobody.
frozen_contract() {
	local words=$PRINTSHOP_URL/words

	printf '{"url":"http://127.0.0.1:1/","timeout_ms":900000}' | onejob provider put nobody - >/dev/null
	operator PUT /v1/contracts/frozen -d '{"fixtures":[{"name":"f","input":{"text":"pay zoe"},"checks":[{"pointer":"","equals":1}]}],"certify":{"rounds":1},"routes":[{"provider":"nobody",
		"tokenizer":{"url":"'$words/stall/chat=tokenize'","request":{"content":"Say: {{/text}}"},"tokens":"/tokens","detokenize_url":"'$words/chat=detokenize'","limit":100}}]}'
	is contract "$status" 201
}

# begun PROVIDER KEY: a job whose request is at the shop; $job.
begun() {
	local n

	n=$(($(wire "$1") + 1))
	create "$2" "{\"provider\":\"$1\",\"input\":1}"
	is created "$status" 201
	job=$(field .id)
	shop "/shop/wait?printer=$1&requests=$n&timeout_ms=20000" -f -o /dev/null
}

watchers() {
	own_poller poller-plain
	WATCHERS=$poller
	wait_for 10 registered "$poller"
	if [ -e "$FAKETIME" ]; then
		wrong_clock poller-ahead +600
		WATCHERS+=" $poller"
		wrong_clock poller-behind -600
		WATCHERS+=" $poller"
	fi
	export WATCHERS
}

wrong_clock() { # NAME SECONDS: only the wall clock; a monotonic clock is nobody's to set
	own_poller "$1" LD_PRELOAD="$FAKETIME" FAKETIME="${2}s" FAKETIME_DONT_FAKE_MONOTONIC=1 FAKETIME_FORCE_MONOTONIC_FIX=0
	wait_for 10 registered "$poller"
}

teardown_file() {
	kill -9 $FROZEN 2>/dev/null || true
	no_own_pollers
	shop /shop/reset -X POST || true
	stack_down
}

# Whoever still polls is killed, the stack's own included.
no_own_pollers() {
	local pid

	for pid in "$STACK"/poller-*.pid; do
		kill -9 "$(cat "$pid")" 2>/dev/null || true
	done
}

@test "f07 while a request is on the wire no transaction is open, and reading and cancelling answer at once" {
	provider long /long/stall '"timeout_ms":60000'
	begun long long-read
	is 'transactions older than a second' "$(sql -e "SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_started < NOW() - INTERVAL 1 SECOND")" 0
	sql -e "BEGIN; SELECT id FROM jobs WHERE id = x'${job//-/}' FOR UPDATE NOWAIT; SELECT id FROM attempts WHERE job_id = x'${job//-/}' FOR UPDATE NOWAIT; ROLLBACK" >/dev/null
	api GET "/v1/jobs/$job" --max-time 5
	is state "$(field .state)" running
	api POST "/v1/jobs/$job/cancel" --max-time 5
	is 'cancelled' "$status $(field .state)" '200 cancelled'
	is 'still on the wire' "$(counts long open)" 1
}

@test "f10 the late success of a cancelled job changes no row of it, and is told as a race" {
	local before
	provider late-success /late-success '"timeout_ms":60000'
	shop '/shop/mode?printer=late-success&mode=stall,body=%2522never-to-be-kept-77%2522' -X PUT -f -o /dev/null
	begun late-success f10-success
	api POST "/v1/jobs/$job/cancel"
	is cancelled "$status" 200
	before=$(rows_of_job "$job")
	shop '/shop/release?printer=late-success' -X POST -o /dev/null
	wait_for 10 eval '[ "$(sql -e "SELECT state FROM attempts WHERE job_id = x'"'${job//-/}'"'")" = discarded ]'
	is 'the job' "$(rows_of_job "$job")" "$before"
	is race "$(sql -e "SELECT why FROM races WHERE job_id = x'${job//-/}'")" job_cancelled
	nowhere never-to-be-kept-77
}

@test "f10 the late failure of a cancelled job changes no row of it, and is no race" {
	local before
	provider late-failure /late-failure/stall/status=429 '"timeout_ms":60000'
	begun late-failure f10-failure
	api POST "/v1/jobs/$job/cancel"
	is cancelled "$status" 200
	before=$(rows_of_job "$job")
	shop '/shop/release?printer=late-failure' -X POST -o /dev/null
	wait_for 10 eval '[ "$(sql -e "SELECT state FROM attempts WHERE job_id = x'"'${job//-/}'"'")" = failed ]'
	is 'the job' "$(rows_of_job "$job")" "$before"
	is races "$(sql -e "SELECT COUNT(*) FROM races WHERE job_id = x'${job//-/}'")" 0
	is 'wire requests' "$(wire late-failure)" 1
}

@test "f01 a killed poller's attempt becomes unknown when its lease is over, and is never sent again" {
	wait_for 45 job_is "$KILLED" unknown
	is 'last attempt' "$(attempt 1)" 'unknown null poller_lost null'
	wait_for 10 eval 'look "$KILLED"; [ "$(field .advice)" = ask_operator ]'	# once it is known that nobody can be asked
	blocked "$KILLED"
	is 'wire requests' "$(wire killed)" 1
	operator GET '/v1/attempts?state=unknown'
	has 'the list of the unknown' "$KILLED" "$body"
}

@test "f02 a frozen poller's attempts become unknown, and no one else sends them" {
	local id
	for id in "$LANDS" "$FENCED" "$CANCELLED"; do
		wait_for 45 job_is "$id" unknown
		is 'last attempt' "$(attempt 1)" 'unknown null poller_lost null'
	done
	within 'seconds since the freeze' $((EPOCHSECONDS - FROZEN_AT)) 15 600
	is 'wire requests' "$(wire frozen)" 3
}

@test "f03 pollers whose clocks are wrong left the lease alone until it was over by the database's" {
	[ -e "$FAKETIME" ] || skip 'faketime is not installed'
	is 'pollers on watch' "$(wc -w <<<"$WATCHERS")" 3
	local ahead
	ahead=$(date -u -d '+8 minutes' +%s)
	within 'the clock of one' "$(date -u -d "$(poller_log poller-ahead | sed -n 's/ .*poller.start.*//p')" +%s)" $((FROZEN_AT + 500)) $((ahead + 120))
	for id in "$LANDS" "$FENCED" "$CANCELLED"; do
		is 'called unknown after the lease was over' \
			"$(sql -e "SELECT updated_at > '$LEASE_UNTIL' AND updated_at < '$LEASE_UNTIL' + INTERVAL 60 SECOND FROM jobs WHERE id = x'${id//-/}'")" 1
	done
}

@test "f02 a run whose lease is over sends no further step" {
	# Another has begun it anew. Both tokenizers' answers come now, and only that one goes on.
	shop '/shop/wait?printer=words&requests=2&timeout_ms=20000' -f -o /dev/null
	shop '/shop/release?printer=words' -X POST -o /dev/null
	wait_for 15 eval '[ "$(sql -e "SELECT COUNT(*) FROM certificates")" = 1 ]'
	kill -CONT "$FROZEN"
	wait_for 15 eval 'poller_log poller-frozen | grep -q "certify.left.*contract=frozen"'
	kill -STOP "$FROZEN"
	is 'what the tokenizer was asked' "$(shop '/shop/requests?printer=words' | jq -c 'map(.path | split("=")[1])')" '["tokenize","tokenize","detokenize"]'
}

@test "f02 what a frozen poller brings when it wakes lands only where the attempt still holds its job" {
	# One job goes on by an operator's word, one is cancelled, one is left as it is.
	look "$FENCED"
	operator POST "/v1/attempts/$(field '.attempts[0].id')/settle" -d '{"outcome":"released","provider":"rival"}'
	is released "$status" 200
	wait_job "$FENCED" succeeded
	api POST "/v1/jobs/$CANCELLED/cancel"
	is cancelled "$status" 200
	shop '/shop/release?printer=frozen' -X POST -o /dev/null
	shop '/shop/wait?printer=frozen&open=0' -f -o /dev/null
	local fenced cancelled
	fenced=$(rows_of_job "$FENCED")
	cancelled=$(rows_of_job "$CANCELLED")
	kill -CONT "$FROZEN"
	settles "$LANDS" succeeded 'succeeded answer_begun null 200'
	wait_for 10 eval '[ "$(sql -e "SELECT COUNT(*) FROM attempts WHERE provider = '"'frozen'"' AND state = '"'discarded'"'")" = 2 ]'
	is 'the job that another attempt won' "$(rows_of_job "$FENCED")" "$fenced"
	is 'the cancelled job' "$(rows_of_job "$CANCELLED")" "$cancelled"
	is 'races' "$(sql -e "SELECT why FROM races WHERE job_id IN (x'${FENCED//-/}', x'${CANCELLED//-/}') ORDER BY why" | xargs)" 'job_cancelled lost_swap'
	is 'wire requests' "$(wire frozen) $(wire rival)" '3 1'
	has 'its log' 'poller.lease' "$(poller_log poller-frozen)"
}

@test "f02 a poller that woke takes a new id and goes on working" {
	kill -9 $WATCHERS
	create f02-after '{"provider":"good","input":1}'
	wait_job "$(field .id)" succeeded
	has 'its log' "job=$(field .id)" "$(poller_log poller-frozen)"
	kill -9 "$FROZEN"
}

# The same four jobs for a poller whose clock is wrong, and alone.
keeps_time() { # NAME OFFSET
	local not_before deadline

	no_own_pollers
	wrong_clock "$1" "$2"
	provider "$1" "/$1/stall" '"timeout_ms":30000'
	not_before=$(in_ms 4000)
	deadline=$not_before
	create "$1-deadline" "{\"provider\":\"$1\",\"input\":1,\"deadline_at\":\"$deadline\"}"
	local dead=$(field .id)
	create "$1-before" "{\"provider\":\"good\",\"input\":1,\"not_before\":\"$not_before\"}"
	local before=$(field .id)
	create "$1-expires" "{\"provider\":\"good\",\"input\":1,\"expires_at\":\"$(in_ms 300000)\"}"
	local expires=$(field .id)
	create "$1-expired" "{\"provider\":\"good\",\"input\":1,\"expires_at\":\"$(in_ms -1000)\"}"
	local expired=$(field .id)
	wait_job "$expires" succeeded
	[[ $(field '.attempts[0].started_at') > $(in_ms -10000) ]]
	[[ $(field '.attempts[0].started_at') < $(in_ms 0) ]]
	wait_job "$expired" failed
	is error "$(field .error.reason)" expired
	wait_job "$before" succeeded
	[[ $(field '.attempts[0].started_at') > $not_before ]]
	[[ $(field '.attempts[0].started_at') < $(in_ms 0) ]]
	settles "$dead" unknown 'unknown sent deadline null'
	[[ $(in_ms 0) > $deadline ]]
	kill -TERM "$poller"
	ended "$poller" 10
	is 'exit status' $code 0
}

@test "f03 claims, not_before, expires_at and deadline_at are the same with a clock ten minutes ahead" {
	[ -e "$FAKETIME" ] || skip 'faketime is not installed'
	keeps_time clock-ahead +600
}

@test "f03 claims, not_before, expires_at and deadline_at are the same with a clock ten minutes behind" {
	[ -e "$FAKETIME" ] || skip 'faketime is not installed'
	keeps_time clock-behind -600
}

@test "f08 SIGTERM: no new claims; an answer inside the grace lands, one after it leaves the attempt unknown" {
	provider inside /inside/stall '"timeout_ms":60000'
	provider after /after/stall '"timeout_ms":60000'
	no_own_pollers
	own_poller poller-term ONEJOB_GRACE_SECONDS=6
	begun inside f08-inside
	local inside=$job
	begun after f08-after
	local after=$job
	kill -TERM "$poller"
	wait_for 5 eval 'poller_log poller-term | grep -q poller.stop'
	create f08-new '{"provider":"good","input":1}'
	local new
	new=$(field .id)
	shop '/shop/release?printer=inside' -X POST -o /dev/null
	settles "$inside" succeeded 'succeeded answer_begun null 200'
	settles "$after" unknown 'unknown sent shutdown null' 25
	is version "$(field .version)" 0
	ended "$poller" 5
	is 'exit status' $code 0
	look "$new"
	is 'the new job' "$(field .state)" queued
	is 'rows of pollers' "$(sql -e "SELECT COUNT(*) FROM pollers WHERE pid = $poller")" 0
	shop '/shop/release?printer=after' -X POST -o /dev/null
	stack_start
	wait_job "$new" succeeded
	blocked "$after"
	is 'wire requests' "$(wire inside) $(wire after)" '1 1'
}

@test "f04 a job that kills its poller is counted before it is sent, is not picked up again, and others run on" {
	# Which is what the killed poller of f01 met: its job was the only one that it had.
	look "$KILLED"
	is state "$(field .state)" unknown
	is attempts "$(field .attempt_count)" 1
	create f04-other '{"provider":"killed","input":1}'
	local other
	other=$(field .id)
	shop '/shop/wait?printer=killed&requests=2&timeout_ms=10000' -f -o /dev/null
	shop '/shop/release?printer=killed' -X POST -o /dev/null
	wait_job "$other" succeeded
	is 'wire requests' "$(wire killed)" 2
	# An operator lets it go once more than max_attempts would: still nothing starts by itself.
	look "$KILLED"
	operator POST "/v1/attempts/$(field '.attempts[0].id')/settle" -d '{"outcome":"failed","error":"it kills the poller"}'
	is settled "$status" 200
	wait_for 10 eval 'look "$KILLED"; [ "$(field .attempt_count)" = 2 ]'
}

@test "f04 a row that this program can't read holds up its own jobs alone" {
	provider unreadable /unreadable
	sql -e "UPDATE providers SET definition = '{\"url\":\"http://127.0.0.1/\",\"from_the_future\":1}' WHERE name = 'unreadable'"
	create f04-unreadable '{"provider":"unreadable","input":1}'
	job=$(field .id)
	create f04-readable '{"provider":"good","input":1}'
	wait_job "$(field .id)" succeeded
	look "$job"
	is state "$(field .state)" queued
	cat "$STACK"/log/poller-*.log | grep -q 'provider.unreadable provider=unreadable'
	provider unreadable /unreadable
	wait_job "$job" succeeded
}

# F05_ROWS=1000000 is the fault as it was met; 30,000 are more than any one statement of a purge takes.
@test "f05 a purge of many rows holds up no create" {
	provider idle /idle '"enabled":false'
	sql -e "INSERT INTO jobs (id, owner, idempotency_key, fingerprint, provider, next_provider, input, result, state, version, max_attempts,
		attempts_allowed, attempt_count, run_after, created_at, updated_at) SELECT UNHEX(CONCAT('0160000000007000', '8', LPAD(HEX(seq), 15, '0'))), 'old', CONCAT('old-', seq),
		REPEAT('x', 32), 'idle', 'idle', '\"an old input\"', '\"an old result\"', 'succeeded', 1, 3, 3, 1, '2020-01-01', '2020-01-01', '2020-01-01'
		FROM seq_1_to_${F05_ROWS:-30000}"
	onejob purge --payloads-after 30d --keys-after 365d >"$BATS_TEST_TMPDIR/purge" 3>&- &
	local purge=$!
	local rounds=0
	while kill -0 $purge 2>/dev/null; do
		rounds=$((rounds + 1))
		flood "$BATS_TEST_TMPDIR/f05" $((rounds * 100)) $((rounds * 100 + 99)) idle
	done
	wait $purge
	within 'rounds of a hundred creates' $rounds 2 100000
	is 'old rows left' "$(sql -e "SELECT COUNT(*) FROM jobs WHERE owner = 'old'")" 0
	is 'answers but 201' "$(cut -d' ' -f2 "$BATS_TEST_TMPDIR/f05/codes" | grep -vc '^201$')" 0
	# A lock is waited for five seconds at most, then refused.
	is 'creates that took more than three seconds' "$(awk '$3 > 3' "$BATS_TEST_TMPDIR/f05/codes")" ''
}

# flooded PROVIDER...: one owner has a thousand jobs at each of them, then another has one. How many of the first one's started
# before it is in $before.
flooded() {
	local name other

	other=$(onejob token create --owner zz-other --role user)
	for name in "$@"; do
		provider "$name" "/$name/delay=20" '"max_in_flight":1,"enabled":false'
		flood "$BATS_TEST_TMPDIR/$name" 1 $((1000 / $#)) "$name"
	done
	for name in "$@"; do
		TOKEN=$other create "other-$name" "{\"provider\":\"$name\",\"input\":1}"
		is created "$status" 201
	done
	for name in "$@"; do
		provider "$name" "/$name/delay=20" '"max_in_flight":1'
	done
	for name in "$@"; do
		wait_for 20 eval '[ "$(sql -e "SELECT COUNT(*) FROM jobs WHERE owner = '"'zz-other'"' AND provider = '"'$name'"' AND attempt_count > 0")" = 1 ]'
		before=$(sql -e "SELECT COUNT(*) FROM attempts a JOIN attempts b JOIN jobs j ON j.id = b.job_id AND j.owner = 'zz-other' WHERE b.provider = '$name' AND a.provider = '$name' AND a.started_at < b.started_at")
		within "started at $name before the other's" "$before" 0 8
		provider "$name" "/$name" '"max_in_flight":1,"enabled":false'
	done
}

@test "f06 one owner's thousand jobs don't hold back another's one" {
	flooded flood
}

@test "f06 nor do they where two providers are busy at once" {
	flooded flood-a flood-b
}

@test "f09 two hundred that waited for a provider come spread, and no more at once than it takes" {
	local port
	port=$((30000 + RANDOM % 2000))
	# Nobody listens there yet.
	printf '{"url":"http://127.0.0.1:%s/back/delay=20","max_in_flight":10,"retry":{"base_ms":500,"max_ms":2000}}' $port | onejob provider put back - >/dev/null
	FLOOD_MEMBERS=',\"max_attempts\":100' flood "$BATS_TEST_TMPDIR/back" 1 200 back
	wait_for 30 eval '[ "$(sql -e "SELECT COUNT(*) FROM jobs WHERE provider = '"'back'"' AND attempt_count >= 3")" = 200 ]'
	is 'failures but never sent' "$(sql -e "SELECT COUNT(*) FROM attempts WHERE provider = 'back' AND state = 'failed' AND reason <> 'never_sent'")" 0
	# Jitter: at the maximal delay the times lie between one second and two after the failure, in each tenth of it some.
	sql -e "SELECT DISTINCT FLOOR(TIMESTAMPDIFF(MICROSECOND, updated_at, run_after) / 100000) FROM jobs WHERE provider = 'back' AND state = 'queued' AND attempt_count >= 3 ORDER BY 1" >"$BATS_TEST_TMPDIR/tenths"
	within 'tenths of a second' "$(wc -l <"$BATS_TEST_TMPDIR/tenths")" 8 11
	within 'the first' "$(head -1 "$BATS_TEST_TMPDIR/tenths")" 10 19
	within 'the last' "$(tail -1 "$BATS_TEST_TMPDIR/tenths")" 10 20
	"$ONEJOB_BUILD/printshop" --port $port >/dev/null 2>&1 3>&- &
	local back=$!
	wait_for 40 eval '[ "$(sql -e "SELECT COUNT(*) FROM jobs WHERE provider = '"'back'"' AND state = '"'succeeded'"'")" = 200 ]' || { kill $back; return 1; }
	local PRINTSHOP_URL=http://127.0.0.1:$port
	is 'wire requests' "$(wire back)" 200
	within peak "$(counts back peak)" 2 10
	within 'milliseconds between the first and the last' "$(shop /shop/requests | jq '(.[-1].at_ms - .[0].at_ms) | floor')" 400 30000
	kill $back
}

@test "over all of this file no attempt has made more than one request" {
	within 'keys met' "$(wire_by_key | wc -l)" 20 20000
	sent_at_most_once
}
