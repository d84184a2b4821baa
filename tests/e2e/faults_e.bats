#!/usr/bin/env bats
# shellcheck disable=SC2034,SC2154,SC2155 # words and variables that stack.bash, front.bash, work.bash and contract.bash share
# Providers that answer, and not with what was asked for; and fall-back to another. `chat` has two routes, desk and spare, of which
# spare is certified: whatever does not go there by itself in these tests could have.

load stack
load front
load work
load contract

setup_file() {
	printf '%064d\n' 7 >"$BATS_FILE_TMPDIR/keys"
	export ONEJOB_CALLBACK_KEYS=$BATS_FILE_TMPDIR/keys
	export ONEJOB_GRACE_SECONDS=1 ONEJOB_POLL_MS=20
	stack_up --workers 4
	BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR
	quick='"retry":{"base_ms":50,"max_ms":100}'
	provider desk /desk "$quick"
	provider spare /spare/chat "$quick"
	provider loose /loose "$quick"
	provider tick /tick
	contract chat "$(chat_route desk),$(chat_route spare)"
	contract pair "$(chat_route desk),$(chat_route loose)"
	certify chat 0 --route spare
}

teardown_file() {
	stack_down
}

# spoilt WAY LINE [MODES]: desk answers so, and that is what becomes of a job; spare isn't asked.
spoilt() {
	local desk spare

	chat desk "$1" "${3-}"
	read -r desk spare < <(met desk spare; echo)
	run_job chat
	[[ $body == *'"version":'$([[ $2 == unknown* ]] && echo 0 || echo 1),* ]] || { printf 'version: %s\n' "$body" >&2; return 1; }
	is "$1" "$(line)" "$2"
	is "requests for $1" "$(met desk spare)" "$((desk + 1)) $spare "
}

violation='failed contract_violation 200 desk 1 false ask_operator'

@test "what is as it was asked for succeeds, and is stored as the provider wrote it" {
	chat desk
	run_job chat
	is 'the job' "$(line)" 'succeeded null 200 desk 1 true done'
	[[ $body == *'"result":{"text": "PAY 12.50 TO ZOE", "amount": 12.50}'* ]] || { echo "$body" >&2; return 1; }
}

@test "e01 no fall-back while the primary is in doubt; what it says after the fall-back has won changes nothing" {
	local url first before

	provider slow /slow/stall '"timeout_ms":300,"headers":{"X-Callback":"{{callback_url}}"}'
	contract slow "$(chat_route slow),$(chat_route spare)"
	certify slow 0 --route spare
	before=$(wire spare)
	run_job slow
	is 'the job' "$(line)" 'unknown timeout null slow 1 false ask_operator'
	first=$(field '.attempts[0].id')
	api POST "/v1/jobs/$job/attempts" -d '{"provider":"spare"}'
	is 'the button' "$status $(field .type)" '409 /problems/attempt-in-doubt'
	tick 2
	is 'requests at the fall-back' "$(wire spare)" "$before"
	operator POST "/v1/attempts/$first/settle" -d '{"outcome":"released","provider":"spare"}'
	is released "$status" 200
	wait_job "$job" succeeded
	is 'the job' "$(line)" 'succeeded null 200 spare 2 true done'
	url=$(shop '/shop/requests?printer=slow' | jq -r '.[-1].headers["x-callback"]')
	before=$(field '[.result, .version, .completed_by] | tojson')
	is 'the late answer' "$(curl -sS -X POST "$url" -d '{"outcome":"succeeded","result":{"text":"LATE","amount":1}}' | jq .accepted)" false
	look "$job"
	is 'the job after it' "$(field '[.result, .version, .completed_by] | tojson')" "$before"
	is 'races on record' "$(sql -e "SELECT COUNT(*) FROM races WHERE job_id = x'${job//-/}'")" 1
	grep -qE " race .*attempt=$first .*why=" "$STACK"/log/api*.log
}

@test "e02 an error inside a 200 is no success: an inner 4xx fails, an inner 5xx is unknown" {
	spoilt error-429 "$violation"
	spoilt choice-error "$violation"
	spoilt error-503 'unknown gateway 200 desk 1 false ask_operator'
	blocked "$job"
}

@test "e03 JSON in a fence or in prose breaks the contract, and a provider that does so isn't certified" {
	local way

	for way in fence prose-fence prose; do
		spoilt $way "$violation"
	done
	chat loose fence
	certify pair 1 --route loose
	has 'the report' 'loose: FAILED, 0 of 1' "$said"
}

