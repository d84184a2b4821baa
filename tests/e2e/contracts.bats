#!/usr/bin/env bats
# shellcheck disable=SC2016,SC2034,SC2154,SC2155 # words and variables that stack.bash and the others share
# Contracts as their users meet them: certification by command and by API, certified fail-over, the gate of the fallback button,
# what ends a certificate, versions, templates, tokenizers.

load stack
load front
load work
load contract
load page

setup_file() {
	printf '%064d\n' 7 >"$BATS_FILE_TMPDIR/keys"
	export ONEJOB_CALLBACK_KEYS=$BATS_FILE_TMPDIR/keys
	export ONEJOB_GRACE_SECONDS=1 ONEJOB_POLL_MS=20
	stack_up --workers 4
	BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR
	quick='"retry":{"base_ms":50,"max_ms":100}'
	export quick
	provider first /first "$quick"
	provider second /second/chat "$quick"
	printf '{"url":"http://127.0.0.1:1/","retry":{"base_ms":50,"max_ms":100}}' | onejob provider put nowhere - >/dev/null
	contract slips "$(chat_route first),$(chat_route second)"
	contract unsent "$(chat_route nowhere),$(chat_route second)"
}

teardown_file() {
	stack_down
}

# certificates QUERY [FILTER]: of the list, in JSON.
certificates() {
	operator GET "/v1/certificates?$1"
	jq -c ".certificates | map(${2:-[.passed, .valid, .why]})" <<<"$body"
}

@test "a certification by command is refused until its side effects are said; then it is real, marked, and no attempt" {
	local code=0 book

	said=$(onejob contract certify slips --route second 2>&1) || code=$?
	is 'not said' "$code $(wire second)" '1 0'
	has 'what it says' '--side-effects' "$said"
	certify slips 0 --route second
	has 'the report' '^  second: passed, 1 of 1; valid until ' "$said"
	book=$(shop '/shop/requests?printer=second')
	is 'what came' "$(jq -c '.[0] | [.method, (.headers["x-onejob-certify"] | length), (.key | length > 30)]' <<<"$book")" '["POST",36,true]'
	has 'its body, the override merged in' '^\{"model": ?"m-1", ?"temperature": ?0, ?"messages": ?\[.*"content": ?"pay 12\.50 to zoe"\}\], ?"response_format"' \
		"$(jq -r '.[0].body' <<<"$book")"
	is 'jobs and attempts' "$(sql -e 'SELECT COUNT(*) FROM jobs UNION ALL SELECT COUNT(*) FROM attempts' | xargs)" '0 0'
	is 'the list' "$(certificates contract=slips '[.provider, .passed, .valid, .why, .rounds, .report]')" \
		'[["second",true,true,null,1,[{"round":1,"fixture":"capitals","passed":true,"why":null}]]]'
}

@test "a failed certification says why, round by round, and the command exits with 1" {
	provider wrong /wrong/chat=no-system "$quick"
	operator PUT /v1/contracts/wrongs -d "{\"fixtures\":$FIXTURES,\"certify\":{\"rounds\":2},\"routes\":[$(chat_route first),$(chat_route wrong)]}"
	certify wrongs 1 --route wrong
	has 'the verdict' '^  wrong: FAILED, 0 of 2 passed' "$said"
	has 'round 2' '^    round 2, capitals: by the fixture, .*/text' "$said"
	is 'keys' "$(counts wrong distinct_keys)" 2
	is 'runs' "$(shop '/shop/requests?printer=wrong' | jq -r 'map(.headers["x-onejob-certify"]) | unique | length')" 1
	certify wrongs 1 --route wrong --json
	is 'for scripts' "$(jq -c '.certificates[0] | [.passed, .why, (.report | length)]' <<<"$said")" '[false,"failed",2]'
	is 'the list, filtered' "$(certificates 'contract=wrongs&valid=false')$(certificates 'contract=wrongs&valid=true')" '[[false,false,"failed"]][]'
}

