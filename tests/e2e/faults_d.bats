#!/usr/bin/env bats
# shellcheck disable=SC2154 # body, status and headers are set by the words of stack.bash
# Faults that others have met (D): the road from the client through nginx and FastCGI to a worker.

load stack
load front

setup_file() {
	export ONEJOB_GRACE_SECONDS=1 ONEJOB_POLL_MS=50
	export ONEJOB_TRUST_OWNER=1	# so that a forged owner would count
	stack_up --workers 4
	provider tick /tick
	provider away /away '"enabled":false'
	provider echo /echo/echo
	FCGI=$TOP/tests/support/fcgi.pl
	export FCGI
	second_nginx
}

# A second front door with the files as they are shipped, limits too, before two upstream addresses: D01_PAIR is what an
# operator would write for two hosts. And servers whose upstream is a test's own.
second_nginx() {
	PORT2=$(free_port)
	mkdir -p "$STACK/second/onejob" "$STACK/second/tmp"
	cp "$TOP"/nginx/*.conf "$STACK/second/onejob"
	{
		[ "$(id -u)" != 0 ] || echo 'user root;'
		cat <<-CONF
			daemon off;
			worker_processes 1;
			pid "$STACK/second/nginx.pid";
			error_log "$STACK/log/second.log" warn;
			events { }
			http {
				client_body_temp_path "$STACK/second/tmp/body";
				fastcgi_temp_path "$STACK/second/tmp/fastcgi";
				proxy_temp_path "$STACK/second/tmp/proxy";
				uwsgi_temp_path "$STACK/second/tmp/uwsgi";
				scgi_temp_path "$STACK/second/tmp/scgi";
				include onejob/http.conf;
				include onejob/limits.conf;
				access_log "$STACK/log/second-access.log" onejob;
				upstream onejob_api {
					server "unix:$STACK/first.sock" max_fails=0;
					server "unix:$STACK/api.sock" max_fails=0;
				}
				server {
					listen 127.0.0.1:$PORT2;
					include onejob/locations.conf;
				}
			}
		CONF
	} >"$STACK/second/nginx.conf"
	(cd "$STACK/second" && exec setsid nginx -c "$STACK/second/nginx.conf" >>"$STACK/log/second.log" 2>&1 3>&- </dev/null) &
	SECOND=$!
	URL2=http://127.0.0.1:$PORT2
	export SECOND URL2
	wait_for 10 curl -sS -o /dev/null "$URL2/healthz"
}

teardown_file() {
	[ -z "${SECOND-}" ] || kill "$SECOND" 2>/dev/null || true
	shop /shop/reset -X POST || true
	stack_down
}

at_second() { ONEJOB_URL=$URL2 "$@"; }

rows_of_key() { sql -e "SELECT COUNT(*) FROM jobs WHERE idempotency_key = '$1'"; }
stored() { [ "$(rows_of_key "$1")" = "$2" ]; }
gone() { no kill -0 "$1" 2>/dev/null; }
is_file() { [ -s "$1" ]; }

AWAY='{"provider":"away","input":1}'

# hold_key KEY: another session has inserted this key and not decided, so a create of it waits in a worker's insert.
hold_key() {
	sql_hold 'BEGIN' "INSERT INTO jobs (id, owner, idempotency_key, state, max_attempts, attempts_allowed, run_after, created_at, updated_at)
		VALUES (x'01', 'demo', '$1', 'cancelled', 3, 3, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))"
}

# The worker whose insert waits: the database knows its connection, the kernel whose descriptor that is.
busy_worker() {
	local pid

	for pid in $(workers); do
		[ "$(awk '/^State/ { print $2 }' "/proc/$pid/status")" = S ] || continue
		# a worker in a request holds the connection that it accepted on the API's socket besides the others
		[ "$(find "/proc/$pid/fd" -lname 'socket:*' 2>/dev/null | wc -l)" -le "${1-2}" ] || echo "$pid"
	done
}

# A worker has died in its insert, which goes on without it, and a second one has done the same create for the address that comes next;
# the answer is in the file, the key in $key. The server ends the wait for the lock after two seconds, on a busy machine before the
# worker is found, before the kill or before the second insert: that was another story then.
die_in_insert() { # FILE
	local answer victim idle both

	idle=$(find "/proc/$(workers | head -n 1)/fd" -lname 'socket:*' | wc -l)
	for key in d01-{1..10}; do
		hold_key "$key"
		(at_second create "$key" "$AWAY" && printf '%s %s\n' "$status" "$(field .id | tr -d -)") >"$1" 2>&1 3>&- &
		answer=$!
		wait_for 20 inserts_wait 1
		victim=$(busy_worker "$idle")
		[[ $victim =~ ^[0-9]+$ ]] && kill -9 "$victim" || victim=
		until inserts_wait 2 || no inserts_wait 1 2>/dev/null; do :; done
		both=
		! inserts_wait 2 || both=yes
		sql_let_go ROLLBACK
		wait "$answer" || true
		[ -z "$victim" ] || [ -z "$both" ] || ! grep -qE '^20[01] ' "$1" || return 0
	done
	echo 'no insert has outlived its worker' >&2
	return 1
}

@test "D01 a worker dies after its commit and before its answer: nginx gives the create to the next address, and it is one job" {
	local id

	rm -f "$STACK/first.sock"
	ln -s "$STACK/api.sock" "$STACK/first.sock"	# two addresses, both of them answer
	die_in_insert "$BATS_TEST_TMPDIR/answer"
	is rows "$(rows_of_key "$key")" 1
	id=$(sql -e "SELECT LOWER(HEX(id)) FROM jobs WHERE idempotency_key = '$key'")
	has 'the answer' "^20[01] $id\$" "$(cat "$BATS_TEST_TMPDIR/answer")"
	has 'tries of nginx' '^502, 20[01]$' \
		"$(jq -r 'select(.uri == "/v1/jobs" and .method == "POST") | .upstream_status' "$STACK/log/second-access.log" | tail -n 1)"
	create "$key" "$AWAY"
	is 'the repeat' "$status $(field .id | tr -d -)" "200 $id"
	is rows "$(rows_of_key "$key")" 1
}

@test "D01 a cancel that a first address has taken is not given to a second one, an untaken one is" {
	rm -f "$STACK/first.sock"
	"$FCGI" record "$STACK/first.sock" "$BATS_TEST_TMPDIR/taken" 0 3>&- &
	wait_for 10 test -S "$STACK/first.sock"
	# the two addresses take turns
	until [ -e "$BATS_TEST_TMPDIR/taken" ]; do
		key=d01-turn-$RANDOM$RANDOM
		at_second api POST /v1/jobs/cancel -H "Idempotency-Key: $key"
		[ -e "$BATS_TEST_TMPDIR/taken" ] || is 'the other address' "$status" 201
	done
	is 'the taken one' "$status" 502
	refused 502 unavailable
	has 'Retry-After' '^[1-9][0-9]*$' "$(header Retry-After)"
	grep -qaF "$key" "$BATS_TEST_TMPDIR/taken"
	is 'rows' "$(rows_of_key "$key")" 0
	wait
	for i in 1 2 3 4; do
		at_second api POST /v1/jobs/cancel -H "Idempotency-Key: d01-refused-$i"	# nobody listens at the first address any more
		is 'an untaken one' "$status" 201
	done
}

# hang_up KEY: sends a create and closes at once, without reading.
hang_up() {
	exec 5<>"/dev/tcp/127.0.0.1/$PORT"
	printf 'POST /v1/jobs HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\nIdempotency-Key: "%s"\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s' \
		"$ONEJOB_TOKEN" "$1" "${#2}" "$2" >&5
	exec 5>&- 5<&-
}

@test "D02 a client that hangs up at once gets its job all the same, and finds it with the same key" {
	local before i

	before=$(workers | sort)
	for i in 1 2 3 4 5 6 7 8 9 10; do
		hang_up "d02-$i" '{"provider":"tick","input":1}'
	done
	for i in 1 2 3 4 5 6 7 8 9 10; do
		wait_for 10 stored "d02-$i" 1	# without any repeat
		create "d02-$i" '{"provider":"tick","input":1}'
		is 'the repeat' "$status" 200
		wait_job "$(field .id)" succeeded
		is 'attempts' "$(field .attempt_count)" 1
	done
	for i in 1 2 3 4 5; do
		hang_up "d02-race-$i" "$AWAY"
		create "d02-race-$i" "$AWAY"	# at the same time
		has 'status' '^20[01]$' "$status"
		is rows "$(rows_of_key "d02-race-$i")" 1
	done
	hold_key d02-held	# gone while its create is under way, so the worker answers a peer that has left
	hang_up d02-held "$AWAY"
	wait_for 10 inserts_wait 1
	sql_let_go ROLLBACK
	wait_for 10 stored d02-held 1
	create d02-held "$AWAY"
	is 'the repeat' "$status" 200
	is 'the workers' "$(workers | sort)" "$before"
}

@test "D03 TERM ends an idle worker within two seconds, and another takes its place" {
	local pid

	pid=$(workers | head -n 1)
	kill -TERM "$pid"
	wait_for 2 gone "$pid"
	wait_for 10 worker_count 4
	create d03-idle "$AWAY"
	is 'served' "$status" 201
}

worker_count() { [ "$(workers | wc -l)" -eq "$1" ]; }

# old_left N: so many of the workers in $old are still alive.
old_left() {
	local pid left=0

	for pid in $old; do
		! kill -0 "$pid" 2>/dev/null || left=$((left + 1))
	done
	[ $left -eq "$1" ]
}

@test "D03 TERM while a worker reads a body: it finishes that request first" {
	local old go=$BATS_TEST_TMPDIR/go call

	old=$(workers)
	printf '%s' "$AWAY" | "$FCGI" call "$STACK/api.sock" --pause "$go" "HTTP_AUTHORIZATION=Bearer $ONEJOB_TOKEN" \
		HTTP_IDEMPOTENCY_KEY=d03-body >"$BATS_TEST_TMPDIR/answer" 2>"$BATS_TEST_TMPDIR/progress" 3>&- &
	call=$!
	wait_for 10 is_file "$BATS_TEST_TMPDIR/progress"
	# shellcheck disable=SC2086 # words
	wait_for 10 reading $old
	# shellcheck disable=SC2086
	kill -TERM $old
	wait_for 10 old_left 1	# all but the one that reads
	: >"$go"
	wait "$call"
	grep -q '^Status: 201' "$BATS_TEST_TMPDIR/answer"
	grep -q '"idempotency_key":"d03-body"' "$BATS_TEST_TMPDIR/answer"
	wait_for 5 old_left 0
	create d03-body "$AWAY"
	is 'a repeat' "$status" 200
}

# One of them has taken a connection: it has a descriptor more than the least.
reading() {
	local pid

	[ "$(for pid in "$@"; do find "/proc/$pid/fd" -lname 'socket:*' 2>/dev/null | wc -l; done | sort -u | wc -l)" -gt 1 ]
}

@test "D03 TERM while a worker waits for the database: it finishes that request first" {
	local old answer

	wait_for 10 worker_count 4
	old=$(workers)
	hold_key d03-busy
	create_into "$BATS_TEST_TMPDIR/answer" d03-busy "$AWAY" &
	answer=$!
	wait_for 10 inserts_wait 1
	# shellcheck disable=SC2086 # words
	kill -TERM $old
	wait_for 10 old_left 1
	sql_let_go ROLLBACK
	wait "$answer"
	is 'the answer' "$(cat "$BATS_TEST_TMPDIR/answer")" 201
	wait_for 5 old_left 0
	wait_for 10 worker_count 4
}

create_into() { create "$2" "$3"; echo "$status" >"$1"; }	# FILE KEY BODY

# stream N PREFIX FILE: N creates on one connection, a status a line.
stream() {
	local i

	for ((i = 0; i < $1; i++)); do
		[ "$i" -eq 0 ] || echo next
		printf 'url="%s/v1/jobs"\nheader="Authorization: Bearer %s"\nheader="Content-Type: application/json"\nmax-time=30\n' \
			"$ONEJOB_URL" "$ONEJOB_TOKEN"
		printf 'header="Idempotency-Key: %s-%d"\ndata="{\\"provider\\":\\"away\\",\\"input\\":1}"\nsilent\n' "$2" "$i"
		printf 'output="/dev/null"\nwrite-out="%%{http_code}\\n"\n'
	done >"$3.curl"
	stdbuf -oL curl -K "$3.curl" >"$3" 3>&-
}

lines_at_least() { [ "$(cat "$1" 2>/dev/null | wc -l)" -ge "$2" ]; }

@test "D03 workers restarted by TERM and USR1 under load: every create is answered 201" {
	local one=$BATS_TEST_TMPDIR/one two=$BATS_TEST_TMPDIR/two signal pid done=0

	stream 600 d03-one "$one" &
	stream 600 d03-two "$two" &
	for signal in TERM USR1 TERM USR1; do
		done=$((done + 100))
		wait_for 30 lines_at_least "$one" $done
		pid=$(workers)
		# shellcheck disable=SC2086 # words
		kill "-$signal" $pid
	done
	lines_at_least "$one" 600 && { echo 'the load was over too early' >&2; return 1; }
	wait
	is 'statuses' "$(cat "$one" "$two" | sort | uniq -c | tr -s ' ')" ' 1200 201'
	is 'rows' "$(sql -e "SELECT COUNT(*) FROM jobs WHERE idempotency_key LIKE 'd03-one-%' OR idempotency_key LIKE 'd03-two-%'")" 1200
	wait_for 10 worker_count 4
}

@test "D04 a header with an underscore is not the key, beside it or alone" {
	api POST /v1/jobs -d "$AWAY" -H 'Idempotency_Key: U' -H 'Idempotency-Key: H'
	is 'H is the key' "$status $(field .idempotency_key)" '201 H'
	api POST /v1/jobs -d "$AWAY" -H 'Idempotency-Key: H' -H 'Idempotency_Key: U'
	is 'in the other order' "$status $(field .idempotency_key)" '200 H'
	api POST /v1/jobs -d "$AWAY" -H 'Idempotency_Key: U'
	refused 400 idempotency-key-missing
	is 'no row' "$(rows_of_key U)" 0
}

@test "D04 the shipped configuration keeps underscores off in every server, and repeats no POST but a create" {
	grep -q '^underscores_in_headers off;' "$TOP/nginx/server.conf"
	is 'servers with TLS and those that include it' "$(cat "$TOP"/nginx/*.example | grep -c 'listen 443')" \
		"$(cat "$TOP"/nginx/*.example | grep -cE '^\s*include onejob/(server|locations).conf;')"
	grep -q '^include onejob/server.conf;' "$TOP/nginx/locations.conf"
	no grep -rqE '^[^#]*underscores_in_headers on' "$TOP/nginx"
	is 'where one is repeated' "$(cd "$TOP/nginx" && grep -lE '^[^#]*next_upstream.*non_idempotent' -- *)" pass_create.conf
	is 'what it is included for' "$(awk '/^[^#]*location / { at = $0 } /^[^#]*include onejob\/pass_create.conf;/ { print at }' "$TOP"/nginx/* | sort -u)" \
		'location = /v1/jobs {'
	no grep -rqE '^[^#]*fastcgi_param +REMOTE_USER' "$TOP/nginx"
	nginx -T -c "$STACK/nginx.conf" 2>/dev/null >"$BATS_TEST_TMPDIR/all"
	no grep -qE '^[^#]*underscores_in_headers on' "$BATS_TEST_TMPDIR/all"
	grep -qE '^[^#]*underscores_in_headers off' "$BATS_TEST_TMPDIR/all"
}

hostile() { # what is sent, as printf's format: a begin record comes first
	# shellcheck disable=SC2059 # it is a format
	{ printf '\x01\x01\x00\x01\x00\x08\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00'; printf "$1"; } | "$FCGI" bytes "$STACK/api.sock"
}

@test "D05 a FastCGI record with lengths that don't add up ends its own connection and nothing else" {
	local before bytes

	wait_for 10 worker_count 4
	before=$(workers | sort)
	for bytes in \
		'\x01\x04\x00\x01\x00\x10\x00\x00\xff\xff\xff\xff\xff\xff\xff\xffAAAAAAAA' \
		'\x01\x04\x00\x01\x00\x10\x00\x00\xff\xff\xff\xf0\x80\x00\x00\x10AAAAAAAA' \
		'\x01\x04\x00\x01\x00\x10\x00\x00\x80\x00\x00\x10\xff\xff\xff\xf0AAAAAAAA\x01\x04\x00\x01\x00\x00\x00\x00' \
		'\x01\x04\x00\x01\x00\x02\x00\x00\x7f\x7f\x01\x04\x00\x01\x00\x00\x00\x00' \
		'\x01\x04\x00\x02\x00\x00\x00\x00' \
		'\x07\x04\x00\x01\x00\x00\x00\x00' \
		'\x01\x05\x00\x01\x00\x00\x00\x00'; do
		for i in 1 2 3 4; do	# each worker may get one
			is "answer to $bytes" "$(hostile "$bytes")" ''
		done
		create "d05-$RANDOM$RANDOM" "$AWAY"
		is "after $bytes" "$status" 201
	done
	head -c 100000 /dev/urandom | "$FCGI" bytes "$STACK/api.sock" >/dev/null
	"$FCGI" bytes "$STACK/api.sock" </dev/null >/dev/null
	raw GET /healthz
	is 'up' "$status" 200
	is 'the workers' "$(workers | sort)" "$before"
	is 'the socket' "$(stat -c '%a %U' "$STACK/api.sock")" "660 $(id -un)"
}

@test "D06 the API killed with -9, all of it: a start needs no cleaning up" {
	local old

	old=$(api_pids)
	# shellcheck disable=SC2046 # words
	kill -9 $(api_pids)
	test -S "$STACK/api.sock"	# the stale file
	stack_start
	create d06 "$AWAY"
	is 'served' "$status" 201
	no test "$(api_pids)" = "$old"
	wait_for 10 worker_count 4
}

@test "D06 only the holder of the socket killed: a start brings one set of workers, not two" {
	kill -9 "$(cat "$STACK/api.pid")"
	stack_start
	create d06-holder "$AWAY"
	is 'served' "$status" 201
	wait_for 10 worker_count 4
}

@test "D06 a second copy does no harm to the first" {
	local before

	before=$(api_pids | sort)
	run ! spawn-fcgi -s "$STACK/api.sock" -M 0660 -n -- "$ONEJOB_BUILD/onejob-api" 3>&-
	stack_start
	"$TOP/run" --detach --dir "$STACK" >/dev/null 3>&-
	is 'the processes' "$(api_pids | sort)" "$before"
	create d06-second "$AWAY"
	is 'served' "$status" 201
}

# one_line PATH: a request whose path curl must not touch.
one_line() {
	raw GET "$1" --path-as-is --globoff -H "Authorization: Bearer $ONEJOB_TOKEN"
}

@test "D07 encoded and doubled slashes, dots and NULs lead nowhere, and never past a right" {
	local id path

	create d07 "$AWAY"
	id=$(field .id)
	for path in "/v1/jobs%2F$id" "//v1/jobs/$id" "/v1//jobs/$id" "/v1/jobs//$id" "/v1/jobs/$id/" "/v1/jobs/%30${id#0}" "/v1/jobs/$id%00" \
		"/v1/jobs/a%2Fb" "/v1/%6aobs/$id" "/V1/jobs/$id" "/v1/jobs/${id^^}x" "/v1/jobs/$id;a" "/v1/jobs/.%2e/races" "/v1/jobs/$id%0a" \
		"/v1/jobs/../jobs/$id" "/v1/jobs/./$id" "/v1/jobs/$id/../../races" "/v1/x/../races" "/v1/jobs%3f" "/v1/jobs/{$id}"; do
		one_line "$path"
		has "$path" '^40[04]$' "$status"
		no grep -qF '"state"' <<<"$body"
		is "$path" "$(header Content-Type)" application/problem+json
	done
	one_line "/v1/jobs/$id"
	is 'plain' "$status" 200
	# the key at the edge goes by nginx's path, the API by the client's: neither creates
	for path in //v1/jobs /v1//jobs /v1/%6aobs /v1/./jobs /v1/jobs/; do
		raw POST "$path" --path-as-is -H "Authorization: Bearer $ONEJOB_TOKEN" -H 'Content-Type: application/json' -d "$AWAY" -H 'Idempotency-Key: d07-post'
		has "POST $path" '^40[045]$' "$status"
	done
	is 'no row' "$(rows_of_key d07-post)" 0
}

@test "D08 a body in many reads is stored and passed on whole" {
	local file=$BATS_TEST_TMPDIR/body id request

	{
		printf '{"provider":"echo","input":"'
		head -c 230000 /dev/urandom | base64 -w 0
		printf '"}'
	} >"$file"
	create d08 "@$file"
	is 'created' "$status" 201
	id=$(field .id)
	jq -r .input "$file" >"$BATS_TEST_TMPDIR/sent"
	wait_job "$id" succeeded
	field .input | cmp - "$BATS_TEST_TMPDIR/sent"
	field .result.received | cmp - "$BATS_TEST_TMPDIR/sent"
	request=$(shop '/shop/requests?printer=echo' | jq -c --arg k "$id-0" '.[] | select(.key == $k) | {whole, length: .headers["content-length"]}')
	is 'at the provider' "$request" "{\"whole\":true,\"length\":\"$(($(stat -c %s "$BATS_TEST_TMPDIR/sent") + 1))\"}"
	create d08 "@$file"
	is 'again' "$status $(field .id)" "200 $id"
}

@test "edge: a POST without a key never ships its body" {
	local part

	for part in keyed keyless; do
		rm -f "$STACK/first.sock"
		"$FCGI" record "$STACK/first.sock" "$BATS_TEST_TMPDIR/$part" 400 3>&- &
		wait_for 10 test -S "$STACK/first.sock"
		until [ -e "$BATS_TEST_TMPDIR/$part" ]; do
			if [ $part = keyed ]; then
				at_second create "edge-$RANDOM$RANDOM" '{"provider":"away","input":"body-of-the-post"}'
			else
				at_second api POST /v1/jobs -d '{"provider":"away","input":"body-of-the-post"}'
				[ -e "$BATS_TEST_TMPDIR/$part" ] || refused 400 idempotency-key-missing	# the other address
			fi
		done
		wait
	done
	grep -qaF body-of-the-post "$BATS_TEST_TMPDIR/keyed"
	grep -qaP '(?<!HTTP_)CONTENT_LENGTH' "$BATS_TEST_TMPDIR/keyed"
	no grep -qaF body-of-the-post "$BATS_TEST_TMPDIR/keyless"
	no grep -qaP '(?<!HTTP_)CONTENT_LENGTH' "$BATS_TEST_TMPDIR/keyless"
	rm -f "$STACK/first.sock"
	api POST /v1/jobs -d "$AWAY"
	refused 400 idempotency-key-missing
	api POST /v1/jobs/cancel
	refused 400 idempotency-key-missing
	TOKEN=unknown api POST /v1/jobs -d "$AWAY"
	refused 401 unauthorized
}

@test "edge: with the API away nginx itself answers 400 without a key, 413 for too much, 502 otherwise" {
	# shellcheck disable=SC2046 # words
	kill -9 $(api_pids)
	api POST /v1/jobs -d "$AWAY"
	refused 400 idempotency-key-missing
	api POST /v1/jobs/cancel
	refused 400 idempotency-key-missing
	create edge-away "$AWAY"
	refused 502 unavailable
	has 'Retry-After' '^[1-9][0-9]*$' "$(header Retry-After)"
	api GET /v1/jobs
	refused 502 unavailable
	head -c 1048577 /dev/zero >"$BATS_TEST_TMPDIR/big"
	api POST /v1/jobs -H 'Idempotency-Key: edge-away' --data-binary "@$BATS_TEST_TMPDIR/big"
	refused 413 body-too-large
	stack_start
	create edge-away "$AWAY"
	is 'the same key' "$status" 201
}

@test "edge: past the shipped limits nginx answers 429 with Retry-After, as a problem" {
	local i args=()

	for ((i = 0; i < 90; i++)); do
		args+=(-o "$BATS_TEST_TMPDIR/$i" "$URL2/healthz")
	done
	curl -sS --no-progress-meter -i -Z --parallel-immediate --parallel-max 30 -w '%{http_code}\n' "${args[@]}" >"$BATS_TEST_TMPDIR/codes" 3>&-
	is 'statuses' "$(sort -u "$BATS_TEST_TMPDIR/codes" | tr '\n' ' ')" '200 429 '
	[ "$(grep -c 200 "$BATS_TEST_TMPDIR/codes")" -ge 50 ]
	headers=$(tr -d '\r' <"$(grep -l '^HTTP/1.1 429' "$BATS_TEST_TMPDIR"/[0-9]* | head -n 1)")
	body=${headers#*$'\n\n'} headers=${headers%%$'\n\n'*} status=429
	refused 429 too-many-requests
	has 'Retry-After' '^[1-9][0-9]*$' "$(header Retry-After)"
	# fifty at once are far from the limit of creates
	at_second burst "$BATS_TEST_TMPDIR/clicks" 50 edge-limits "$AWAY"
	one_job "$BATS_TEST_TMPDIR/clicks" 50
}

@test "ONEJOB_OWNER can't be forged: no header of a client becomes it, and REMOTE_USER isn't read" {
	local header

	# what a web server says counts; were it not so, the rest would prove nothing
	printf %s "$AWAY" | "$FCGI" call "$STACK/api.sock" ONEJOB_OWNER=victim HTTP_IDEMPOTENCY_KEY=owner-0 >"$BATS_TEST_TMPDIR/answer"
	grep -q '^Status: 201' "$BATS_TEST_TMPDIR/answer"
	grep -q '"owner":"victim"' "$BATS_TEST_TMPDIR/answer"
	for header in 'Onejob-Owner: victim' 'ONEJOB_OWNER: victim' 'Http-Onejob-Owner: victim' 'HTTP_ONEJOB_OWNER: victim' 'Remote-User: victim' \
		'X-Onejob-Owner: victim' 'X-Remote-User: victim' 'Onejob-Owner;' 'Authorization: Basic dmljdGltOng='; do
		raw POST /v1/jobs -d "$AWAY" -H 'Content-Type: application/json' -H 'Idempotency-Key: owner-1' -H "$header"
		refused 401 unauthorized
		case $header in Authorization*) continue ;; esac
		api POST /v1/jobs -d "$AWAY" -H 'Idempotency-Key: owner-2' -H "$header"
		has "status with $header" '^20[01]$' "$status"
		is "owner with $header" "$(field .owner)" demo
	done
	for param in REMOTE_USER=victim HTTP_ONEJOB_OWNER=victim; do
		printf %s "$AWAY" | "$FCGI" call "$STACK/api.sock" "$param" HTTP_IDEMPOTENCY_KEY=owner-3 >"$BATS_TEST_TMPDIR/answer"
		grep -q '^Status: 401' "$BATS_TEST_TMPDIR/answer"
	done
	printf %s "$AWAY" | "$FCGI" call "$STACK/api.sock" ONEJOB_OWNER=victim "HTTP_AUTHORIZATION=Bearer $ONEJOB_TOKEN" \
		HTTP_IDEMPOTENCY_KEY=owner-4 >"$BATS_TEST_TMPDIR/answer"
	grep -q '^Status: 401' "$BATS_TEST_TMPDIR/answer"	# a token beside it must name the same owner
}
