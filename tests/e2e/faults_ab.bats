#!/usr/bin/env bats
# shellcheck disable=SC2154 # body, status and headers are set by the words of stack.bash
# Faults that others have met, as requests through nginx: keys and payloads (A), concurrency and the database (B).

load stack
load front

setup_file() {
	export ONEJOB_GRACE_SECONDS=1 ONEJOB_POLL_MS=50
	stack_up --workers 8
	provider tick /tick
	provider echo /echo/echo
	provider once /once
	provider away /away '"enabled":false'
	O2_TOKEN=$(onejob token create --owner o2)
	export O2_TOKEN
}

teardown_file() {
	shop /shop/reset -X POST || true
	stack_down
}

# put KEY INPUT: a create whose job waits for ever; the key header is '"KEY"'. $id is the job's.
put() {
	create "$1" "{\"provider\":\"away\",\"input\":$2}"
	id=$(field '.id // .job_id // empty')
}

# same KEY INPUT INPUT...: all of them are one intent.
same() {
	local key=$1 first

	put "$key" "$2"
	is "first of $key" "$status" 201
	first=$id
	shift 2
	for input in "$@"; do
		put "$key" "$input"
		is "$input under $key" "$status $id" "200 $first"
	done
}

# conflict KEY INPUT INPUT...: the first is taken, the others are another intent, and nothing changes.
conflict() {
	local key=$1 first before

	put "$key" "$2"
	[ "$status" = 201 ] || is "first of $key" "$status" 200
	first=$id before=$(rows_of "$id")
	shift 2
	for input in "$@"; do
		put "$key" "$input"
		refused 409 idempotency-key-reused
		is "the job of $input" "$id" "$first"
	done
	is 'the rows' "$(rows_of "$first")" "$before"
}

rows_of_key() { sql -e "SELECT COUNT(*) FROM jobs WHERE idempotency_key = '$1'"; }

# rejected KEY INPUT [PROBLEM]: refused, no row, and the key isn't used up.
rejected() {
	put "$1" "$2"
	refused 400 "${3-invalid-json}"
	is "rows of $1" "$(rows_of_key "$1")" 0
}

@test "A01 a trailing space in a key counts" {
	local first

	put k1 '{"a":1}'
	is k1 "$status" 201
	first=$id
	put 'k1 ' '{"a":2}'
	is 'k1 and a blank' "$status" 201
	no test "$id" = "$first"
	is 'as it was given' "$(field '.idempotency_key')" 'k1 '
}

@test "A02 upper and lower case are two keys" {
	local first

	put Order-7 '"X"'
	is Order-7 "$status" 201
	first=$id
	put order-7 '"Y"'
	is order-7 "$status" 201
	no test "$id" = "$first"
}

@test "A03 a key longer than the column is refused, whatever its length" {
	local same

	same=$(printf 'k%.0s' $(seq 255))
	for key in "$same$(printf 'a%.0s' $(seq 45))" "$same$(printf 'b%.0s' $(seq 45))" "$(printf 'r%.0s' $(seq 4000))"; do
		put "$key" 1
		refused 400 idempotency-key-invalid
		has 'the reason' '255|long' "$(field .detail)"
		is 'no row' "$(sql -e "SELECT COUNT(*) FROM jobs WHERE LEFT(idempotency_key, 20) = LEFT('$key', 20)")" 0
	done
	put "$(printf 'r%.0s' $(seq 9000))" 1
	refused 400 bad-request	# nginx's own limit
}

@test "A04 an empty, a blank and a missing key are refused and create nothing" {
	local before

	before=$(sql -e 'SELECT COUNT(*) FROM jobs')
	for header in 'Idempotency-Key;' 'Idempotency-Key:   ' 'Idempotency-Key:' 'Idempotency-Key: ""' 'Idempotency-Key: '; do
		api POST /v1/jobs -d '{"provider":"away","input":1}' -H "$header"
		is "'$header'" "$status" 400
		has "'$header'" '^/problems/idempotency-key-(missing|invalid)$' "$(field .type)"
	done
	is 'no row' "$(sql -e 'SELECT COUNT(*) FROM jobs')" "$before"
}

