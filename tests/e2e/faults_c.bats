#!/usr/bin/env bats
# shellcheck disable=SC2034,SC2154,SC2155 # words and variables that stack.bash, front.bash and work.bash share
# Time-outs and unknown outcomes, each through the whole product: what the provider does, what becomes of the attempt and the
# job, how many requests there were, and what may start afterwards.

load stack
load front
load work

SECRET_ENV=s3cr3t-of-the-environment-41c7
SECRET_FILE=s3cr3t-of-the-file-9be2

setup_file() {
	export ONEJOB_GRACE_SECONDS=1 ONEJOB_POLL_MS=20
	export SHOP_SECRET=$SECRET_ENV
	stack_up --workers 4
	printf '%s\n' "$SECRET_FILE" >"$STACK/secret"
	provider good /good
	black_hole
}

teardown_file() {
	kill "$HOLE" || true
	stack_down
}

# A port whose queue of connections is full: the kernel drops whoever asks for another (CLOSED_DOOR). And one that takes
# connections and never says a word (SILENT).
black_hole() {
	perl -MIO::Socket::INET -e '
		my @held;
		my $full = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1:0") or die;
		my $silent = IO::Socket::INET->new(Listen => 64, LocalAddr => "127.0.0.1:0") or die;
		for (1 .. 4) {
			push @held, IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $full->sockport, Blocking => 0);
		}
		select undef, undef, undef, 0.2;
		$| = 1;
		print $full->sockport, " ", $silent->sockport, "\n";
		sleep 600;' >"$STACK/ports" 2>/dev/null 3>&- &
	HOLE=$!
	wait_for 10 test -s "$STACK/ports"
	read -r CLOSED_DOOR SILENT <"$STACK/ports"
	export HOLE CLOSED_DOOR SILENT
}

# elsewhere NAME URL [MEMBERS] [MEMBERS OF THE JOB]: as start, but not at the shop.
elsewhere() {
	printf '{"url":"%s","connect_timeout_ms":300,"retry":{"base_ms":50,"max_ms":100}%s}' "$2" "${3:+,$3}" |
		onejob provider put "$1" - >/dev/null
	create "$1" "{\"provider\":\"$1\",\"input\":1${4:+,$4}}"
	is "created $1" "$status" 201
	job=$(field .id)
}

never_sent() { # ID ATTEMPTS
	settles "$1" failed 'failed not_sent never_sent null'
	is 'the job' "$(field '[.attempt_count, .error.reason, .advice] | tojson')" "[$2,\"never_sent\",\"new_attempt\"]"
	is 'keys used' "$(sql -e "SELECT DISTINCT generation FROM attempts WHERE job_id = x'${1//-/}'")" 0
	free "$1"
}

@test "c01 a refused connection was never sent: the attempt fails, and another may start at once" {
	elsewhere c01-refused http://127.0.0.1:1/ '' '"max_attempts":2'
	never_sent "$job" 2
}

@test "c01 a name that doesn't resolve was never sent" {
	elsewhere c01-unresolved http://no-such-host.invalid/ '' '"max_attempts":1'
	never_sent "$job" 1
}

@test "c02 a time-out after sending is unknown, and the answer that comes later can't land" {
	start c02 stall '"timeout_ms":300'
	settles "$job" unknown 'unknown sent timeout null'
	is version "$(field .version)" 0
	blocked "$job"
	shop '/shop/wait?printer=c02&hung_up=1' -f -o /dev/null
	shop '/shop/release?printer=c02' -X POST -o /dev/null
	blocked "$job"
	is 'wire requests' "$(wire c02)" 1
	is sheets "$(counts c02 sheets)" 1
}

@test "c03 a connect time-out that proves that nothing went out was never sent" {
	elsewhere c03-closed "http://127.0.0.1:$CLOSED_DOOR/" '' '"max_attempts":1'
	never_sent "$job" 1
	elsewhere c03-silent-tls "https://127.0.0.1:$SILENT/" '' '"max_attempts":1'
	never_sent "$job" 1
}

