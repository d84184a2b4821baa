#!/usr/bin/env bats
# How a doubt is settled without a person: acknowledged work, callbacks, status queries, the same request again, a cancel that is
# passed on; and what owners are told.

load stack
load front
load work

setup_file() {
	printf '# the new one, then the old one\n%064d\n%064d\n' 7 8 >"$BATS_FILE_TMPDIR/keys"
	export ONEJOB_CALLBACK_KEYS=$BATS_FILE_TMPDIR/keys
	export ONEJOB_WEBHOOK_PRIVATE=1 WEBHOOK_SECRET=whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
	stack_up --workers 4
}

teardown_file() {
	stack_down
}

encoded() { jq -rn --arg x "$1" '$x | @uri'; }

callback_of() { # PRINTER: the URL that its last request carried
	shop "/shop/requests?printer=$1" | jq -r '.[-1].headers["x-callback"]'
}

called_back() { # URL BODY
	body=$(curl -sS --max-time 20 -w '\n%{http_code}' -X POST "$1" -d "$2")
	status=${body##*$'\n'}
	body=${body%$'\n'*}
}

accepted='"headers":{"X-Callback":"{{callback_url}}"},"accepted":{"reference":"/id"}'

@test "a 202 makes the attempt running, under the provider's reference, and nothing is sent again" {
	start taken "status=202,body=$(encoded '{"id":"w 1"}')" "$accepted"
	wait_for 15 job_is "$job" running
	wait_for 15 eval 'operator GET "/v1/attempts?state=running"; [ "$(field ".attempts[] | select(.job_id == \"$job\") | .reference")" = "w 1" ]'
	look "$job"
	is advice "$(field .advice)" wait
	api POST "/v1/jobs/$job/attempts" -d '{}'
	is 'another attempt' "$status" 409
	called_back "$(callback_of taken)" '{"outcome":"succeeded","result": {"n":1.00}}'
	is 'the callback' "$status $body" '200 {"accepted":true}'
	look "$job"
	is 'the job' "$(field .state) $(grep -o '"result":{"n":1.00}' <<<"$body")" 'succeeded "result":{"n":1.00}'
	is 'wire requests' "$(wire taken)" 1
}

@test "a callback is accepted once; a contradiction is a race; a forged one finds nothing" {
	start once "status=202,body=$(encoded '{"id":"o"}')" "$accepted"
	wait_for 15 job_is "$job" running
	url=$(callback_of once)
	called_back "${url%?}" '{"outcome":"failed"}'
	is forged "$status" 404
	called_back "$url" '{"outcome":"succeeded","result":1}'
	is first "$body" '{"accepted":true}'
	called_back "$url" '{"outcome":"succeeded","result":1}'
	is again "$(field .accepted)" false
	called_back "$url" '{"outcome":"succeeded","result":2}'
	is contradiction "$(field .accepted)" false
	races_are_counted
	operator GET /v1/races
	is race "$(field '[.races[] | select(.job_id == "'"$job"'") | .why] | join(" ")')" contradiction
	look "$job"
	is result "$(field .result)" 1
}

@test "a callback settles an unknown attempt, and one before the provider's own answer settles too" {
	start silent stall "\"timeout_ms\":300,$accepted"
	wait_job "$job" unknown
	called_back "$(callback_of silent)" '{"outcome":"failed","error":"out of paper"}'
	is 'the callback' "$body" '{"accepted":true}'
	look "$job"
	is 'the job' "$(field '.state + " " + .error.reason')" 'failed provider_failed'
	start early 'delay=2000' "\"timeout_ms\":20000,$accepted"
	wait_for 15 eval '[ "$(wire early)" = 1 ]'
	called_back "$(callback_of early)" '{"outcome":"succeeded","result":"first"}'
	is 'the early one' "$body" '{"accepted":true}'
	shop "/shop/wait?printer=early&open=0&timeout_ms=10000" >/dev/null
	wait_for 15 eval 'operator GET /v1/races; [ -n "$(field ".races[] | select(.job_id == \"$job\") | .why")" ]'
	look "$job"
	is 'the result' "$(field .result)" first
}

@test "an oversized callback is refused, and a word of an operator's is kept with who, when and why" {
	start large "status=202,body=$(encoded '{"id":"l"}')" "$accepted"
	wait_for 15 job_is "$job" running
	head -c 1048577 /dev/zero | tr '\0' ' ' >"$BATS_TEST_TMPDIR/large"
	status=$(curl -sS --max-time 20 -o /dev/null -w '%{http_code}' -X POST "$(callback_of large)" --data-binary "@$BATS_TEST_TMPDIR/large")
	is oversized "$status" 413
	look "$job"
	operator POST "/v1/attempts/$(field '.attempts[0].id')/settle" -d '{"outcome":"released","note":"asked by phone"}'
	is settle "$status" 200
	operator GET '/v1/attempts?state=released'
	is 'who and why' "$(field ".attempts[] | select(.job_id == \"$job\") | .settled_by + \": \" + .note")" 'ops: asked by phone'
	[[ "$(field ".attempts[] | select(.job_id == \"$job\") | .settled_at")" == 20*Z ]]
	api POST "/v1/jobs/$job/cancel"
}

@test "acknowledged work without an answer is unknown after its deadline" {
	start overdue "status=202,body=$(encoded '{"id":"o"}')" '"accepted":{"reference":"/id","deadline_ms":1000}'
	wait_for 15 job_is "$job" running
	settles "$job" unknown 'unknown answer_begun timeout 202' 20
}

@test "a status query settles; working waits, what isn't understood keeps the doubt, and each question is on record" {
	status="\"status\":{\"url\":\"$PRINTSHOP_URL/asked/{{reference}}?job={{job.id}}\",\"state\":\"/state\",\"map\":{\"done\":\"succeeded\",\"busy\":\"working\"},\"result\":\"/r\"}"
	curl -sS -G -X PUT "$PRINTSHOP_URL/shop/mode" --data-urlencode printer=asked --data-urlencode "mode=body=$(encoded '{"state":"busy"}')" >/dev/null
	start querying "status=202,body=$(encoded '{"id":"here"}')" "\"accepted\":{\"reference\":\"/id\"},$status"
	wait_for 20 eval '[ "$(wire asked)" -ge 2 ]'
	look "$job"
	is 'while working' "$(field '.state + " " + .advice')" 'running wait'
	wait_for 15 eval 'operator GET "/v1/attempts?state=running"; [[ "$(field ".attempts[] | select(.job_id == \"$job\") | .last_answer")" == *busy* ]]'
	[ "$(field ".attempts[] | select(.job_id == \"$job\") | .asked")" -ge 1 ]
	curl -sS -G -X PUT "$PRINTSHOP_URL/shop/mode" --data-urlencode printer=asked --data-urlencode "mode=body=$(encoded '{"state":"?"}')" >/dev/null
	before=$(wire asked)
	wait_for 20 eval '[ "$(wire asked)" -ge '$((before + 2))' ]'
	look "$job"
	is 'not understood' "$(field .state)" running
	curl -sS -G -X PUT "$PRINTSHOP_URL/shop/mode" --data-urlencode printer=asked --data-urlencode "mode=body=$(encoded '{"state":"done","r":[7.0]}')" >/dev/null
	wait_job "$job" succeeded 20
	is 'the result' "$(grep -o '"result":\[7.0\]' <<<"$body")" '"result":[7.0]'
	is 'work requests' "$(wire querying)" 1
	is 'the query' "$(shop '/shop/requests?printer=asked' | jq -r '.[0] | .method + " " + .path')" "GET /asked/here?job=$job"
}

@test "a provider that honours keys is asked again with the same key and bytes, and the answer settles" {
	curl -sS -G -X PUT "$PRINTSHOP_URL/shop/mode" --data-urlencode printer=again --data-urlencode mode=stall >/dev/null
	start again honour '"timeout_ms":400,"idempotency":{"honoured":true}'
	wait_job "$job" unknown
	is advice "$(field .advice)" wait
	curl -sS -G -X PUT "$PRINTSHOP_URL/shop/mode" --data-urlencode printer=again --data-urlencode mode= >/dev/null
	wait_job "$job" succeeded 30
	is 'keys and bodies' "$(shop '/shop/requests?printer=again' | jq -r '[.[] | .key + .body] | unique | length')" 1
	is attempts "$(field '.attempts | length')" 1
	is sheets "$(counts again sheets)" 1
}

@test "a refusal of the same request says nothing about the first: the doubt stays" {
	curl -sS -G -X PUT "$PRINTSHOP_URL/shop/mode" --data-urlencode printer=refusing --data-urlencode mode=stall >/dev/null
	start refusing '' '"timeout_ms":300,"idempotency":{"honoured":true}'
	wait_job "$job" unknown
	curl -sS -G -X PUT "$PRINTSHOP_URL/shop/mode" --data-urlencode printer=refusing --data-urlencode mode=status=409 >/dev/null
	before=$(wire refusing)
	wait_for 20 eval '[ "$(wire refusing)" -ge '$((before + 3))' ]'
	look "$job"
	is 'the job' "$(field .state)" unknown
}

@test "a cancelled job's provider is told; only an answer that proves the end ends the attempt" {
	for proves in false true; do
		start "stop-$proves" stall "\"timeout_ms\":300,\"cancel\":{\"url\":\"$PRINTSHOP_URL/told-$proves?attempt={{attempt.id}}\",\"method\":\"DELETE\",\"proves\":$proves}"
		wait_job "$job" unknown
		api POST "/v1/jobs/$job/cancel"
		is 'the job' "$status $(field .state)" '200 cancelled'
		shop "/shop/wait?printer=told-$proves&requests=1&timeout_ms=15000" >/dev/null
		is method "$(shop "/shop/requests?printer=told-$proves" | jq -r '.[0].method')" DELETE
		if [ $proves = true ]; then
			wait_for 15 eval 'look "$job"; [ "$(field ".attempts[0].state")" = cancelled ]'
		else
			wait_for 15 eval 'operator GET "/v1/attempts?state=unknown"; [[ "$(field ".attempts[] | select(.job_id == \"$job\") | .last_answer")" == *cancel* ]]'
		fi
	done
}

@test "an operator's word that an attempt is cancelled is passed on to its provider" {
	start stop-word stall "\"timeout_ms\":300,\"cancel\":{\"url\":\"$PRINTSHOP_URL/told-word?attempt={{attempt.id}}\",\"method\":\"DELETE\"}"
	wait_job "$job" unknown
	operator POST "/v1/attempts/$(field '.attempts[0].id')/settle" -d '{"outcome":"cancelled"}'
	is 'the attempt' "$status $(field '.attempts[0].state')" '200 cancelled'
	shop '/shop/wait?printer=told-word&requests=1&timeout_ms=15000' >/dev/null
	is method "$(shop '/shop/requests?printer=told-word' | jq -r '.[0].method')" DELETE
}

@test "a callback URL that a template puts into the body is where the provider's word comes back" {
	local url

	provider bodied "/bodied/status=202/body=$(encoded '{"id":"b"}')" '"accepted":{"reference":"/id"}'
	operator PUT /v1/contracts/bodied -d '{"routes":[{"provider":"bodied","request":{"n":"{{/n}}","then":{"tell":"{{callback_url}}","see":"<{{callback_url}}>"}}}]}'
	is put "$status" 201
	create bodied '{"contract":"bodied","input":{"n":7}}'
	job=$(field .id)
	wait_for 15 job_is "$job" running
	url=$(shop '/shop/requests?printer=bodied' | jq -r '.[0].body | fromjson | .then.tell')
	is 'the body' "$(shop '/shop/requests?printer=bodied' | jq -c '.[0].body | fromjson')" "{\"n\":7,\"then\":{\"tell\":\"$url\",\"see\":\"<$url>\"}}"
	called_back "${url%?}" '{"outcome":"succeeded","result":1}'
	is forged "$status" 404
	called_back "$url" '{"outcome":"succeeded","result":{"n":7.0}}'
	is 'the callback' "$status $body" '200 {"accepted":true}'
	look "$job"
	is 'the job' "$(field .state) $(grep -o '"result":{"n":7.0}' <<<"$body")" 'succeeded "result":{"n":7.0}'
}

hook_of() { # JOB TYPE: the message's request at the endpoint
	shop '/shop/requests?printer=hook' | jq -c --arg j "$1" --arg t "$2" '.[] | select((.body | fromjson | .data.id == $j and .type == $t))'
}

@test "an owner's endpoint is told of each end, signed, with one id" {
	onejob webhook put demo --url "$PRINTSHOP_URL/hook" --secret '${env:WEBHOOK_SECRET}' >/dev/null
	create told-1 '{"provider":"inkjet","input":1}'
	id=$(field .id)
	wait_for 20 eval '[ -n "$(hook_of "$id" job.succeeded)" ]'
	message=$(hook_of "$id" job.succeeded | head -n 1)
	key=$(printf %s "${WEBHOOK_SECRET#whsec_}" | base64 -d | od -An -tx1 | tr -d ' \n')
	want=$(jq -j '.headers["webhook-id"] + "." + .headers["webhook-timestamp"] + "." + .body' <<<"$message" |
		openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | base64)
	is signature "$(jq -r '.headers["webhook-signature"]' <<<"$message")" "v1,$want"
	start told-2 stall '"timeout_ms":300'
	wait_for 20 eval '[ -n "$(hook_of "$job" job.unknown)" ]'
	api POST "/v1/jobs/$job/cancel"
	wait_for 20 eval '[ -n "$(hook_of "$job" job.cancelled)" ]'
	start told-3 status=400
	wait_for 20 eval '[ -n "$(hook_of "$job" job.failed)" ]'
	is 'the secret in the database' "$(mariadb-dump --no-defaults --socket="$STACK/mariadbd.sock" --user="$(id -un)" onejob | grep -c "$WEBHOOK_SECRET" || true)" 0
	onejob webhook delete demo >/dev/null
}

@test "a message that isn't taken comes again under its id; an endpoint that is gone is told nothing more" {
	onejob webhook put demo --url "$PRINTSHOP_URL/again-hook" --secret '${env:WEBHOOK_SECRET}' >/dev/null
	shop '/shop/mode?printer=again-hook&mode=status=503' -X PUT -o /dev/null
	create told-again '{"provider":"inkjet","input":1}'
	shop '/shop/wait?printer=again-hook&requests=1&timeout_ms=20000' >/dev/null
	shop '/shop/mode?printer=again-hook&mode=' -X PUT -o /dev/null
	shop '/shop/wait?printer=again-hook&requests=2&timeout_ms=30000' >/dev/null
	is 'ids of two sendings' "$(shop '/shop/requests?printer=again-hook' | jq '[.[].headers["webhook-id"]] | "\(length) \(unique | length)"' -r)" '2 1'
	shop '/shop/mode?printer=again-hook&mode=status=410' -X PUT -o /dev/null
	create told-gone '{"provider":"inkjet","input":1}'
	wait_for 20 eval '[[ "$(onejob --json webhook list)" == *\"enabled\":false* ]]'
	create told-never '{"provider":"inkjet","input":1}'
	wait_job "$(field .id)" succeeded
	is 'requests' "$(wire again-hook)" 3
	onejob webhook delete demo >/dev/null
}

# The note of what became of a message waits for the endpoint's row. It has waited for it once then.
@test "an endpoint's row that another session holds keeps nobody's job waiting" {
	local before

	waits() { sql -e "SELECT variable_value FROM information_schema.global_status WHERE variable_name = 'Innodb_row_lock_waits'"; }
	onejob webhook put demo --url "$PRINTSHOP_URL/held-hook" --secret '${env:WEBHOOK_SECRET}' >/dev/null
	mode held-hook stall,status=410
	create told-held '{"provider":"inkjet","input":1}'
	shop '/shop/wait?printer=held-hook&requests=1&timeout_ms=20000' >/dev/null
	sql_hold BEGIN "SELECT owner FROM webhooks FOR UPDATE"
	before=$(waits)
	shop '/shop/release?printer=held-hook' -X POST -o /dev/null
	wait_for 20 eval '[ "$(waits)" -gt "$before" ]'
	provider tick /tick
	tick 5
	is 'waits for its row' "$(($(waits) - before))" 1
	sql_let_go ROLLBACK
	onejob webhook delete demo >/dev/null
}

# The last, for the stack's own poller, which may go anywhere, stays away from here on.
@test "nothing goes to an endpoint at an address that isn't public, be it written or found by its name" {
	local url code

	for url in http://127.0.0.1/ http://10.1.2.3/hook http://169.254.169.254/latest http://2130706433/ 'http://[fe80::1]/' http://api.localhost/; do
		code=0
		said=$(ONEJOB_WEBHOOK_PRIVATE=0 onejob webhook put demo --url "$url" --secret '${env:WEBHOOK_SECRET}' 2>&1) || code=$?
		is "$url" "$code" 2
		has "$url" "its address isn't a public one" "$said"
	done
	is 'endpoints' "$(onejob --json webhook list)" '{"webhooks":[]}'
	onejob webhook put demo --url "http://shop.localhost:${PRINTSHOP_URL##*:}/inside" --secret '${env:WEBHOOK_SECRET}' >/dev/null
	no_stack_poller
	own_poller poller-public ONEJOB_WEBHOOK_PRIVATE=0
	create told-inside '{"provider":"inkjet","input":1}'
	wait_job "$(field .id)" succeeded
	wait_for 20 eval '[[ "$(onejob --json webhook list)" == *"is not a public one"* ]]'
	kill -TERM "$poller"
	ended "$poller" 20
	is 'requests' "$(wire inside)" 0
	onejob webhook delete demo >/dev/null
}