@test "A05 the quoted and the bare form are one key" {
	put k-5 1
	is quoted "$status" 201
	job=$id
	api POST /v1/jobs -d '{"provider":"away","input":1}' -H 'Idempotency-Key: k-5'
	is bare "$status $(field .id)" "200 $job"
	is rows "$(rows_of_key k-5)" 1
}

@test "A06 two owners, one key: nothing of the first is in any answer to the second" {
	local first second

	create pay-1 '{"provider":"once","input":"secret of the first"}'
	is O1 "$status" 201
	first=$(field .id)
	wait_job "$first" succeeded
	TOKEN=$O2_TOKEN create pay-1 '{"provider":"once","input":"secret of the first"}'
	is O2 "$status $(field .owner)" '201 o2'
	second=$(field .id)
	no test "$second" = "$first"
	TOKEN=$O2_TOKEN create pay-1 '{"provider":"once","input":"Y"}'
	refused 409 idempotency-key-reused
	is 'its own job' "$(field .job_id)" "$second"
	no grep -qF "$first" <<<"$body"
	TOKEN=$O2_TOKEN api POST /v1/jobs/cancel -H 'Idempotency-Key: pay-1'
	no grep -qF "$first" <<<"$body"
	job_is "$first" succeeded
}

@test "A07 member order, white space and escapes don't count; the order of an array does" {
	same k-a07 '{"a":1,"b":[1,2],"c":"A/B"}' $'{ "c":"\\u0041\\/B",\t"b":[1,2],\n "a":1 }'
	conflict k-a07 '{"a":1,"b":[1,2],"c":"A/B"}' '{"a":1,"b":[2,1],"c":"A/B"}'
}

@test "A08 integers past 64 bits stay apart, and the provider gets the digits that were sent" {
	local digits

	conflict k-a08 '{"n":18446744073709551616}' '{"n":18446744073709551617}'
	conflict k-a08b '{"n":9007199254740992}' '{"n":9007199254740993}' '{"n":9007199254740992.0000000000000000001}'
	for digits in 9223372036854775808 18446744073709551617 -123456789012345678901234567890.10 1E400 0.1000000000000000055511151231257827; do
		create "k-a08-$digits" "{\"provider\":\"echo\",\"input\":{\"n\":$digits}}"
		is "$digits" "$status" 201
		id=$(field .id)
		wait_job "$id" succeeded
		grep -qF "\"input\":{\"n\":$digits}" <<<"$body"
		grep -qF "\"received\":{\"n\":$digits}" <<<"$body"	# what came back went there
		is 'at the provider' "$(shop '/shop/requests?printer=echo' | jq -r --arg k "$id-0" '.[] | select(.key == $k) | .body')" "{\"n\":$digits}"
	done
}

@test "A09 1, 1.0 and 1e0 are one number at every depth, and so are 0 and -0" {
	same k-a09 '{"n":1}' '{"n":1.0}' '{"n":1e0}' '{"n":10E-1}' '{"n":0.1e+1}'
	same k-a09-deep '[[{"n":[1,0]}]]' '[[{"n":[1.0,-0]}]]' '[[{"n":[1e0,0e9]}]]'
	same k-a09-0 '{"n":0}' '{"n":-0}' '{"n":-0.0}' '{"n":0e5}'
	conflict k-a09 '{"n":1}' '{"n":1.0000000000000000000001}' '{"n":"1"}' '{"n":true}'
}