@test "c03 a time-out on a connection that stands is unknown" {
	elsewhere c03-silent "http://127.0.0.1:$SILENT/" '"timeout_ms":400'
	settles "$job" unknown 'unknown sent timeout null'
	blocked "$job"
}

@test "c04 a status of 200 beside a time-out is no success" {
	start c04 cut-stall '"timeout_ms":300'
	settles "$job" unknown 'unknown answer_begun timeout 200'
	blocked "$job"
	is 'wire requests' "$(wire c04)" 1
}

twice() { # NAME MODES [MEMBERS]: two jobs, one after the other
	start "$@"
	first=$job
	wait_for 15 settled "$first"
	create "$1-again" "{\"provider\":\"$1\",\"input\":2}"
	second=$(field .id)
	wait_for 15 settled "$second"
}

settled() {
	look "$1"
	case $(field .state) in queued | running) return 1 ;; esac
}

connections() { shop "/shop/requests?printer=$1" | jq -r '.[].connection' | sort -u | wc -l; }

@test "c05 two attempts at a provider that drops kept connections make two wire requests" {
	twice c05 keepalive-drop
	job_is "$first" succeeded
	job_is "$second" succeeded
	is 'wire requests' "$(wire c05)" 2
	is connections "$(connections c05)" 2
}

@test "c05 an answer dropped on a fresh connection is unknown, with one wire request" {
	start c05-empty empty
	settles "$job" unknown 'unknown sent empty null'
	blocked "$job"
	is 'wire requests' "$(wire c05-empty)" 1
}

@test "c05 connections are kept for a provider that honours keys, and for no other" {
	twice c05-plain ''
	is 'connections of a provider that does not' "$(connections c05-plain)" 2
	twice c05-honours honour '"idempotency":{"honoured":true}'
	is 'connections of one that does' "$(connections c05-honours)" 1
	is 'wire requests' "$(wire c05-honours)" 2
	is 'sheets' "$(counts c05-honours sheets)" 2
}

@test "c05 libcurl does repeat a request on a kept connection that was dropped, and then under the same key" {
	twice c05-trap honour/keepalive-drop '"idempotency":{"honoured":true}'
	within 'wire requests' "$(wire c05-trap)" 3 4
	is keys "$(counts c05-trap distinct_keys)" 2
	is sheets "$(counts c05-trap sheets)" 2
}

@test "c06 500, 502, 503, 504 and 408 are unknown, and nothing repeats them" {
	local code jobs=()
	for code in 500 502 503 504 408; do
		start "c06-$code" "status=$code"
		jobs[code]=$job
	done
	for code in 500 502 503 504 408; do
		settles "${jobs[$code]}" unknown "unknown answer_begun gateway $code"
		job=${jobs[$code]}
		blocked "$job"
		is "wire requests of $code" "$(wire "c06-$code")" 1
	done
}

@test "c06 what a provider's own row says of a status counts" {
	start c06-failed status=502 '"outcomes":{"502":"failed"}'
	settles "$job" failed 'failed answer_begun provider_failed 502'
	is attempts "$(field .attempt_count)" 1
	free "$job"
	start c06-retry status=500 '"outcomes":{"500":"retry"}' '"max_attempts":2'
	settles "$job" failed 'failed answer_begun retry_later 500'
	is attempts "$(field .attempt_count)" 2
	start c06-unknown status=404 '"outcomes":{"404":"unknown"}'
	settles "$job" unknown 'unknown answer_begun gateway 404'
	blocked "$job"
	start c06-succeeded status=500 '"outcomes":{"500":"succeeded"}'
	settles "$job" succeeded 'succeeded answer_begun null 500'
	is sheet "$(field .result.sheet)" 1
	start c06-200 '' '"outcomes":{"200":"failed"}'
	settles "$job" failed 'failed answer_begun provider_failed 200'
}

@test "c06 a plain 4xx, a 501 and a 505 fail for good, by one request" {
	local code
	for code in 400 401 404 409 422 501 505; do
		start "c06-plain-$code" "status=$code"
		settles "$job" failed "failed answer_begun refused $code"
		is "the job with $code" "$(field '[.attempt_count, .advice] | tojson')" '[1,"new_attempt"]'
		is "wire requests of $code" "$(wire "c06-plain-$code")" 1
	done
	free "$job"
}

