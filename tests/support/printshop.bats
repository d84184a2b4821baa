#!/usr/bin/env bats
# The print shop keeps its word: each of its modes does to a caller what it says, and its counts are what was on the
# wire. $PRINTSHOP is the built program. Nothing here sleeps; what has to happen first is waited for.

bats_require_minimum_version 1.5.0
load plain_http

start_shop() {	# ready file -> SHOP_PID, SHOP_PORT
	local line
	mkfifo "$1"
	"$PRINTSHOP" --port 0 >"$1" 3>&- &
	SHOP_PID=$!
	read -r -t 10 line <"$1"
	SHOP_PORT=${line##*:}
	[[ $line == "printshop listening on 127.0.0.1:"* ]]
}

setup_file() {
	start_shop "$BATS_FILE_TMPDIR/ready"
	export SHOP_PID SHOP_PORT SHOP=http://127.0.0.1:$SHOP_PORT SHOP_HOST=127.0.0.1:$SHOP_PORT
}

teardown_file() {
	kill "$SHOP_PID"
}

setup() {
	declare -ft "$BATS_TEST_NAME"	# the words needn't be traced: see ../e2e/stack.bash
	set +T
	plainly POST "$SHOP_HOST" /shop/reset
}

teardown() {	# a caller that a failed test has left behind would disturb the next one
	jobs -p | xargs -r kill 2>/dev/null || true
}

ask() {	# a piece of work, as a caller sends it
	curl -sS -m 5 -H 'Content-Type: application/json' -d '{"copies":1}' "$@"
}

counts() {
	local body status

	plainly GET "$SHOP_HOST" /shop/counts
	printf '%s\n' "$body"
}

count() {	# printer, member
	local body status

	plainly GET "$SHOP_HOST" /shop/counts
	[[ $body =~ \"$1\":\{[^}]*\"$2\":([0-9]+) ]]
	echo "${BASH_REMATCH[1]}"
}

wait_for() {	# the query of /shop/wait
	local body status

	plainly GET "$SHOP_HOST" "/shop/wait?$1"
	[ "$status" = 200 ]
}

mode() {	# printer, list
	curl -sS -f -m 5 -G -X PUT --data-urlencode "printer=$1" --data-urlencode "mode=$2" "$SHOP/shop/mode"
}

dial() {	# opens descriptor 9 to the shop
	exec 9<>"/dev/tcp/127.0.0.1/$SHOP_PORT"
}

rest() {	# what comes until the shop closes; fails if it doesn't within 3 seconds
	timeout 3 cat <&9 | tr -d '\000'
	return "${PIPESTATUS[0]}"
}

says() {	# words that $output must contain
	local word
	for word in "$@"; do
		[[ $output == *"$word"* ]] || { echo "no <$word> in: $output"; return 1; }
	done
}

lacks() {
	[[ $output != *"$1"* ]] || { echo "<$1> in: $output"; return 1; }
}

# --- plain work and the counts

@test "a printer prints, and its sheets count up" {
	run -0 ask -H 'Idempotency-Key: k-1' "$SHOP/inkjet"
	[ "$output" = '{"printer":"inkjet","copies":1,"sheet":1,"key":"k-1"}' ]
	run -0 ask "$SHOP/inkjet"
	[ "$output" = '{"printer":"inkjet","copies":1,"sheet":2,"key":null}' ]
	run -0 ask "$SHOP/laser"
	says '"printer":"laser"' '"sheet":1'
}

@test "any method is work" {
	run -0 curl -sS -m 5 "$SHOP/inkjet"
	says '"sheet":1'
	run -0 curl -sS -m 5 -X PATCH "$SHOP/inkjet"
	says '"sheet":2'
	run -0 curl -sS -m 5 -I "$SHOP/inkjet" "$SHOP/inkjet"
	[ "$(count inkjet sheets)" = 4 ]
}

@test "a connection is kept for the next request" {
	ask "$SHOP/inkjet" "$SHOP/inkjet"
	run -0 curl -sS "$SHOP/shop/requests?printer=inkjet"
	[ "$(grep -o '"connection":[0-9]*' <<<"$output" | sort -u | wc -l)" = 1 ]
}

@test "requests in one packet are answered one after another" {
	dial
	printf 'GET /inkjet HTTP/1.1\r\n\r\nGET /inkjet HTTP/1.1\r\nConnection: close\r\n\r\n' >&9
	run -0 rest
	says '"sheet":1' '"sheet":2'
}

@test "the counts name requests, sheets, keys, open, hung up and peak" {
	ask -H 'Idempotency-Key: a' "$SHOP/inkjet"
	ask -H 'Idempotency-Key: a' "$SHOP/inkjet"
	ask -H 'Idempotency-Key: b' "$SHOP/inkjet"
	run -0 counts
	says '"inkjet":{"requests":3,"sheets":3,"distinct_keys":2,"open":0,"hung_up":0,"peak":1}'
}

@test "every request is in the list, in order, with its identity" {
	ask -H 'Idempotency-Key: "a"' -H 'traceparent: 00-1-2-03' -A 'onejob/1' -d 'first "é"' "$SHOP/inkjet/honour"
	ask -X PUT -H 'X-Twice: 1' -H 'x-twice: 2' -d second "$SHOP/laser"
	run -0 curl -sS "$SHOP/shop/requests?printer=inkjet"
	says '"method":"POST","path":"/inkjet/honour"' '"key":"\"a\""' '"traceparent":"00-1-2-03"' \
		'"user_agent":"onejob/1"' '"body":"{\"copies\":1}&first \"é\""' '"whole":true' \
		'"content-type":"application/json"'
	lacks laser
	run -0 curl -sS "$SHOP/shop/requests"
	says '"method":"PUT","path":"/laser"' '"x-twice":"1, 2"'
	[[ ${output%%/laser*} == *first* ]]
}

@test "the list keeps 4096 bytes of a body and stays JSON whatever they are" {
	head -c 5000 /dev/zero | tr '\0' '\377' >"$BATS_TEST_TMPDIR/body"
	curl -sS -o /dev/null --data-binary "@$BATS_TEST_TMPDIR/body" "$SHOP/inkjet"
	run -0 curl -sS "$SHOP/shop/requests?printer=inkjet"
	[ "$(grep -o '\\ufffd' <<<"$output" | wc -l)" = 4096 ]
}

@test "a chunked request is put together" {
	dial
	printf 'POST /inkjet/echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n' >&9
	printf '4\r\n{"a"\r\n3;x=y\r\n:1}\r\n0\r\nTrailer: 1\r\n\r\n' >&9
	run -0 rest
	says '{"received":{"a":1},"headers":{'
}

# --- the control API

@test "wait answers when the condition holds, and says 408 when it doesn't come" {
	run -0 curl -sS -o /dev/null -w '%{http_code}' "$SHOP/shop/wait?printer=inkjet&requests=1&timeout_ms=20"
	[ "$output" = 408 ]
	curl -sS -w ' %{http_code}' -o "$BATS_TEST_TMPDIR/waited" -m 10 \
		"$SHOP/shop/wait?printer=inkjet&requests=2&sheets=2&open=0&timeout_ms=9000" 3>&- &
	ask "$SHOP/inkjet" "$SHOP/inkjet"
	wait $!
	grep -q '"requests":2,"sheets":2' "$BATS_TEST_TMPDIR/waited"
}

@test "wait refuses to wait for nothing, or for what it doesn't know" {
	for query in printer=inkjet requests=1 'printer=inkjet&request=1' 'printer=inkjet&requests=x' \
		'printer=inkjet&requests=1&requests=1' 'printer=IN&requests=1' 'printer=a&open=0&timeout_ms=600001'; do
		run -0 curl -sS -o /dev/null -w '%{http_code}' "$SHOP/shop/wait?$query"
		[ "$output" = 400 ] || { echo "$query: $output"; return 1; }
	done
}

@test "a mode set at run time holds until it is taken back" {
	run -0 mode inkjet status=418
	says '"mode":"status=418"'
	run -0 ask -o /dev/null -w '%{http_code}' "$SHOP/inkjet"
	[ "$output" = 418 ]
	run -0 ask -o /dev/null -w '%{http_code}' "$SHOP/laser"
	[ "$output" = 200 ]
	mode inkjet ''
	run -0 ask -o /dev/null -w '%{http_code}' "$SHOP/inkjet"
	[ "$output" = 200 ]
}

@test "a mode set at run time comes on top of the path's" {
	ask -H 'Idempotency-Key: a' "$SHOP/inkjet/honour"
	mode inkjet chunked,status=201
	run -0 ask -i -H 'Idempotency-Key: a' "$SHOP/inkjet/honour"
	says 'HTTP/1.1 201' 'Transfer-Encoding: chunked' 'Idempotent-Replayed: true'
}

@test "a mode that doesn't exist is refused, in a path and at run time" {
	local lists=(stal delay delay=x delay=600001 status=99 status=1000 big=1 stall=1 redirect=200 body=%4 "type=a%0Ab"
		retry-after=%0D "retry-after=1,retry-after=2,retry-after=3")
	run -0 ask -g -w '\n%{http_code}\n' "${lists[@]/#/$SHOP/inkjet/}"
	[ "$(grep -c '^400$' <<<"$output")" = "${#lists[@]}" ] || { echo "$output"; return 1; }
	for list in "${lists[@]}"; do
		run -22 mode inkjet "$list"
	done
	[ "$(count inkjet sheets)" = 0 ]
}

@test "reset hangs up on what is open and zeroes everything" {
	mode inkjet stall
	ask "$SHOP/inkjet" 3>&- &
	wait_for 'printer=inkjet&open=1'
	curl -sS -X POST "$SHOP/shop/reset"
	local ended=0
	wait $! || ended=$?
	[ "$ended" = 52 ]
	run -0 counts
	says '"inkjet":{"requests":0,"sheets":0,"distinct_keys":0,"open":0,"hung_up":0,"peak":0}'
	run -0 curl -sS "$SHOP/shop/requests"
	[ "$output" = '[]' ]
	run -0 ask "$SHOP/inkjet"
	says '"sheet":1'
}

@test "unknown desks are 404, wrong methods 405, bad names 404" {
	while read -r method path want; do
		run -0 curl -sS -m 5 -o /dev/null -w '%{http_code}' -X "$method" "$SHOP$path"
		[ "$output" = "$want" ] || { echo "$method $path: $output"; return 1; }
	done <<-ROWS
		GET /shop/nothing 404
		POST /shop/counts 405
		GET /shop/reset 405
		GET / 404
		GET /Inkjet 404
		GET /ink.jet 404
		PUT /shop/mode?printer=inkjet 400
	ROWS
}

# --- modes: time

@test "stall: nothing comes until the release, then the default answer" {
	ask "$SHOP/inkjet/stall" >"$BATS_TEST_TMPDIR/one" 3>&- &
	wait_for 'printer=inkjet&requests=1&open=1'
	[ ! -s "$BATS_TEST_TMPDIR/one" ]
	run -0 curl -sS -X POST "$SHOP/shop/release?printer=laser"
	[ "$output" = '{"released":0}' ]
	run -0 curl -sS -X POST "$SHOP/shop/release?printer=inkjet"
	[ "$output" = '{"released":1}' ]
	wait $!
	[ "$(cat "$BATS_TEST_TMPDIR/one")" = '{"printer":"inkjet","copies":1,"sheet":1,"key":null}' ]
	[ "$(count inkjet open)" = 0 ]
}

@test "stall: a caller that gives up is counted as hung up, and its sheet stays" {
	run -28 ask -m 0.2 "$SHOP/inkjet/stall"
	wait_for 'printer=inkjet&hung_up=1&open=0'
	run -0 counts
	says '"requests":1,"sheets":1,"distinct_keys":0,"open":0,"hung_up":1'
}

@test "stall: hundreds at once are held and released together" {
	curl -sS -Z --parallel-immediate --parallel-max 200 -o "$BATS_TEST_TMPDIR/#1" "$SHOP/inkjet/stall?[1-200]" 3>&- &
	wait_for 'printer=inkjet&open=200'
	run -0 curl -sS -X POST "$SHOP/shop/release?printer=inkjet"
	[ "$output" = '{"released":200}' ]
	wait $!
	[ "$(count inkjet peak)" = 200 ]
	[ "$(cat "$BATS_TEST_TMPDIR"/[0-9]* | grep -o '"sheet":[0-9]*' | sort -u | wc -l)" = 200 ]
}

@test "delay: the answer is late by as much" {
	run -28 ask -m 0.1 "$SHOP/inkjet/delay=3000"
	run -0 ask -o /dev/null -w '%{time_total}' "$SHOP/inkjet/delay=150"
	awk -v took="$output" 'BEGIN { exit !(took >= 0.15) }'
}

@test "delay: the shorter one overtakes the longer one" {
	ask "$SHOP/inkjet/delay=4000" >/dev/null 3>&- &
	wait_for 'printer=inkjet&open=1'
	ask -o /dev/null "$SHOP/inkjet/delay=1"
	[ "$(count inkjet open)" = 1 ]
	kill $!
}

# --- modes: the connection

@test "refuse-body: 413 before the body is there, then a close" {
	dial
	printf 'POST /inkjet/refuse-body HTTP/1.1\r\nContent-Length: 5000000\r\n\r\n' >&9
	run -0 rest
	says 'HTTP/1.1 413' 'Connection: close' '"sheet":null'
	run -0 curl -sS "$SHOP/shop/requests?printer=inkjet"
	says '"whole":false'
}

@test "refuse-body: the status can be another one" {
	run -0 ask -o /dev/null -w '%{http_code}' "$SHOP/inkjet/refuse-body/status=503"
	[ "$output" = 503 ]
	[ "$(count inkjet sheets)" = 0 ]
}

@test "reset: the request is read whole, then the connection is reset" {
	run -56 ask "$SHOP/inkjet/reset"
	says reset
	run -0 counts
	says '"requests":1,"sheets":1' '"open":0,"hung_up":0'
}

@test "reset: half a request is still waited for" {
	dial
	printf 'POST /inkjet/reset HTTP/1.1\r\nContent-Length: 3\r\n\r\n12' >&9
	wait_for 'printer=inkjet&open=1'
	exec 9>&-
	wait_for 'printer=inkjet&open=0&hung_up=1&requests=1'
	[ "$(count inkjet sheets)" = 0 ]
}

@test "reset-early: the reset comes with the body unread" {
	dial
	printf 'POST /inkjet/reset-early HTTP/1.1\r\nContent-Length: 3\r\n\r\n' >&9
	run -1 rest
	wait_for 'printer=inkjet&requests=1&open=0'
	[ "$(count inkjet sheets)" = 0 ]
	[ "$(count inkjet hung_up)" = 0 ]
}

@test "empty: closed without a byte" {
	run -52 ask "$SHOP/inkjet/empty"
	[ "$(count inkjet sheets)" = 1 ]
}

@test "cut: five bytes of a hundred, then a close" {
	run -18 ask -i "$SHOP/inkjet/cut"
	says 'HTTP/1.1 200' 'Content-Length: 100' '{"pri'
	lacks printer
	run -18 ask "$SHOP/inkjet/cut/body=%5B1%2C2%5D"
	[ "${output##*$'\n'}" = '[1,2]' ]
}

@test "cut-stall: five bytes of a hundred, then silence" {
	run -28 ask -m 0.3 -i "$SHOP/inkjet/cut-stall"
	says 'HTTP/1.1 200' 'Content-Length: 100' '{"pri'
	wait_for 'printer=inkjet&hung_up=1&open=0'
}

@test "chunked: whole, and the connection is kept" {
	run -0 ask -i "$SHOP/inkjet/chunked" "$SHOP/inkjet/chunked"
	says 'Transfer-Encoding: chunked' '"sheet":1,"key":null}' '"sheet":2,"key":null}'
	lacks 'Content-Length'
	lacks 'Connection: close'
}

@test "chunked-cut: everything but the last chunk" {
	run -18 ask "$SHOP/inkjet/chunked-cut"
	says '"sheet":1,"key":null}'
}

@test "garbage: bytes that aren't HTTP" {
	run -1 ask "$SHOP/inkjet/garbage"
	[ "$(count inkjet sheets)" = 1 ]
}

@test "close-delimited: no length, the whole body, a close" {
	run -0 ask -i "$SHOP/inkjet/close-delimited"
	says 'Connection: close' '"sheet":1,"key":null}'
	lacks 'Content-Length'
	lacks 'Transfer-Encoding'
}

@test "close-cut: no length, half of the body, a close that looks like success" {
	run -0 ask -i "$SHOP/inkjet/close-cut"
	says '{"printer"'
	lacks 'Content-Length'
	lacks '"key"'
}

@test "two-lengths: two that differ" {
	run -0 ask -i "$SHOP/inkjet/two-lengths"
	[ "$(grep -c '^Content-Length: ' <<<"$output")" = 2 ]
	[ "$(grep '^Content-Length: ' <<<"$output" | sort -u | wc -l)" = 2 ]
}

@test "keepalive-drop: the second request of a connection is read and dropped" {
	dial
	printf 'POST /inkjet/keepalive-drop HTTP/1.1\r\nContent-Length: 1\r\n\r\n1' >&9
	wait_for 'printer=inkjet&sheets=1&open=0'
	printf 'POST /inkjet/keepalive-drop HTTP/1.1\r\nContent-Length: 1\r\n\r\n2' >&9
	run -0 rest
	[ "$(grep -c HTTP/1.1 <<<"$output")" = 1 ]
	[ "$(count inkjet requests)" = 2 ]
}

@test "keepalive-drop: shows a library that sends a POST again" {
	run -0 ask "$SHOP/inkjet/keepalive-drop" "$SHOP/inkjet/keepalive-drop"
	[ "$(count inkjet requests)" = 3 ]
}

@test "early-hints: a 103 before the 200" {
	run -0 ask -i "$SHOP/inkjet/early-hints"
	says 'HTTP/1.1 103 Early Hints' 'HTTP/1.1 200 OK' '"sheet":1'
}

@test "without a mode 100 Continue is sent, with 100-ignore it isn't" {
	run -0 ask -v -H 'Expect: 100-continue' "$SHOP/inkjet"
	says 'HTTP/1.1 100 Continue' '"sheet":1'
	run -0 ask -v --expect100-timeout 0.1 -H 'Expect: 100-continue' "$SHOP/inkjet/100-ignore"
	lacks '100 Continue'
	says '"sheet":2'
}

@test "417: to an Expect, while the request without it is served" {
	dial
	printf 'POST /inkjet/417 HTTP/1.1\r\nContent-Length: 3\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n' >&9
	run -0 rest
	says 'HTTP/1.1 417'
	[ "$(count inkjet sheets)" = 0 ]
	head -c 1200000 /dev/zero >"$BATS_TEST_TMPDIR/body"	# so large that libcurl expects by itself
	run -0 curl -sS -o /dev/null -w '%{http_code}' --data-binary "@$BATS_TEST_TMPDIR/body" "$SHOP/inkjet/417"
	[ "$output" = 200 ]
	run -0 counts
	says '"requests":3,"sheets":1'
}

# --- modes: the answer

@test "status: any code, with the default body" {
	run -0 ask -i "$SHOP/inkjet/status=502"
	says 'HTTP/1.1 502' '"sheet":1'
	run -0 ask -i "$SHOP/inkjet/status=204"
	says 'HTTP/1.1 204'
	lacks Content-Length
}

@test "status: only what leaves a doubt has printed" {
	run -0 ask "$SHOP/inkjet/status={200,202,301,302,303,408,500,502,503,504,599}"
	[ "$(grep -o '"sheet":[0-9]*' <<<"$output" | wc -l)" = 11 ]
	run -0 ask "$SHOP/inkjet/status={307,308,400,404,409,425,429,501,505}" "$SHOP/inkjet/status=503/retry-after=1"
	[ "$(grep -o '"sheet":null' <<<"$output" | wc -l)" = 10 ]
	[ "$(count inkjet sheets)" = 11 ]
}

@test "retry-after: seconds, dates and doubled" {
	run -0 ask -i "$SHOP/inkjet/status=429/retry-after=2"
	says 'HTTP/1.1 429' $'Retry-After: 2\r'
	run -0 ask -i "$SHOP/inkjet/status=503,retry-after=Sun%2C%2006%20Nov%201994%2008:49:37%20GMT"
	says $'Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r'
	mode inkjet 'status=429,retry-after=Sunday%2C%2006-Nov-94%2008:49:37%20GMT,retry-after=Sun%20Nov%20%206%2008:49:37%201994'
	run -0 ask -i "$SHOP/inkjet"
	says $'Retry-After: Sunday, 06-Nov-94 08:49:37 GMT\r' $'Retry-After: Sun Nov  6 08:49:37 1994\r'
}

@test "redirect: to another printer, which is counted" {
	for code in 301 302 303 307 308; do
		run -0 ask -i "$SHOP/inkjet/redirect=$code"
		says "HTTP/1.1 $code" 'Location: /inkjet-elsewhere/here'
	done
	run -0 counts
	lacks elsewhere
	run -0 ask -L "$SHOP/inkjet/redirect=307"
	says '"printer":"inkjet-elsewhere"'
	[ "$(count inkjet-elsewhere requests)" = 1 ]
}

@test "nobody: 200 with Content-Length 0" {
	run -0 ask -i "$SHOP/inkjet/nobody"
	says 'HTTP/1.1 200' 'Content-Length: 0'
	lacks '{'
}

@test "204: no body and no length" {
	run -0 ask -i "$SHOP/inkjet/204"
	says 'HTTP/1.1 204'
	lacks Content-Length
	lacks '{'
}

@test "gzip: whole, for small and large bodies" {
	ask "$SHOP/inkjet/gzip" | gzip -dc | grep -q '"sheet":1,"key":null}'
	[ "$(ask "$SHOP/inkjet/gzip/big=200000" | gzip -dc | wc -c)" = 200000 ]
	[ "$(ask "$SHOP/inkjet/gzip/body=" | gzip -dc | wc -c)" = 0 ]
	run -0 ask --compressed "$SHOP/inkjet/gzip"
	says '"sheet":4'
}

@test "bad-gzip: called gzip, and plain" {
	run -61 ask --compressed "$SHOP/inkjet/bad-gzip"
	run -0 ask -i "$SHOP/inkjet/bad-gzip"
	says 'Content-Encoding: gzip' '"sheet":2'
}

@test "big: a JSON string of that many bytes" {
	ask "$SHOP/inkjet/big=3000000" >"$BATS_TEST_TMPDIR/big"
	[ "$(wc -c <"$BATS_TEST_TMPDIR/big")" = 3000000 ]
	[ "$(head -c 2 "$BATS_TEST_TMPDIR/big")$(tail -c 2 "$BATS_TEST_TMPDIR/big")" = '"xx"' ]
}

@test "body and type: exactly as given" {
	run -0 ask -i "$SHOP/inkjet/body=%7B%22a%22%3A%2F%2C%00%7D/type=text%2Fhtml"
	says 'Content-Length: 9' 'Content-Type: text/html'
	ask "$SHOP/inkjet/body=a%00b%2F" | od -An -c | grep -q 'a  \\0   b   /'
}

@test "nonjson: plain text" {
	run -0 ask -i "$SHOP/inkjet/nonjson"
	says 'Content-Type: text/plain'
	[[ $output == *$'\nprinted' ]]
}

@test "dup-member, nan and fence: JSON for the eye only" {
	run -0 ask "$SHOP/inkjet/dup-member"
	[ "$output" = '{"copies":1,"sheet":1,"copies":2}' ]
	run -0 ask "$SHOP/inkjet/nan"
	[ "$output" = '{"copies":NaN,"sheet":2}' ]
	run -0 ask "$SHOP/inkjet/fence"
	[ "$output" = $'```json\n{"printer":"inkjet","copies":1,"sheet":3,"key":null}\n```' ]
}

@test "echo: the exact body and the headers" {
	run -0 curl -sS -H 'X-Ink: "black"' --data-binary '{ "n": 1.0e0 }' "$SHOP/inkjet/echo"
	says '{"received":{ "n": 1.0e0 },"headers":{' '"x-ink":"\"black\""'
	run -0 curl -sS "$SHOP/inkjet/echo"
	says '{"received":null,'
}

@test "in-progress: 409, and nothing is printed" {
	run -0 ask -i -H 'Idempotency-Key: a' "$SHOP/inkjet/in-progress"
	says 'HTTP/1.1 409' '{"error":"in-progress","key":"a"}'
	[ "$(count inkjet sheets)" = 0 ]
}

@test "honour: a key is printed once, and its answer comes again byte by byte" {
	run -0 ask -i -H 'Idempotency-Key: a' "$SHOP/inkjet/honour"
	lacks Idempotent-Replayed
	first=${output##*$'\n'}
	ask -H 'Idempotency-Key: b' "$SHOP/inkjet/honour"
	run -0 ask -i -H 'Idempotency-Key: a' "$SHOP/inkjet/honour"
	says 'Idempotent-Replayed: true'
	[ "${output##*$'\n'}" = "$first" ]
	ask "$SHOP/inkjet/honour" "$SHOP/inkjet/honour"
	run -0 counts
	says '"requests":5,"sheets":4,"distinct_keys":2'
}

@test "honour: what was printed behind a lost answer isn't printed again" {
	for fault in reset empty cut garbage status=502; do
		ask -o /dev/null -H "Idempotency-Key: $fault" "$SHOP/inkjet/honour/$fault" || true
	done
	[ "$(count inkjet sheets)" = 5 ]
	run -0 ask -i -H 'Idempotency-Key: empty' "$SHOP/inkjet/honour"
	says 'Idempotent-Replayed: true' '"sheet":2,"key":"empty"'
	[ "$(count inkjet sheets)" = 5 ]
}

@test "honour: a refusal isn't kept" {
	ask -H 'Idempotency-Key: a' "$SHOP/inkjet/honour/status=429"
	run -0 ask -H 'Idempotency-Key: a' "$SHOP/inkjet/honour"
	says '"sheet":1'
}

# --- hostile bytes

@test "what isn't a request is refused and closed" {
	local long big
	long=$(head -c 70000 /dev/zero | tr '\0' a)
	big=$(for i in {1..200}; do printf 'h%s: 1\\r\\n' "$i"; done)
	while read -r want bytes; do
		dial
		printf "$bytes" >&9
		run -0 rest
		[[ $output == "HTTP/1.1 $want"* ]] || { echo "$want ${bytes:0:60}: $output"; return 1; }
	done <<-ROWS
		400 \x16\x03\x01
		400 GET /inkjet HTTP/1.1\n\n
		400 GET /inkjet HTTP/2.0\r\n\r\n
		400 GET inkjet HTTP/1.1\r\n\r\n
		400 GET  /inkjet HTTP/1.1\r\n\r\n
		400 GET /inkjet HTTP/1.1\r\nno colon\r\n\r\n
		400 GET /inkjet HTTP/1.1\r\na: b\r\n folded\r\n\r\n
		400 GET /inkjet HTTP/1.1\r\na : b\r\n\r\n
		400 GET /inkjet HTTP/1.1\r\na: \x00\r\n\r\n
		400 POST /inkjet HTTP/1.1\r\nContent-Length: -1\r\n\r\n
		400 POST /inkjet HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n1
		400 POST /inkjet HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n
		413 POST /inkjet HTTP/1.1\r\nContent-Length: 8388609\r\n\r\n
		400 POST /inkjet HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n
		400 POST /inkjet HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n
		400 POST /inkjet HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n
		400 POST /inkjet HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n
		413 POST /inkjet HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n800001\r\n
		431 GET /inkjet/$long HTTP/1.1\r\n\r\n
		431 GET /inkjet HTTP/1.1\r\n$big\r\n
	ROWS
	run -0 ask "$SHOP/inkjet"
}

# --- chats and tokenizers

CHAT='{"model":"m-1","messages":[{"role":"system","content":"Answer in capital letters, as JSON: text, words and amount."},
	{"role":"user","content":"pay 12.50 to \"Zo\u00eb\""}],"response_format":{"json_schema":{"schema":{"required":["text","words","amount"]}}}}'

@test "a chat answers from the model's name, the system message and the user's" {
	run -0 curl -sS -m 5 -d "$CHAT" "$SHOP/chat/chat"
	[ "$(jq -r '[.model, .choices[0].finish_reason, .choices[0].message.content] | join(" ")' <<<"$output")" = \
		'm-1 stop {"text": "PAY 12.50 TO \"ZOë\"", "words": 4, "amount": 12.50}' ]
	[ "$(count chat sheets)" = 1 ]
	run -0 curl -sS -m 5 -d '{"model":"m-1","messages":[{"role":"user","content":"hello"}]}' "$SHOP/chat/chat"
	[ "$(jq -r '.choices[0].message.content' <<<"$output")" = 'You said: hello' ]
	run -0 curl -sS -m 5 -o /dev/null -w '%{http_code}' -d '{"model":"m-1"}' "$SHOP/chat/chat"
	[ "$output" = 400 ]
}

@test "each way to miss what a chat was asked for does so" {
	local way want filter='[(.error.code // .model), .choices[0].finish_reason, .choices[0].message.content]'

	while read -r way want; do
		run -0 curl -sS -m 5 -d "$CHAT" "$SHOP/chat/chat=$way"
		# shellcheck disable=SC2053 # a pattern
		[[ $(jq -c "$filter" <<<"$output") == $want ]] || { echo "$way: $output"; return 1; }
	done <<-'ROWS'
		error-429 \[429,null,null\]
		error-503 \[503,null,null\]
		choice-error \["m-1","error",""\]
		fence \["m-1","stop","```json?n{*}?n```"\]
		prose-fence \["m-1","stop","Here*```json?n{*}?n```"\]
		prose \["m-1","stop","Sure!*{*}*else?"\]
		length-cut \["m-1","length","{*[!}]"\]
		length-whole \["m-1","length","{*}"\]
		length-null \["m-1","length",null\]
		refusal \["m-1","stop",null\]
		refusal-empty \["m-1","stop",""\]
		filter \["m-1","content_filter",""\]
		tool-call \["m-1","tool_calls",null\]
		other-model \["substitute","stop","{*}"\]
		no-schema \["m-1","stop","You?said:*"\]
		no-system \["m-1","stop","{*pay*}"\]
		system-refused \[400,null,null\]
		schema-echo \["m-1","stop","{*required*}"\]
		extra-key \["m-1","stop","{*confidence*}"\]
		wrapper \["m-1","stop","{*result*{*}}"\]
	ROWS
	[ "$(count chat sheets)" = 19 ]	# a refusal by status prints nothing
	run -0 curl -sS -m 5 -d "$CHAT" "$SHOP/chat/chat=stream"
	says 'data: {' '[DONE]'
	run -0 curl -sS -m 5 -d "$CHAT" "$SHOP/chat/chat=stream-cut"
	[ "$(grep -c '^data: ' <<<"$output")" = 5 ]
}

@test "a short chat reads the first 64 bytes of the text" {
	local text

	text=$(printf '%.0s1234 6789 ' {1..7})
	run -0 curl -sS -m 5 -d "{\"model\":\"m\",\"messages\":[{\"role\":\"system\",\"content\":\"JSON: text\"},{\"role\":\"user\",\"content\":\"$text\"}]}" "$SHOP/s/chat=short"
	[ "$(jq -r '.choices[0].message.content | fromjson | .text' <<<"$output")" = "${text:0:64}" ]
}

@test "a tokenizer's tokens make the text again, in llama.cpp's form and in vLLM's" {
	run -0 curl -sS -m 5 -d '{"content":"a  \u00e9"}' "$SHOP/t/chat=tokenize"
	[ "$output" = '{"tokens": [97,32,32,195,169]}' ]
	run -0 curl -sS -m 5 -d "$output" "$SHOP/t/chat=detokenize"
	[ "$output" = '{"content": "a  é"}' ]
	run -0 curl -sS -m 5 -d '{"model":"m","prompt":"ab"}' "$SHOP/t/chat=tokenize"
	[ "$output" = '{"count": 2, "max_model_len": 4096, "tokens": [97,98]}' ]
	run -0 curl -sS -m 5 -d '{"model":"m","tokens":[97,32,32,195,169]}' "$SHOP/t/chat=detokenize-lossy"
	[ "$output" = '{"prompt": "a ??"}' ]
}

@test "an upload at the limit is taken, whole and chunked" {
	head -c 8388608 /dev/zero >"$BATS_TEST_TMPDIR/body"
	run -0 curl -sS -o /dev/null -w '%{http_code}' --data-binary "@$BATS_TEST_TMPDIR/body" "$SHOP/inkjet"
	[ "$output" = 200 ]
	run -0 curl -sS -o /dev/null -w '%{http_code}' -T - "$SHOP/inkjet" <"$BATS_TEST_TMPDIR/body"
	[ "$output" = 200 ]
}

@test "noise doesn't bring it down" {
	for i in {1..100}; do
		dial
		{ printf 'POST /inkjet HTTP/1.1\r\n'; head -c $((i * 20)) /dev/urandom; } >&9 2>/dev/null || true
		exec 9>&-
	done
	run -0 ask "$SHOP/laser"
	says '"sheet":1'
}

@test "it writes its pid file, ends on SIGTERM and SIGINT with status 0 and takes the file away" {
	for signal in TERM INT; do
		local file=$BATS_TEST_TMPDIR/pid
		mkfifo "$BATS_TEST_TMPDIR/ready-$signal"
		(trap - INT; exec "$PRINTSHOP" --port 0 --pid-file "$file" >"$BATS_TEST_TMPDIR/ready-$signal" 3>&-) &
		read -r -t 10 line <"$BATS_TEST_TMPDIR/ready-$signal"
		[ "$(cat "$file")" = $! ]
		kill -"$signal" $!
		wait $!
		[ ! -e "$file" ]
	done
}

@test "a wrong command line is refused" {
	for line in '' '--port' '--port x' '--port 65536' '--port -1' '--port 0 more' '--por 0 --nothing'; do
		run -2 "$PRINTSHOP" $line
		says usage
	done
	run -1 "$PRINTSHOP" --port "$SHOP_PORT"
	says 'cannot start'
}