# A trigger stands for whatever the database refuses: a report larger than its packets, a missing right.
@test "a verdict that the database refuses ends its run and sends nothing again" {
	refuse() { # CONDITION
		sql --delimiter=// -e "CREATE OR REPLACE TRIGGER refuse BEFORE INSERT ON certificates FOR EACH ROW BEGIN IF $1 THEN SIGNAL SQLSTATE '45000'; END IF; END"
	}

	provider unwritten /unwritten/chat=no-system "$quick"
	operator PUT /v1/contracts/unwritten -d "{\"fixtures\":$FIXTURES,\"certify\":{\"rounds\":3},\"routes\":[$(chat_route first),$(chat_route unwritten)]}"
	refuse 'LENGTH(NEW.report) > 200'
	certify unwritten 1 --route unwritten
	has 'the short report' 'round 3, : 3 more, of which 3 failed, have no place in this report' "$said"
	is 'wire requests and runs' "$(wire unwritten) $(sql -e 'SELECT COUNT(*) FROM certify_runs')" '3 0'
	refuse TRUE
	certify unwritten 1 --route unwritten
	sql -e 'DROP TRIGGER refuse'
	has 'its end' 'unwritten: no verdict: .* could not be written down' "$said"
	is 'wire requests and runs' "$(wire unwritten) $(sql -e 'SELECT COUNT(*) FROM certify_runs')" '6 0'
	has 'the log' 'certify.unwritten.*contract=unwritten version=1 provider=unwritten' "$(poller_log poller-1)"
}

@test "a certification's progress shows on a terminal" {
	provider paced /paced/chat/delay=250 "$quick"
	operator PUT /v1/contracts/paced -d "{\"fixtures\":$FIXTURES,\"certify\":{\"rounds\":4},\"routes\":[$(chat_route first),$(chat_route paced)]}"
	said=$(script -qec 'onejob contract certify paced --route paced --side-effects' /dev/null </dev/null)
	has 'progress' 'certifying: [1-3] of 4 fixtures, 0 of 1 routes' "$said"
	has 'and the end' 'paced: .*passed' "$said"
}

@test "a certification by API: side effects, fixtures and routes are asked after, and the same run is not begun twice" {
	local before run

	provider slow /slow/chat/stall "$quick"
	contract slow "$(chat_route first),$(chat_route slow)"
	operator POST /v1/contracts/slow/certify -d '{}'
	refused 409 side-effects
	operator POST /v1/contracts/slow/certify -d '{"side_effects":true,"routes":["second"]}'
	is 'no such route' "$status $(field '.errors[0].pointer')" '422 /routes/0'
	operator POST /v1/contracts/none/certify -d '{"side_effects":true}'
	is 'no such contract' "$status" 404
	api POST /v1/contracts/slow/certify -d '{"side_effects":true}'
	refused 403 operator-only
	operator PUT /v1/contracts/plain -d '{"fixtures":[{"name":"f","input":1}],"routes":[{"provider":"first"}]}'
	operator POST /v1/contracts/plain/certify -d '{"side_effects":true}'
	refused 409 no-fixtures
	for run in 1 2; do
		operator POST /v1/contracts/slow/certify -d '{"side_effects":true,"routes":["slow"]}'
		is "asked $run" "$status $body" '202 {"contract":"slow","version":1,"routes":["slow"]}'
		shop '/shop/wait?printer=slow&requests=1' -f -o /dev/null
	done
	is 'while it runs' "$(certificates contract=slow)" '[]'
	shop '/shop/release?printer=slow' -X POST -o /dev/null
	wait_for 15 eval '[ "$(certificates "contract=slow&valid=true")" = "[[true,true,null]]" ]'
	is 'wire requests' "$(wire slow)" 1
}