@test "c06 the key says -0 until the provider has answered with a failure, then -1" {
	local key
	start c06-generation status=429 '' '"max_attempts":2'
	key=$job
	settles "$job" failed 'failed answer_begun retry_later 429'
	is keys "$(shop '/shop/requests?printer=c06-generation' | jq -r '.[].key' | xargs)" "$key-0 $key-1"
}

@test "c06 a request that was never sent, and one that was released, keep the key" {
	elsewhere c01-then-here http://127.0.0.1:1/ '"enabled":true' '"max_attempts":2'
	wait_job "$job" failed
	provider c01-then-here /c01-then-here/stall '"timeout_ms":300'
	api POST "/v1/jobs/$job/attempts" -d '{}'
	is 'asked for' "$status" 202
	wait_job "$job" unknown
	operator POST "/v1/attempts/$(field '.attempts[-1].id')/settle" -d '{"outcome":"released","provider":"c01-then-here"}'
	is released "$status" 200
	wait_job "$job" unknown
	is keys "$(shop '/shop/requests?printer=c01-then-here' | jq -r '.[].key' | sort -u)" "$job-0"
	is 'wire requests' "$(wire c01-then-here)" 2
}

http_date() { # FORM SECONDS from now
	case $1 in
	imf) date -u -d "+$2 seconds" '+%a, %d %b %Y %T GMT' ;;
	rfc850) date -u -d "+$2 seconds" '+%A, %d-%b-%y %T GMT' ;;
	asctime) date -u -d "+$2 seconds" '+%a %b %e %T %Y' ;;
	esac
}

enc() { jq -rn --arg x "$1" '$x | @uri'; }

later() { # NAME MODES [MEMBERS]: two attempts, both told to come later
	start "c07-$1" "$2" "${3-}" '"max_attempts":2'
	printf -v "later_${1//-/_}" %s "$job"
}

two_gap() { # ID MIN MAX
	settles "$1" failed 'failed answer_begun retry_later 429'
	is attempts "$(field .attempt_count)" 2
	within "gap of $(field .provider)" "$(gap_ms 1)" "$2" "$3"
}

@test "c07 Retry-After in seconds and in three date forms is waited for; unreadable, doubled or past ones aren't" {
	local form at
	later seconds status=429/retry-after=2
	later doubled status=429/retry-after=60/retry-after=60
	later fraction status=429/retry-after=1.5
	later negative status=429/retry-after=-5
	later absent status=429
	later past "status=429/retry-after=$(enc "$(http_date imf -100)")"
	at=$(date +%s)
	for form in imf rfc850 asctime; do
		later "$form" "status=429/retry-after=$(enc "$(http_date "$form" 4)")"
	done
	two_gap "$later_doubled" 25 1500
	two_gap "$later_fraction" 25 1400
	two_gap "$later_negative" 25 1500
	two_gap "$later_absent" 25 1500
	two_gap "$later_past" 25 1500
	two_gap "$later_seconds" 2000 4500
	for form in imf rfc850 asctime; do
		job=later_$form
		two_gap "${!job}" 300 6000
		# It was told a whole second, the fourth after that of `at` or a later one.
		[ "$(date -u -d "$(field '.attempts[1].started_at')" +%s)" -ge $((at + 4)) ] || { echo "$form: too early: $body" >&2; return 1; }
	done
}

@test "c07 a wait is capped at a day" {
	start c07-cap status=429/retry-after=999999999
	wait_job "$job" queued
	wait_for 10 eval '[ "$(wire c07-cap)" = 1 ] && job_is "$job" queued'
	within 'seconds to go' "$(sql -e "SELECT TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(6), run_after) FROM jobs WHERE id = x'${job//-/}'")" 86380 86400
}

@test "c07 503 with Retry-After and 425 are refusals that may be tried again" {
	start c07-503 status=503/retry-after=0 '' '"max_attempts":2'
	settles "$job" failed 'failed answer_begun retry_later 503'
	is attempts "$(field .attempt_count)" 2
	start c07-425 status=425 '' '"max_attempts":2'
	settles "$job" failed 'failed answer_begun retry_later 425'
	is attempts "$(field .attempt_count)" 2
	free "$job"
}