@test "A10 a NUL inside a string ends nothing" {
	conflict k-a10 '{"s":"x\u0000y"}' '{"s":"x\u0000z"}' '{"s":"x"}' '{"s\u0000":"x\u0000y"}'
	conflict k-a10-name '{"a\u0000b":1}' '{"a\u0000c":1}' '{"a":1}'
	create k-a10-echo '{"provider":"echo","input":"x\u0000y"}'
	wait_job "$(field .id)" succeeded
	is 'whole at the provider' "$(field '.result.received | length')" 3
}

@test "A11 a lone surrogate is refused" {
	rejected k-a11 '{"s":"\ud800"}'
	rejected k-a11 '{"s":"\udc00"}'
	rejected k-a11 '{"s":"\udc00\ud800"}'
	rejected k-a11 '{"\ud800":1}'
	put k-a11 '{"s":"\ufffd"}'
	is 'the replacement character itself' "$status" 201
	conflict k-a11 '{"s":"\ufffd"}' '{"s":"\ud83d\ude00"}'
}

@test "A12 a member named twice is refused, at any depth and however it is written" {
	rejected k-a12 '{"amount":1,"amount":100}'
	rejected k-a12 '{"amount":1,"\u0061mount":100}'
	rejected k-a12 '[{"a":{"amount":1,"x":2,"amount":1}}]'
	create k-a12 '{"provider":"away","provider":"echo","input":1}'
	refused 400 invalid-json
	put k-a12 '[{"amount":1},{"amount":100}]'
	is 'in two objects' "$status" 201
}

@test "A13 text after the document, and a document that stops, are refused" {
	for text in '{"provider":"away","input":1} x' '{"provider":"away","input":1}{"b":2}' '{"provider":"away","input":1' \
		'{"provider":"away","input":1}}' '{"provider":"away","input":1},' '{"provider":"away","input":"' '{' ''; do
		create k-a13 "$text"
		refused 400 invalid-json
	done
	create k-a13 $'\r\n\t {"provider":"away","input":1} \n'
	is 'blanks around it' "$status" 201
}

@test "A14 what isn't JSON isn't taken for it, and a job is an object" {
	for input in "{'a':1}" '{"a":NaN}' '{"a":-Infinity}' '{"a":1,}' '[1,]' '/*c*/{"a":1}' '01' '+1' '.5' '1.' '0x10' 'True' "'a'" \
		$'"a\tb"' '"\x41"' 'nul'; do
		rejected k-a14 "$input"
	done
	for text in null 12 '[]' '"a"' true; do
		create k-a14 "$text"
		refused 422 invalid-job
	done
	is 'no row' "$(rows_of_key k-a14)" 0
	put k-a14 null
	is 'any value is an input' "$status" 201
}

nested() { # DEPTH: so many arrays; the object of the job is one level more
	head -c "$1" /dev/zero | tr '\0' '['
	head -c "$1" /dev/zero | tr '\0' ']'
}

@test "A15 nesting past the limit is refused, and no worker dies of it" {
	local before

	before=$(workers | sort)
	for depth in 32 33 63; do
		put "k-a15-$depth" "$(nested $depth)"
		is "$depth deep" "$status" 201
	done
	for depth in 64 1000 100000; do
		printf '{"provider":"away","input":%s}' "$(nested $depth)" >"$BATS_TEST_TMPDIR/deep"
		create "k-a15-$depth" "@$BATS_TEST_TMPDIR/deep"
		refused 400 invalid-json
		has 'the reason' 'deep' "$(field .detail)"
	done
	printf '{"provider":"away","input":%s' "$(head -c 500000 /dev/zero | tr '\0' '[')" >"$BATS_TEST_TMPDIR/deep"
	create k-a15-open "@$BATS_TEST_TMPDIR/deep"
	refused 400 invalid-json
	is 'the workers' "$(workers | sort)" "$before"
}