@test "an edit ends a certification of the version before at its next step" {
	provider edited /edited/chat/stall "$quick"
	operator PUT /v1/contracts/edited -d "{\"fixtures\":$FIXTURES,\"certify\":{\"rounds\":9},\"routes\":[$(chat_route first),$(chat_route edited)]}"
	operator POST /v1/contracts/edited/certify -d '{"side_effects":true,"routes":["edited"]}'
	shop '/shop/wait?printer=edited&requests=1' -f -o /dev/null
	operator PUT /v1/contracts/edited -d "{\"fixtures\":$FIXTURES,\"certify\":{\"rounds\":8},\"routes\":[$(chat_route first),$(chat_route edited)]}"
	is 'edited' "$status" 200
	shop '/shop/release?printer=edited' -X POST -o /dev/null
	wait_for 15 eval '[ "$(sql -e "SELECT COUNT(*) FROM certify_runs")" = 0 ]'
	is 'wire requests, verdicts' "$(wire edited) $(certificates contract=edited)" '1 []'
	has 'the log' 'certify.left.*contract=edited version=1 provider=edited' "$(poller_log poller-1)"
}

@test "what was never sent, or was refused, goes on to a certified route, and the attempt names the certificate" {
	local id

	certify unsent 0 --route second
	id=$(certificates contract=unsent .id)
	run_job unsent
	is 'the job' "$(line)" 'succeeded null 200 second 2 true done'
	is 'its attempts' "$(attempt 1), $(attempt 2)" 'failed not_sent never_sent null, succeeded answer_begun null 200'
	is 'their certificates' "$(field '.attempts | map(.certificate_id) | tojson')" "[null,${id:1:-1}]"
	mode first status=422
	run_job slips
	is 'the other' "$(line)" 'succeeded null 200 second 2 true done'
	is 'and nothing was passed over' "$(field '.passed_over | tojson')" '[]'
	api GET '/v1/jobs?contract=unsent'
	is 'jobs by contract' "$(field '.jobs | map(.contract) | tojson')" '["unsent"]'
}

@test "a job says why each route was passed over" {
	local name routes=$(chat_route first)

	for name in bare failing late off full last; do
		provider "$name" "/$name$([ $name = failing ] && echo /chat=no-schema || echo /chat)" "$quick,\"max_in_flight\":$([ $name = full ] && echo 1 || echo 8)"
		routes+=,$(chat_route $name)
	done
	contract many "$routes"
	certify many 1 --route failing --route late --route off --route full --route last
	sql -e "UPDATE certificates SET expires_at = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND WHERE contract = 'many' AND provider = 'late'"
	provider off /off/chat "$quick,\"max_in_flight\":8,\"enabled\":false"
	mode full stall
	create many-full '{"provider":"full","input":1}'
	wait_for 10 eval '[ "$(wire full)" = 2 ]'
	mode first status=400
	run_job many
	is 'the job' "$(line)" 'succeeded null 200 last 2 true done'
	is 'passed over' "$(passed_over)" '1 bare not_certified, 1 failing failed, 1 late expired, 1 off disabled, 1 full saturated'
	shop '/shop/release?printer=full' -X POST -o /dev/null
	for name in 'bare not_certified' 'failing failed' 'late expired' 'second no_route'; do
		create "gate-${name% *}" '{"contract":"many","input":{"text":"1"},"not_before":"2199-01-01T00:00:00Z"}'
		api POST "/v1/jobs/$(field .id)/attempts" -d "{\"provider\":\"${name% *}\"}"
		is "the button to ${name% *}" "$status $(field '.type + " " + .why')" "409 /problems/not-certified ${name#* }"
	done
}