@test "c07 a named provider's Retry-After holds for a request, too" {
	start c07-asked status=429/retry-after=3 '' '"max_attempts":1'
	wait_job "$job" failed
	api POST "/v1/jobs/$job/attempts" -d '{"provider":"c07-asked"}'
	is 'asked for' "$status" 202
	wait_for 10 eval 'look "$job"; [ "$(field .attempt_count)" = 2 ]'
	within gap "$(gap_ms 1)" 3000 5500
}

@test "c07 back-off doubles up to its bound, and its random part lies between the half and the whole" {
	local n gaps
	printf '{"url":"http://127.0.0.1:1/","retry":{"base_ms":400,"max_ms":800}}' | onejob provider put c07-backoff - >/dev/null
	FLOOD_MEMBERS=',\"max_attempts\":4' flood "$BATS_TEST_TMPDIR/backoff" 1 20 c07-backoff
	wait_for 30 eval '[ "$(sql -e "SELECT COUNT(*) FROM jobs WHERE provider = '"'c07-backoff'"' AND state = '"'failed'"'")" = 20 ]'
	for n in 1 2 3; do
		gaps=$(sql -e "SELECT TIMESTAMPDIFF(MICROSECOND, a.started_at, b.started_at) DIV 1000 AS gap FROM attempts a JOIN attempts b ON b.job_id = a.job_id AND b.number = a.number + 1 WHERE a.provider = 'c07-backoff' AND a.number = $n ORDER BY gap")
		is "gaps $n" "$(wc -l <<<"$gaps")" 20
		within "the least of gaps $n" "$(head -1 <<<"$gaps")" $((n == 1 ? 200 : 400)) $((n == 1 ? 400 : 800))
		within "the greatest of gaps $n" "$(tail -1 <<<"$gaps")" $((n == 1 ? 200 : 400)) $((n == 1 ? 1200 : 1600))
		# Uniform over two hundred milliseconds at least: that twenty lie within thirty doesn't happen.
		within "the spread of gaps $n" $(($(tail -1 <<<"$gaps") - $(head -1 <<<"$gaps"))) 30 1400
	done
	is 'attempts' "$(sql -e "SELECT COUNT(*) FROM attempts WHERE provider = 'c07-backoff'")" 80
}

@test "c08 a redirect is never followed: 301, 302 and 303 are unknown, 307 and 308 failed" {
	local code
	for code in 301 302 303; do
		start "c08-$code" "redirect=$code"
		settles "$job" unknown "unknown answer_begun redirect $code"
		blocked "$job"
		is "wire requests of $code" "$(wire "c08-$code")" 1
		is "at the second address" "$(wire "c08-$code-elsewhere")" 0
	done
	for code in 307 308; do
		start "c08-$code" "redirect=$code"
		settles "$job" failed "failed answer_begun redirect $code"
		is attempts "$(field .attempt_count)" 1
		is "wire requests of $code" "$(wire "c08-$code")" 1
		is "at the second address" "$(wire "c08-$code-elsewhere")" 0
		free "$job"
	done
}

# doubtful NAME MODES ATTEMPT_WORDS [MEMBERS]. What unknown blocks is shown by the others.
doubtful() {
	start "$1" "$2" "${4-}"
	settles "$job" unknown "$3"
	is "the job of $1" "$(field '[.attempt_count, .version, .result, .advice] | tojson')" '[1,0,null,"ask_operator"]'
	is "wire requests of $1" "$(wire "$1")" 1
}

@test "c09 a cut body is unknown, even if what has come is JSON" {
	doubtful c09-cut 'cut/body=%5B1%5D' 'unknown answer_begun truncated 200'
	doubtful c09-chunked chunked-cut 'unknown answer_begun truncated 200'
	doubtful c09-close close-cut 'unknown answer_begun truncated 200'
	doubtful c09-number close-delimited/body=12 'unknown answer_begun truncated 200'
}

