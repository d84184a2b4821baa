# shellcheck shell=bash disable=SC2034,SC2154,SC2155 # the stack's words and variables come from stack.bash, or go to a test
# More words for the tests of contracts, whose routes are chats at the print shop. `load stack`, `load front`, `load work`, then
# `load contract`.

SLIP_SCHEMA='{"type":"object","properties":{"text":{"type":"string"},"amount":{"type":["number","null"]}},"required":["text","amount"],"additionalProperties":false}'

# chat_route PROVIDER [MODEL] [MEMBERS]: a route that has a user's text written in capitals, and the amount in it found.
chat_route() {
	printf '{"provider":"%s","request":{"model":"%s","temperature":0.70,"messages":[' "$1" "${2:-m-1}"
	printf '{"role":"system","content":"Answer in capital letters, as JSON: text and amount."},{"role":"user","content":"{{/text}}"}],'
	printf '"response_format":{"type":"json_schema","json_schema":{"name":"slip","schema":%s}}},' "$SLIP_SCHEMA"
	printf '"result":{"pointer":"/choices/0/message/content","as":"json"},"doubt":[{"pointer":"/error/code","min":500}],'
	printf '"require":[{"pointer":"/choices/0/finish_reason","equals":"stop"},{"pointer":"/model","equals":"%s"}]%s}' "${2:-m-1}" "${3:+,$3}"
}

FIXTURES='[{"name":"capitals","input":{"text":"pay 12.50 to zoe"},"checks":[{"pointer":"/text","equals":"PAY 12.50 TO ZOE"},{"pointer":"/amount","equals":12.5}]}]'
ROUND='{"rounds":1,"overrides":{"temperature":0}}'

# contract NAME ROUTES [MEMBERS]: ROUTES are JSON with commas between. A member given again replaces none: give each once.
contract() {
	operator PUT "/v1/contracts/$1" -d "{\"result_schema\":$SLIP_SCHEMA,\"fixtures\":$FIXTURES,\"certify\":$ROUND,\"routes\":[$2]${3:+,$3}}"
	[[ $status == 20[01] ]] || { printf 'contract %s: %s %s\n' "$1" "$status" "$body" >&2; return 1; }
}

# chat PRINTER [WAY] [MODES]: from now on
chat() { shop "/shop/mode?printer=$1&mode=chat=${2:-answer}${3:+,$3}" -X PUT -o /dev/null; }

# met PRINTER...: how many requests each has had, with one look at the shop.
met() {
	local name all=$(shop /shop/counts)

	for name; do
		[[ $all =~ \"$name\":\{\"requests\":([0-9]+) ]] && printf '%s ' "${BASH_REMATCH[1]}" || printf '0 '
	done
}

# certify NAME STATUS [OPTIONS]: by the command; what it says goes to $said.
certify() {
	local want=$2 code=0

	said=$(onejob contract certify "$1" --side-effects "${@:3}" 2>&1) || code=$?
	[ $code = "$want" ] || { printf 'certify %s: %s\n%s\n' "$1" "$code" "$said" >&2; return 1; }
}

ended() { # ID: nothing goes on by itself
	look "$1"
	case $body in *'"state":"queued"'* | *'"state":"running"'*) return 1 ;; esac
}

# run_job CONTRACT [MEMBERS of the job]: a job of it, up to where nothing goes on by itself; $job is its id, $body the job.
run_job() {
	create "$1-$RANDOM$RANDOM" "{\"contract\":\"$1\",\"input\":{\"text\":\"pay 12.50 to zoe\"}${2:+,$2}}"
	is "created for $1" "$status" 201
	[[ $body =~ \"id\":\"([0-9a-f-]{36})\" ]]
	job=${BASH_REMATCH[1]}
	wait_for 15 ended "$job"
}

# The job in $body, in a line: its state, the last attempt's reason and provider, the count of attempts, whether there is a result.
line() {
	field '[.state, (.attempts[-1] | .reason, .http_status, .provider), .attempt_count, (.result != null), .advice] | map(tostring) | join(" ")'
}

passed_over() { field '.passed_over | map("\(.after) \(.provider) \(.why)") | join(", ")'; }