@test "the fallback button takes the first route, a certified one, and no other; so does an operator's word" {
	local attempt

	mode first chat/stall
	provider first /first "$quick,\"timeout_ms\":300"
	certify slips 0 --route second
	run_job slips
	is 'in doubt' "$(line)" 'unknown timeout null first 1 false ask_operator'
	attempt=$(field '.attempts[0].id')
	operator POST "/v1/attempts/$attempt/settle" -d '{"outcome":"failed","provider":"nowhere"}'
	is 'an operator to another' "$status $(field '.type + " " + .why')" '409 /problems/not-certified no_route'
	operator POST "/v1/attempts/$attempt/settle" -d '{"outcome":"failed","provider":"second"}'
	is 'an operator to a certified one' "$status" 200
	wait_job "$job" succeeded
	is 'the job' "$(line)" 'succeeded null 200 second 2 true done'
	mode first status=400
	sql -e "UPDATE certificates SET expires_at = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND WHERE contract = 'slips' AND superseded_at IS NULL"
	run_job slips
	is 'refused' "$(line)" 'failed refused 400 first 1 false new_attempt'
	api POST "/v1/jobs/$job/attempts" -d '{"provider":"second"}'
	is 'the button after its end' "$status $(field '.type + " " + .why')" '409 /problems/not-certified expired'
	mode first chat
	api POST "/v1/jobs/$job/attempts" -d '{"provider":"first"}'
	is 'the button to the first' "$status" 202
	wait_job "$job" succeeded
	provider first /first "$quick"
}

@test "a certificate ends by each cause at once, is renewed, and outlives what proves nothing" {
	local why

	certify slips 0 --route second
	is 'at first' "$(certificates contract=slips)" '[[true,true,null]]'
	provider second /second/chat "$quick,\"max_in_flight\":7"
	is 'after max_in_flight' "$(certificates contract=slips)" '[[true,true,null]]'
	provider second /second/chat "$quick,\"enabled\":false"
	is 'disabled' "$(certificates contract=slips)" '[[true,false,"disabled"]]'
	provider second /second/chat "$quick"
	is 'enabled again' "$(certificates contract=slips)" '[[true,true,null]]'
	sql -e "UPDATE certificates SET expires_at = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND WHERE contract = 'slips'"
	is 'expired' "$(certificates 'contract=slips&valid=false')" '[[true,false,"expired"]]'
	has 'what doctor says' 'no job fails over to .*second of slips \(expired\)' "$(onejob doctor 2>&1)"
	api GET /metrics
	has 'what metrics say' 'onejob_route_certified.contract="slips",provider="second". 0' "$body"
	said=$(onejob contract certify --renew slips --side-effects)
	has 'renewed' 'second: passed, 1 of 1' "$said"
	sql -e "UPDATE certificates SET expires_at = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR WHERE contract = 'slips' AND superseded_at IS NULL"
	has 'what doctor says before' 'within a day no job will fail over to .*second of slips' "$(onejob doctor 2>&1)"
	provider second /second/chat "$quick,\"headers\":{\"X-New\":\"1\"}"
	is 'after the provider changed' "$(certificates contract=slips)" '[[true,false,"subject_changed"]]'
	provider second /second/chat "$quick"
	is 'and changed back' "$(certificates contract=slips)" '[[true,false,"subject_changed"]]'
	certify slips 0 --route second
	contract slips "$(chat_route first),$(chat_route second)"
	is 'the same definition' "$status $(field .version)" '200 1'
	is 'after it' "$(certificates contract=slips)" '[[true,true,null]]'
	contract slips "$(chat_route first),$(chat_route second)" '"checks":[{"pointer":"/text","max_length":100}]'
	is 'another' "$(field .version)" 2
	is 'after it' "$(certificates 'contract=slips&valid=true')" '[]'
	mode first status=400
	run_job slips
	is 'a job then' "$(line) $(passed_over)" 'failed refused 400 first 1 false new_attempt 1 second not_certified'
	certify slips 0 --route second
	run_job slips
	is 'a job after it was certified again' "$(line)" 'succeeded null 200 second 2 true done'
}