@test "A16 ordinary text of any language is taken, escaped or not, and the provider gets the same characters" {
	local text='Jürgen € 日本 😀'

	create k-a16 "{\"provider\":\"echo\",\"input\":{\"name\":\"$text\"}}"
	is raw "$status" 201
	id=$(field .id)
	create k-a16 '{"provider":"echo","input":{"name":"J\u00fcrgen \u20AC \u65e5\u672c \uD83D\ude00"}}'
	is escaped "$status $(field .id)" "200 $id"
	create k-a16-escaped '{"provider":"echo","input":{"name":"J\u00fcrgen \u20AC \u65e5\u672c \uD83D\ude00"}}'
	for job in "$id" "$(field .id)"; do
		wait_job "$job" succeeded
		is 'at the provider' "$(field .result.received.name)" "$text"
		is 'in the job' "$(field .input.name)" "$text"
	done
	for bad in $'\xff' $'\xc0\xaf' $'\xed\xa0\x80' $'\xf4\x90\x80\x80' $'\xe2\x82'; do
		rejected k-a16-bad "\"$bad\""
	done
}

@test "A17 a refused request does not use up its key" {
	create k-a17 '{"provider":"away","input":'
	refused 400 invalid-json
	create k-a17 '{"provider":"no-such-one","input":1}'
	refused 422 invalid-job
	create k-a17 '{"provider":"away"}'
	refused 422 invalid-job
	TOKEN=unknown create k-a17 '{"provider":"away","input":1}'
	refused 401 unauthorized
	put k-a17 '{"valid":true}'
	is 'the valid one' "$status" 201
}

# B02 too: the first to insert gives up, and InnoDB lets the waiting ones run into each other.
@test "B01 fifty creates of one key, in several workers at once, are one job and one attempt" {
	sql_hold 'BEGIN' "INSERT INTO jobs (id, owner, idempotency_key, state, max_attempts, attempts_allowed, run_after, created_at, updated_at)
		VALUES (x'01', 'demo', 'k-b01', 'cancelled', 3, 3, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))"
	burst "$BATS_TEST_TMPDIR/clicks" 50 k-b01 '{"provider":"once","input":1}' &
	wait_for 20 inserts_wait 4	# a worker takes up to 16 of them, and is in the middle of the first one's insert
	sql_let_go ROLLBACK
	wait %% || wait
	one_job "$BATS_TEST_TMPDIR/clicks" 50
	is 'rows' "$(rows_of_key k-b01)" 1
	wait_job "$job" succeeded
	tick 1
	is 'attempts' "$(sql -e "SELECT COUNT(*) FROM attempts WHERE job_id = x'${job//-/}'")" 1
	is 'requests' "$(sent "$job")" 1
}

@test "B01 the first to insert commits while several workers wait: all get its job" {
	local id

	id=$(sql -e "SELECT LOWER(HEX(id)) FROM jobs WHERE idempotency_key = 'k-b01'")
	sql_hold 'BEGIN' "CREATE TEMPORARY TABLE one AS SELECT * FROM jobs WHERE id = x'$id'" \
		"INSERT INTO jobs (id, owner, idempotency_key, fingerprint, provider, next_provider, input, metadata, state, max_attempts,
			attempts_allowed, run_after, created_at, updated_at)
		SELECT x'0190000000007000800000000000b01b', owner, 'k-b01-2', fingerprint, provider, next_provider, input, metadata, 'queued',
			max_attempts, attempts_allowed, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM one"
	burst "$BATS_TEST_TMPDIR/clicks" 20 k-b01-2 '{"provider":"once","input":1}' &
	wait_for 20 inserts_wait 2
	sql_let_go COMMIT
	wait
	is 'all are replays' "$(sort "$BATS_TEST_TMPDIR/clicks/codes" | uniq -c | tr -s ' ')" ' 20 200'
	is 'of that job' "$(cd "$BATS_TEST_TMPDIR/clicks" && jq -r .id $(seq 20) | sort -u)" 01900000-0000-7000-8000-00000000b01b
}