@test "c09 a 2xx without a body is unknown, unless the row says what it means" {
	doubtful c09-nobody nobody 'unknown answer_begun empty 200'
	doubtful c09-204 204 'unknown answer_begun empty 204'
	start c09-empty-succeeded nobody '"outcomes":{"empty":"succeeded"}'
	settles "$job" succeeded 'succeeded answer_begun null 200'
	is result "$(jq -c '[has("result"), .result]' <<<"$body")" '[true,null]'
	start c09-204-succeeded 204 '"outcomes":{"empty":"succeeded"}'
	settles "$job" succeeded 'succeeded answer_begun null 204'
	start c09-empty-failed 204 '"outcomes":{"empty":"failed"}'
	settles "$job" failed 'failed answer_begun provider_failed 204'
	start c09-empty-retry nobody '"outcomes":{"empty":"retry"}' '"max_attempts":2'
	settles "$job" failed 'failed answer_begun retry_later 200'
	is attempts "$(field .attempt_count)" 2
}

@test "c10 a provider that always times out gets as many requests as there are attempts" {
	start c10 stall '"timeout_ms":300' '"max_attempts":5'
	settles "$job" unknown 'unknown sent timeout null'
	is attempts "$(field .attempt_count)" 1
	is 'wire requests' "$(wire c10)" 1
	operator POST "/v1/attempts/$(field '.attempts[0].id')/settle" -d '{"outcome":"released"}'
	wait_job "$job" unknown
	is attempts "$(field .attempt_count)" 2
	is 'wire requests' "$(wire c10)" 2
}

# An input above libcurl's own bound (1 MiB) can't come through the front door as it stands, so it is put into the row.
heavy() { # NAME MODES
	start "$1" "$2" '"timeout_ms":5000' "\"not_before\":\"$(in_ms 60000)\""
	sql -e "UPDATE jobs SET input = CONCAT('\"', REPEAT('x', 1300000), '\"'), not_before = NULL, run_after = UTC_TIMESTAMP(6) WHERE id = x'${job//-/}'"
	wait_job "$job" succeeded
	is 'wire requests' "$(wire "$1")" 1
	is 'Expect' "$(shop "/shop/requests?printer=$1" | jq -r '.[0].headers | keys[] | ascii_downcase' | grep -c '^expect$')" 0
	within 'milliseconds' "$(($(date -u -d "$(field '.attempts[0].finished_at')" +%s%N) / 1000000 - $(date -u -d "$(field '.attempts[0].started_at')" +%s%N) / 1000000))" 0 900
}

@test "c11 a large body goes out without Expect, without a hidden second and once" {
	heavy c11-ignore 100-ignore
	heavy c11-417 417
}

@test "a reset after the request is unknown, and so is one in the middle of it" {
	doubtful reset reset 'unknown sent connection_reset null'
	doubtful reset-early reset-early 'unknown sent connection_reset null'
}

@test "bytes that aren't HTTP, and a body that doesn't fit its Content-Encoding, are unknown" {
	doubtful garbage garbage 'unknown answer_begun malformed null'
	doubtful bad-gzip bad-gzip 'unknown answer_begun malformed 200'
}

@test "gzip, chunks, a close-delimited whole text and early hints are fine" {
	local modes
	for modes in gzip chunked close-delimited early-hints; do
		start "fine-$modes" "$modes"
		settles "$job" succeeded 'succeeded answer_begun null 200'
		is "sheet of $modes" "$(field .result.sheet)" 1
	done
}

unusable() { # NAME MODES REASON [MEMBERS]
	start "$1" "$2" "${4-}"
	settles "$job" failed "failed answer_begun $3 200"
	is "the job of $1" "$(field '[.attempt_count, .error.reason, .result, .advice] | tojson')" "[1,\"$3\",null,\"ask_operator\"]"
	is "wire requests of $1" "$(wire "$1")" 1
}