@test "an edit doesn't change a job in flight, whose fail-over ends with it" {
	mode first status=400,stall
	contract turning "$(chat_route first),$(chat_route second)"
	certify turning 0 --route second
	create turning-1 '{"contract":"turning","input":{"text":"pay 1"}}'
	job=$(field .id)
	shop '/shop/wait?printer=first&open=1' -f -o /dev/null
	contract turning "$(chat_route first m-2),$(chat_route second m-2)"
	certify turning 0 --route second
	shop '/shop/release?printer=first' -X POST -o /dev/null
	wait_for 15 ended "$job"
	is 'the job' "$(line) $(field .contract_version) $(passed_over)" 'failed refused 400 first 1 false new_attempt 1 1 second not_certified'
	mode first chat
	api POST "/v1/jobs/$job/attempts" -d '{}'
	is 'its next attempt' "$status" 202
	wait_job "$job" succeeded
	is 'by its own version' "$(shop '/shop/requests?printer=first' | jq -r '.[-1].body | fromjson | .model') $(field .contract_version)" 'm-1 1'
	create turning-2 '{"contract":"turning","input":{"text":"pay 1"}}'
	wait_job "$(field .id)" succeeded
	is 'and a new job by the new one' "$(shop '/shop/requests?printer=first' | jq -r '.[-1].body | fromjson | .model') $(field .contract_version)" 'm-2 2'
}

@test "R10: fail-over stops where the certificate expires, or dies, after the route was chosen and before the claim" {
	local why

	mode first status=400
	provider relay /relay/chat "$quick,\"max_in_flight\":1"
	contract relayed "$(chat_route first),$(chat_route relay)"
	for why in expired subject_changed; do
		certify relayed 0 --route relay
		mode relay chat/stall
		create "relay-full-$why" '{"provider":"relay","input":1}'
		shop '/shop/wait?printer=relay&open=1' -f -o /dev/null
		create "relay-$why" '{"contract":"relayed","input":{"text":"pay 1"}}'
		job=$(field .id)
		wait_for 15 eval '[ "$(sql -e "SELECT CONCAT(state, next_provider) FROM jobs WHERE id = UNHEX(REPLACE('"'$job'"', '"'-', ''"'))")" = queuedrelay ]'
		if [ $why = expired ]; then
			sql -e "UPDATE certificates SET expires_at = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND WHERE contract = 'relayed' AND superseded_at IS NULL"
		else
			provider relay /relay/chat "$quick,\"max_in_flight\":1,\"headers\":{\"X-New\":\"1\"}"
		fi
		mode relay chat
		shop '/shop/release?printer=relay' -X POST -o /dev/null
		wait_for 15 ended "$job"
		is "the job, $why" "$(line)" 'failed refused 400 first 1 false new_attempt'
		has "why, $why" "(^|, )1 relay $why\$" "$(passed_over)"
	done
	mode first chat
}

@test "a result by hand must meet the contract" {
	local before attempt

	provider first /first "$quick,\"timeout_ms\":300"
	mode first chat/stall
	run_job turning
	is 'in doubt' "$(field .state)" unknown
	attempt=$(field '.attempts[0].id')
	before=$(rows_of "$job")
	operator POST "/v1/attempts/$attempt/settle" -d '{"outcome":"succeeded","result":{"text":"PAY"}}'
	refused 422 contract-violation
	is 'the rows' "$(rows_of "$job")" "$before"
	operator POST "/v1/attempts/$attempt/settle" -d '{"outcome":"succeeded","result":{"text":"PAY","amount":1.0}}'
	is 'one that does' "$status $(field .state)" '200 succeeded'
	provider first /first "$quick"
}