# stream FOLDER FROM TO: creates, one after the other, on one connection; FOLDER/FROM.codes has a line for each.
stream() {
	local i

	for ((i = $2; i < $3; i++)); do
		[ "$i" -eq "$2" ] || echo next
		printf 'url="%s/v1/jobs"\nheader="Authorization: Bearer %s"\nheader="Content-Type: application/json"\nmax-time=30\n' \
			"$ONEJOB_URL" "$ONEJOB_TOKEN"
		printf 'header="Idempotency-Key: b08-%d"\ndata="{\\"provider\\":\\"away\\",\\"input\\":%d}"\nsilent\n' "$i" "$i"
		printf 'output="%s/%d"\nwrite-out="%%{http_code} %d %%header{retry-after}\\n"\n' "$1" "$i" "$i"
	done >"$1/$2.curl"
	stdbuf -oL curl -K "$1/$2.curl" >"$1/$2.codes" 3>&- || true
}

# ids FOLDER CODE: key and job of each answer with that status.
ids() {
	(cd "$1" && sed -n "s/^$2 \([0-9]*\).*/\1/p" ./*.codes | xargs jq -r '"b08-\(input_filename) \(.id)"' | sort)
}

codes_at_least() { [ "$(cat "$1"/*.codes | grep -c "^$2")" -ge "$3" ]; } # FOLDER CODE COUNT

@test "B08 the database is killed in a burst of creates: no acknowledged job is lost, and a repeat finds or makes exactly one" {
	local folder=$BATS_TEST_TMPDIR i

	for i in 0 1000 2000 3000; do
		stream "$folder" $i $((i + 400)) &
	done
	wait_for 20 codes_at_least "$folder" 201 60
	kill -9 "$(cat "$STACK/mariadbd.pid")"
	wait_for 20 codes_at_least "$folder" 503 10
	api GET /v1/jobs/01900000-0000-7000-8000-000000000000
	refused 503 unavailable
	create b08-0 '{"provider":"away","input":0}'
	refused 503 unavailable
	has 'Retry-After' '^[1-9][0-9]*$' "$(header Retry-After)"
	stack_start
	wait
	is 'other answers' "$(cat "$folder"/*.codes | grep -cvE '^(201 [0-9]+ |503 [0-9]+ [1-9][0-9]*)$')" 0
	ids "$folder" 201 >"$folder/acknowledged"
	[ "$(wc -l <"$folder/acknowledged")" -ge 60 ]
	sql -e "SELECT CONCAT(idempotency_key, ' ', LOWER(CONCAT_WS('-', SUBSTR(HEX(id), 1, 8), SUBSTR(HEX(id), 9, 4), SUBSTR(HEX(id), 13, 4),
		SUBSTR(HEX(id), 17, 4), SUBSTR(HEX(id), 21)))) FROM jobs WHERE idempotency_key LIKE 'b08-%'" | sort >"$folder/stored"
	is 'acknowledged and not stored' "$(comm -23 "$folder/acknowledged" "$folder/stored")" ''
	mkdir "$folder/again"
	for i in 0 1000 2000 3000; do
		stream "$folder/again" $i $((i + 400))
	done
	is 'repeats refused' "$(cat "$folder/again"/*.codes | grep -cvE '^20[01] ')" 0
	is 'one job a key' "$(sql -e "SELECT COUNT(*), COUNT(DISTINCT idempotency_key) FROM jobs WHERE idempotency_key LIKE 'b08-%'")" $'1600\t1600'
	ids "$folder/again" '20[01]' >"$folder/repeated"
	is 'repeats' "$(wc -l <"$folder/repeated")" 1600
	is 'acknowledged and repeated as another' "$(comm -23 "$folder/acknowledged" "$folder/repeated")" ''
	tick 1
}

# refuses WHY: the database answers, and refuses what it is asked.
refuses() {
	create "$1" '{"provider":"once","input":1}'
	refused 503 unavailable
	has 'Retry-After' '^[1-9][0-9]*$' "$(header Retry-After)"
}

@test "B10 a database that answers but refuses: 503 with Retry-After and never 404; nothing is sent, nothing lost" {
	local i

	put b10 1
	sql -e "ALTER USER onejob@localhost ACCOUNT LOCK"
	for i in $(sql -e "SELECT id FROM information_schema.processlist WHERE user = 'onejob'"); do
		sql -e "KILL $i" || true
	done
	for i in 1 2 3 4 5 6 7 8 9; do
		refuses b10-locked
	done
	api GET "/v1/jobs/$id"
	refused 503 unavailable
	api GET /v1/jobs
	refused 503 unavailable
	raw GET /readyz
	refused 503 unavailable
	is 'nothing stored' "$(rows_of_key b10-locked)" 0
	sql -e "ALTER USER onejob@localhost ACCOUNT UNLOCK"
	wait_for 10 eval 'api GET "/v1/jobs/$id"; [ "$status" != 503 ]'	# a worker waits a second before it tries again
	is 'it is there' "$status" 200
	tick 1
}

@test "B10 a database that only reads: creates are 503, reads go on, and jobs run when it writes again" {
	put b10-read 1
	create b10-queued '{"provider":"once","input":1,"not_before":"2001-01-01T00:00:00Z"}'
	wait_job "$(field .id)" succeeded
	sql -e 'SET GLOBAL read_only = 1'
	refuses b10-only-reads
	api GET "/v1/jobs/$id"
	is 'a read' "$status" 200
	sql -e 'SET GLOBAL read_only = 0'
	create b10-only-reads '{"provider":"once","input":1}'
	is 'the same key' "$status" 201
	wait_job "$(field .id)" succeeded
}

@test "B07 a row that another session holds: the results of all others are written, and new work goes on" {
	local i new ids=()

	provider kept /kept/stall '"timeout_ms":60000'
	for i in 1 2 3; do
		create "b07-kept-$i" '{"provider":"kept","input":1}'
		ids+=("$(field .id)")
	done
	wait_for 10 eval '[ "$(counts kept requests)" = 3 ]'
	sql_hold BEGIN "SELECT state FROM jobs WHERE id = x'${ids[0]//-/}' FOR UPDATE"
	shop '/shop/release?printer=kept' -X POST -o /dev/null
	create b07-new '{"provider":"once","input":1}'
	new=$(field .id)
	for i in "${ids[1]}" "${ids[2]}" "$new"; do
		wait_job "$i" succeeded 120
	done
	sql_let_go ROLLBACK
	wait_job "${ids[0]}" succeeded 60
	is 'nothing was sent again' "$(counts kept requests)" 3
}

# troubled PATTERN: the poller has said so since the log had $known lines.
troubled() { tail -n "+$((known + 1))" "$STACK/log/poller-1.log" | grep -q "$1"; }

@test "B10 a database without room: what came back from a provider waits until it has some" {
	local i most known

	provider held /held/stall '"timeout_ms":60000'
	create b10-room '{"provider":"held","input":1}'
	id=$(field .id)
	wait_for 10 eval '[ "$(counts held requests)" = 1 ]'
	most=$(sql -e 'SELECT @@GLOBAL.max_prepared_stmt_count')
	known=$(wc -l <"$STACK/log/poller-1.log")
	sql -e 'SET GLOBAL max_prepared_stmt_count = 0'
	for i in $(sql -e "SELECT id FROM information_schema.processlist WHERE user = 'onejob'"); do
		sql -e "KILL $i" || true
	done
	shop '/shop/release?printer=held' -X POST -o /dev/null
	wait_for 20 troubled 'SQL_\(JOB_LOCK\|POLLER_RENEW\) error="1461'
	sql -e "SET GLOBAL max_prepared_stmt_count = $most"
	wait_job "$id" succeeded
	is 'nothing was sent again' "$(counts held requests)" 1
}