@test "e04 finish_reason length is no success, with cut JSON, with whole JSON and with none" {
	local way

	for way in length-cut length-whole length-null; do
		spoilt $way "$violation"
		has "what is said of $way" 'finish_reason' "$(field .error.detail)"
	done
}

@test "e05 a refusal and a filtered answer are no success, aren't tried again and go to no other model" {
	local way

	for way in refusal refusal-empty filter tool-call; do
		spoilt $way "$violation"
	done
	api POST "/v1/jobs/$job/attempts" -d '{"provider":"spare"}'
	is 'the button, for a user' "$status $(field .type)" '409 /problems/effect-done'
	# Not even where there are no side effects, if the contract says so.
	contract harmless "$(chat_route desk),$(chat_route spare)" '"side_effects":false,"on_failure":{"contract_violation":"stop"}'
	certify harmless 0 --route spare
	run_job harmless
	is 'without side effects' "$(line)" 'failed contract_violation 200 desk 1 false new_attempt'
	contract harmless "$(chat_route desk),$(chat_route spare)" '"side_effects":false'
	certify harmless 0 --route spare
	run_job harmless
	is 'and where it says nothing' "$(line)" 'succeeded null 200 spare 2 true done'
}

# refused_over WHY: desk is out of order for certain, and yet the job doesn't go to loose.
refused_over() {
	local before=$(wire loose)

	mode desk status=400
	run_job pair
	is 'the job' "$(line)" 'failed refused 400 desk 1 false new_attempt'
	is 'passed over' "$(passed_over)" "1 loose $1"
	is 'requests at the fall-back' "$(wire loose)" "$before"
	api POST "/v1/jobs/$job/attempts" -d '{"provider":"loose"}'
	is 'the button' "$status $(field '.type + " " + .why')" "409 /problems/not-certified $1"
}

@test "e06 a fall-back that drops the schema fails its certification, and nothing falls back to it" {
	chat loose no-schema
	sql -e "DELETE FROM certificates WHERE provider = 'loose'"
	refused_over not_certified
	certify pair 1 --route loose
	has 'the report' 'capitals: failed, contract_violation' "$said"
	refused_over failed
	is 'what was passed on' "$(shop '/shop/requests?printer=loose' | jq -c '.[-1].body | fromjson | [.response_format.json_schema.name, .temperature]')" '["slip",0]'
	operator PUT /v1/contracts/pair -d '{"routes":[{"provider":"desk","response_format":{}}]}'
	is 'a parameter that would be dropped' "$status $(field '.errors[0].pointer')" '422 /routes/0/response_format'
}

@test "e07 a refused system message is a definite failure, and the certified fall-back takes over" {
	local before=$(counts desk sheets)

	chat desk system-refused
	run_job chat
	is 'the job' "$(line)" 'succeeded null 200 spare 2 true done'
	is 'the first attempt' "$(attempt 1)" 'failed answer_begun refused 400'
	is sheets "$(counts desk sheets)" "$before"
}

@test "e07 a system message that is ignored fails the certification, and nothing falls back there" {
	chat loose no-system
	certify pair 1 --route loose
	has 'the report' 'capitals: by the fixture, .*/text' "$said"
	refused_over failed
}

@test "e08 another model's answer breaks the contract, and one model's certificate covers no other" {
	spoilt other-model "$violation"
	has 'what is said of it' '/model' "$(field .error.detail)"
	chat loose other-model
	certify pair 1 --route loose
	chat loose
	certify pair 0 --route loose
	mode desk status=400
	run_job pair
	is 'with the certificate of m-1' "$(line)" 'succeeded null 200 loose 2 true done'
	contract pair "$(chat_route desk),$(chat_route loose m-2)"
	refused_over not_certified
}

@test "e09 a stream that breaks midway is unknown, and its part is no result" {
	spoilt stream 'unknown truncated 200 desk 1 false ask_operator' chunked-cut
	spoilt stream-cut 'unknown truncated 200 desk 1 false ask_operator' close-cut
	# One that ends in good order, too early: the answer is whole, and not what was asked for.
	spoilt stream-cut "$violation"
}

@test "what else a model makes of a schema: itself, one key too many, a wrapper" {
	local way

	for way in schema-echo extra-key wrapper; do
		spoilt $way "$violation"
	done
}