@test "requests are rendered exactly: digits are kept, input is never expanded, what isn't there is an error" {
	local sent template

	template='{"n":"{{/n}}","list":["{{/list}}","{{/list/1}}"],"said":"<{{/said}}> and {{/n}}","all":"{{input}}","job":"{{job.id}}","text":"{{\"{{\"}}x"}'
	operator PUT /v1/contracts/exact -d "{\"routes\":[{\"provider\":\"paper\",\"request\":$template,\"headers\":{\"X-Said\":\"{{/head}}\"}}]}"
	is 'no such provider' "$status $(field '.errors[0].pointer')" '422 /routes/0/provider'
	provider paper /paper "$quick"
	operator PUT /v1/contracts/exact -d "{\"routes\":[{\"provider\":\"paper\",\"request\":$template,\"headers\":{\"X-Said\":\"{{/head}}\"}}]}"
	is 'put' "$status" 201
	create exact-1 '{"contract":"exact","input":{"n":18446744073709551617.10,"list":[1.0,1e2],"said":"{{job.id}} \"é\"","head":"a b"}}'
	job=$(field .id)
	wait_job "$job" succeeded
	sent=$(shop '/shop/requests?printer=paper')
	jq -r '.[0].body' <<<"$sent" >"$BATS_TEST_TMPDIR/sent"
	has 'the body' '"n": ?18446744073709551617\.10,' "$(<"$BATS_TEST_TMPDIR/sent")"
	has 'the list' '"list": ?\[\[1\.0,1e2\], ?1e2\]' "$(<"$BATS_TEST_TMPDIR/sent")"
	is 'the strings' "$(jq -r '[.said, .job, .text] | join("|")' "$BATS_TEST_TMPDIR/sent")" "<{{job.id}} \"é\"> and 18446744073709551617.10|$job|{{x"
	has 'all of it' '"all": ?\{"n":18446744073709551617\.10,' "$(<"$BATS_TEST_TMPDIR/sent")"
	is 'the header' "$(jq -r '.[0].headers["x-said"]' <<<"$sent")" 'a b'
	create exact-2 '{"contract":"exact","input":{"n":1,"list":[1],"said":"x","head":"y"}}'
	settles "$(field .id)" failed 'failed not_sent template null'
	has 'what is missing' '/list/1' "$(onejob job show "$(field .id)")"
	create exact-3 '{"contract":"exact","input":{"n":1,"list":[1,2],"said":"x","head":"y\r\nX-Evil: 1"}}'
	settles "$(field .id)" failed 'failed not_sent template null'
	is 'wire requests' "$(wire paper)" 1
	operator PUT /v1/contracts/exact -d '{"routes":[{"provider":"paper","request":{"a":"{{input.n}}"}}]}'
	is 'another placeholder' "$status $(field '.errors[0].pointer')" '422 /routes/0/request/a'
}