@test "a whole answer that can't be used fails, after an effect: only an operator may start another" {
	unusable two-lengths two-lengths contract_violation
	unusable nonjson nonjson contract_violation
	unusable dup-member dup-member contract_violation
	unusable nan nan contract_violation
	unusable fence fence contract_violation
	unusable too-large big=5000 too_large '"max_result_bytes":4999'
	api POST "/v1/jobs/$job/attempts" -d '{}'
	refused 409 effect-done
	operator POST "/v1/jobs/$job/attempts" -d '{"provider":"good"}'
	is 'an operator' "$status" 202
	wait_job "$job" succeeded
}

@test "without side effects an answer that can't be used leaves the way free" {
	start harmless nonjson '"side_effects":false'
	settles "$job" failed 'failed answer_begun contract_violation 200'
	is advice "$(field .advice)" new_attempt
	free "$job"
}

@test "a result as large as allowed lands" {
	start just-right big=5000 '"max_result_bytes":5000'
	settles "$job" succeeded 'succeeded answer_begun null 200'
	is length "$(field '.result | length')" 4998
}

point() { # NAME RESULT_MEMBER BODY WANT: the result, byte for byte
	start "$1" "body=$(enc "$3")" "\"result\":$2"
	settles "$job" succeeded 'succeeded answer_begun null 200'
	[[ $body == *"\"result\":$4,"* ]] || { printf 'want %s in %s\n' "$4" "$body" >&2; return 1; }
}

@test "the result is what stands at the pointer, to the digit" {
	local reply='{"a":{"b":[1.50, "{\"k\" : 1e2}"], "c/d~e":{"x" :9007199254740993}}}'
	point at-number '{"pointer":"/a/b/0"}' "$reply" 1.50
	point at-object '{"pointer":"/a/c~1d~0e","as":"value"}' "$reply" '{"x" :9007199254740993}'
	point at-json '{"pointer":"/a/b/1","as":"json"}' "$reply" '{"k" : 1e2}'
	point at-text '{"pointer":"/a/b/1","as":"text"}' "$reply" '"{\"k\" : 1e2}"'
	point as-text '{"pointer":"","as":"text"}' 'printed "well"' '"printed \"well\""'
}

@test "a pointer to nothing, to no string or to no JSON breaks the contract; a text that only a close ends is unknown" {
	unusable at-nothing body=%7B%7D contract_violation '"result":{"pointer":"/a"}'
	unusable at-no-string body=%5B1%5D contract_violation '"result":{"pointer":"/0","as":"text"}'
	unusable at-no-json body=%5B%22x%22%5D contract_violation '"result":{"pointer":"/0","as":"json"}'
	doubtful cut-text close-delimited/nonjson 'unknown answer_begun truncated 200' '"result":{"pointer":"","as":"text"}'
}

@test "max_attempts bounds what starts by itself; a request allows one more" {
	start bound status=429 '' '"max_attempts":3'
	settles "$job" failed 'failed answer_begun retry_later 429'
	is attempts "$(field .attempt_count)" 3
	api POST "/v1/jobs/$job/attempts" -d '{}'
	is 'asked for' "$status" 202
	wait_for 10 eval 'look "$job"; [ "$(field "[.state, .attempt_count] | join(\"-\")")" = failed-4 ]'
	is 'wire requests' "$(wire bound)" 4
}

@test "not_before is waited for" {
	local at
	at=$(in_ms 1500)
	start not-before '' '' "\"not_before\":\"$at\""
	is 'at first' "$(field .state)" queued
	wait_job "$job" succeeded
	[[ $(field '.attempts[0].started_at') > $at ]] || { echo "before $at: $body" >&2; return 1; }
}

@test "a job that has not started by expires_at fails with expired, without a request" {
	start expired '' '' "\"expires_at\":\"$(in_ms -1000)\""
	wait_job "$job" failed
	is error "$(field .error.reason)" expired
	is attempts "$(field .attempt_count)" 0
	start expires '' '"enabled":false' "\"expires_at\":\"$(in_ms 800)\""
	is 'at first' "$(field .state)" queued
	wait_job "$job" failed
	is error "$(field .error.reason)" expired
	is 'wire requests' "$(($(wire expired) + $(wire expires)))" 0
}