@test "a route whose tokenizer changes the prompt, or finds it too long, isn't certified" {
	local tokenizer='"tokenizer":{"url":"SHOP/words/chat=tokenize","request":{"content":"Say: {{/text}}"},"tokens":"/tokens","detokenize_url":"SHOP/words/chat=WAY","limit":LIMIT}'

	tokenizer=${tokenizer//SHOP/$PRINTSHOP_URL}
	with() { # WAY LIMIT
		local one=${tokenizer/WAY/$1}

		contract counted "$(chat_route first),$(chat_route second m-1 "${one/LIMIT/$2}")"
	}
	with detokenize 100
	certify counted 0 --route second
	is 'the tokenizer was asked' "$(shop '/shop/requests?printer=words' | jq -c 'map([(.path | split("=")[1]), (.body | fromjson | .content // (.tokens | length))])')" \
		'[["tokenize","Say: pay 12.50 to zoe"],["detokenize",21]]'
	with detokenize 20
	certify counted 1 --route second
	has 'too long' 'the prompt is 21 tokens long; the limit is 20' "$said"
	FIXTURES=${FIXTURES/pay 12.50/pay  12.50}
	with detokenize-lossy 100
	certify counted 1 --route second
	has 'changed' "the prompt doesn't survive the tokenizer: of 22 bytes 21 came back, and they differ from byte 9 on" "$said"
}

@test "a tokenizer that speaks vLLM's form is asked with its prompt and its model, both ways" {
	local form='"tokenizer":{"url":"SHOP/vllm/chat=tokenize","request":{"model":"m-1","prompt":"Say: {{/text}}"},"tokens":"/tokens","detokenize_url":"SHOP/vllm/chat=WAY","limit":100}'

	form=${form//SHOP/$PRINTSHOP_URL}
	contract vllm "$(chat_route first),$(chat_route second m-1 "${form/WAY/detokenize}")"
	certify vllm 0 --route second
	has 'the report' '^  second: passed, 1 of 1; valid until ' "$said"
	is 'the tokenizer was asked' "$(shop '/shop/requests?printer=vllm' | jq -c 'map([(.path | split("=")[1]), (.body | fromjson | .model, .prompt, (.tokens | length))])')" \
		'[["tokenize","m-1","Say: pay 12.50 to zoe",0],["detokenize","m-1",null,21]]'
	FIXTURES=${FIXTURES/pay 12.50/pay  12.50}
	contract vllm "$(chat_route first),$(chat_route second m-1 "${form/WAY/detokenize-lossy}")"
	certify vllm 1 --route second
	has 'changed' "the prompt doesn't survive the tokenizer: of 22 bytes 21 came back, and they differ from byte 9 on" "$said"
}

@test "a canary at the end of a long input finds the route that cuts what it is given, without a tokenizer" {
	local long

	long=$(printf '%.0spay 12.50 to zoe, ' {1..8})
	provider short /short/chat=short "$quick"
	contract canary "$(chat_route first),$(chat_route short),$(chat_route second)"
	certify canary 0 --route short
	has 'a short input shows nothing' '^  short: passed, 1 of 1' "$said"
	FIXTURES=${FIXTURES%]},'{"name":"canary","input":{"text":"'$long'albatross"},"checks":[{"pointer":"/text","matches":"ALBATROSS$"}]}]'
	contract canary "$(chat_route first),$(chat_route short),$(chat_route second)"
	certify canary 1 --route short --route second
	has 'the one that cuts' '^  short: FAILED, 1 of 2 passed' "$said"
	has 'by the canary' '^    round 1, canary: by the fixture, .*matches at "/text"' "$said"
	has 'the one that reads all of it' '^  second: passed, 2 of 2' "$said"
}

# --- what doc/contracts.md tells people to type

# The page's ./run, var and doc, where this stack is what runs.
clone_of_stack() { # FOLDER
	mkdir "$1"
	ln -s "$TOP/doc" "$1/doc"
	ln -s "$STACK" "$1/var"
	printf '#!/bin/sh\nexec "%s/run" "$@" --dir "%s"\n' "$TOP" "$STACK" >"$1/run"
	chmod +x "$1/run"
}

@test "the walk through contracts says what its page says that it does" {
	clone_of_stack "$BATS_TEST_TMPDIR/walk"
	script_of "$TOP/doc/contracts.md" >"$BATS_TEST_TMPDIR/script"
	is 'commands of it' "$(($(grep -c '^onejob \|^curl \|^job=\|^printf .*provider put' "$BATS_TEST_TMPDIR/script") > 20))" 1
	(cd "$BATS_TEST_TMPDIR/walk" && bash "$BATS_TEST_TMPDIR/script" 3>&-)
}

@test "what README.md has people type works as printed" {
	clone_of_stack "$BATS_TEST_TMPDIR/walk"
	section_of "$TOP/README.md" '## Try it' >"$BATS_TEST_TMPDIR/page"
	section_of "$TOP/README.md" '### Fail over only to what is proven' >>"$BATS_TEST_TMPDIR/page"
	script_of "$BATS_TEST_TMPDIR/page" >"$BATS_TEST_TMPDIR/script"
	is 'requests of it' "$(grep -c '^curl ' "$BATS_TEST_TMPDIR/script")" 6
	(cd "$BATS_TEST_TMPDIR/walk" && bash "$BATS_TEST_TMPDIR/script" 3>&-)
}