@test "a job that has started does not expire" {
	start started status=429/retry-after=1 '' "\"expires_at\":\"$(in_ms 900)\",\"max_attempts\":2"
	settles "$job" failed 'failed answer_begun retry_later 429'
	is attempts "$(field .attempt_count)" 2
}

@test "an attempt ends at deadline_at, in doubt; back-off that doesn't fit inside isn't begun; nothing starts after it" {
	start deadline stall '' "\"deadline_at\":\"$(in_ms 1200)\""
	settles "$job" unknown 'unknown sent deadline null'
	blocked "$job"
	start deadline-backoff status=429/retry-after=30 '' "\"deadline_at\":\"$(in_ms 5000)\""
	settles "$job" failed 'failed answer_begun retry_later 429' 4
	is attempts "$(field .attempt_count)" 1
	start deadline-past '' '' "\"deadline_at\":\"$(in_ms -1000)\""
	wait_job "$job" failed
	is error "$(field .error.reason)" deadline
	is 'wire requests' "$(wire deadline-past)" 0
}

@test "secrets reach the provider, and nothing else" {
	start secret '' "\"headers\":{\"Authorization\":\"Bearer \${env:SHOP_SECRET}\",\"X-Extra\":\"\${file:$STACK/secret}\"}"
	wait_job "$job" succeeded
	is 'headers' "$(shop '/shop/requests?printer=secret' | jq -r '.[0].headers | with_entries(.key |= ascii_downcase) | .authorization + " " + .["x-extra"]')" \
		"Bearer $SECRET_ENV $SECRET_FILE"
	nowhere "$SECRET_ENV"
	nowhere "$SECRET_FILE"
	operator GET /v1/providers/secret
	has 'the name' 'env:SHOP_SECRET' "$body"
	no grep -qF -e "$SECRET_ENV" -e "$SECRET_FILE" <<<"$body"
}

@test "a secret that is missing fails the attempt before anything is sent, may be tried again, and its name is told" {
	start secret-missing '' '"headers":{"Authorization":"${env:NO_SUCH_SECRET}"}' '"max_attempts":2'
	settles "$job" failed 'failed not_sent never_sent null'
	is attempts "$(field .attempt_count)" 2
	no grep -q NO_SUCH_SECRET <<<"$body"
	operator GET '/v1/attempts?state=failed'
	has 'the name, for operators' NO_SUCH_SECRET "$(field "[.attempts[] | select(.job_id == \"$job\") | .detail][0]")"
	start secret-no-file '' '"headers":{"Authorization":"${file:/no/such/file}"}' '"max_attempts":1'
	settles "$job" failed 'failed not_sent never_sent null'
	is 'wire requests' "$(($(wire secret-missing) + $(wire secret-no-file)))" 0
	free "$job"
}

@test "the provider sees the key, a traceparent and who asks" {
	local trace=4bf92f3577b34da6a3ce929d0e0e4736
	provider identity /identity/echo
	create identity '{"provider":"identity","input":{"n":1.0}}' -H "traceparent: 00-$trace-00f067aa0ba902b7-01"
	job=$(field .id)
	wait_job "$job" succeeded
	is key "$(shop '/shop/requests?printer=identity' | jq -r '.[0].key')" "$job-0"
	has trace "^00-$trace-[0-9a-f]{16}-01\$" "$(shop '/shop/requests?printer=identity' | jq -r '.[0].traceparent')"
	has 'user agent' '^onejob/' "$(shop '/shop/requests?printer=identity' | jq -r '.[0].user_agent')"
	[[ $body == *'"received":{"n":1.0}'* ]]
	start identity-made ''
	wait_job "$job" succeeded
	has trace '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$' "$(shop '/shop/requests?printer=identity-made' | jq -r '.[0].traceparent')"
}

@test "c10 over all of this file no attempt has made more than one request" {
	# libcurl does repeat where the provider honours keys; the test that proves it is left out.
	local trap

	trap=$(shop "/shop/requests?printer=c05-trap" | jq -r ".[].key" | tr -d - | sort -u)
	within "keys met" "$(wire_by_key | wc -l)" 60 1000
	sent_at_most_once "$trap"
}
