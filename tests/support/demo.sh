# shellcheck shell=bash disable=SC2154 # ONEJOB_URL and the like come from $dir/env
# What onejob is for, on a running stack, a line a step. A step that comes out otherwise than expected says so and
# returns 1. Needs daemons.sh (wait_until).

demo_code=	# the last answer: its status,
demo_body=	# and its body

demo_say() { # WHAT CAME-BACK
	printf '  %-58s  %s\n' "$1" "$2"
}

demo_fail() { # WHAT-WAS-EXPECTED
	echo "run: the demo expected $1; the last answer was $demo_code $demo_body" >&2
	return 1
}

# demo_call TOKEN METHOD PATH [BODY [KEY]]: through nginx, as any client.
demo_call() {
	local answer args=(-sS --max-time 20 -X "$2" -H "Authorization: Bearer $1" -w '\n%{http_code}')

	[ -z "${4-}" ] || args+=(-H 'Content-Type: application/json' -d "$4")
	[ -z "${5-}" ] || args+=(-H "Idempotency-Key: \"$5\"")
	answer=$(curl "${args[@]}" "$ONEJOB_URL$3") || answer=$'\n000'
	demo_code=${answer##*$'\n'}
	demo_body=${answer%$'\n'*}
}

# The first member of that name with text as its value. Ids, states and types have no escapes, and in a job they come
# before anything that a client wrote.
demo_field() { # NAME [JSON]
	grep -oE "\"$1\" *: *\"[^\"]*\"" <<<"${2-$demo_body}" | head -n 1 | sed -E 's/^[^:]*: *"(.*)"$/\1/'
}

demo_expect() { # CODE TEXT
	if [ "$demo_code" != "$1" ] || ! grep -qF -- "$2" <<<"$demo_body"; then
		demo_fail "$1 with '$2'"
	fi
}

demo_state_is() { # JOB STATE
	demo_call "$ONEJOB_TOKEN" GET "/v1/jobs/$1"
	[ "$(demo_field state)" = "$2" ]
}

demo_await() { # JOB STATE SECONDS
	wait_until "$3" demo_state_is "$1" "$2" || demo_fail "job $1 to be $2 within $3 s"
}

demo_shop() { # METHOD PATH
	curl -fsS --max-time 10 -o /dev/null -X "$1" "$PRINTSHOP_URL$2" || demo_fail "the print shop to do $2"
}

# How often the shop was asked for a job: every request carries a key that begins with the job's id.
demo_prints() { # PRINTER JOB
	curl -fsS --max-time 10 "$PRINTSHOP_URL/shop/requests?printer=$1" |
		grep -oE "\"key\" *: *\"$2-[0-9]+\"" | grep -c . || true
}

# One click: status and id in a file of its own, so that two can be under way at once.
demo_click() { # BODY KEY FILE
	demo_call "$ONEJOB_TOKEN" POST /v1/jobs "$1" "$2"
	echo "$demo_code $(demo_field id)" >"$3"
}

demo_double_click() { # KEY; sets demo_job
	local body='{"provider": "inkjet", "input": {"print": "boarding pass", "copies": 1}}' one two prints
	local clicks=$dir/tmp/click

	demo_click "$body" "$1" "$clicks.1" &
	demo_click "$body" "$1" "$clicks.2"
	wait $!
	one=$(cat "$clicks.1") two=$(cat "$clicks.2")
	rm -f "$clicks.1" "$clicks.2"
	demo_job=${one#* }
	if [ "${one%% *} ${two%% *}" != '201 200' ] && [ "${one%% *} ${two%% *}" != '200 201' ] || [ "${two#* }" != "$demo_job" ]; then
		demo_fail "one 201, one 200 and one id for two clicks (and got '$one', '$two')" || return 1
	fi
	demo_say 'POST a print job twice at once, same key' "${one%% *} and ${two%% *}, one job: $demo_job"
	demo_await "$demo_job" succeeded 20 || return 1
	prints=$(demo_prints inkjet "$demo_job")
	[ "$prints" = 1 ] || demo_fail "one print, not $prints" || return 1
	demo_say 'ask the print shop how often it printed that' 'once'
}

demo_changed_payload() { # KEY
	demo_call "$ONEJOB_TOKEN" POST /v1/jobs '{"provider": "inkjet", "input": {"print": "boarding pass", "copies": 2}}' "$1"
	demo_expect 409 /problems/idempotency-key-reused || return 1
	demo_say 'POST with the same key, but two copies' "409 $(demo_field type)"
}

demo_jam() { # KEY; sets demo_job and demo_attempt
	demo_shop PUT '/shop/mode?printer=inkjet&mode=stall' || return 1
	demo_call "$ONEJOB_TOKEN" POST /v1/jobs '{"provider": "inkjet", "input": {"print": "ticket"}}' "$1"
	demo_expect 201 '"state"' || return 1
	demo_job=$(demo_field id)
	demo_say 'the inkjet jams; POST another job' "201 $demo_job"
	demo_await "$demo_job" unknown 20 || return 1
	demo_attempt=$(demo_field id "${demo_body#*\"attempts\"}")
	demo_say 'its time-out passes: printed or not?' "the job is unknown, not failed (attempt $demo_attempt)"
}

demo_refused_fallback() {
	demo_call "$ONEJOB_TOKEN" POST "/v1/jobs/$demo_job/attempts" '{"provider": "laser"}'
	demo_expect 409 /problems/attempt-in-doubt || return 1
	demo_say 'ask for the laser instead' "409 $(demo_field type)"
}

demo_release() {
	demo_call "$ONEJOB_OPERATOR_TOKEN" POST "/v1/attempts/$demo_attempt/settle" \
		'{"outcome": "released", "provider": "laser", "note": "the tray is empty"}'
	demo_expect 200 '"queued"' || return 1
	demo_say 'an operator looks, and releases the attempt to the laser' "200, the job is $(demo_field state)"
	demo_await "$demo_job" succeeded 20 || return 1
	demo_winner=$(demo_field completed_by)
	[ "$(demo_prints laser "$demo_job")" = 1 ] || demo_fail 'one print by the laser' || return 1
	demo_say 'the laser prints' "succeeded, completed by attempt $demo_winner"
}

demo_late_result() {
	demo_shop POST '/shop/release?printer=inkjet' || return 1
	demo_call "$ONEJOB_OPERATOR_TOKEN" POST "/v1/attempts/$demo_attempt/settle" \
		'{"outcome": "succeeded", "result": {"sheet": "from the inkjet, late"}}'
	demo_expect 409 /problems/attempt-lost || return 1
	demo_say 'the jam clears, and the inkjet'\''s sheet is reported' "409 $(demo_field type)"
	demo_call "$ONEJOB_OPERATOR_TOKEN" GET '/v1/races?limit=10'
	demo_expect 200 "$demo_attempt" || return 1
	demo_say 'GET /v1/races: the loser is on record, its payload not' \
		"$(demo_field why "${demo_body%"$demo_attempt"*}${demo_body##*"$demo_attempt"}"), $(demo_field sha256 | cut -c 1-12)..."
	demo_call "$ONEJOB_TOKEN" GET "/v1/jobs/$demo_job"
	demo_expect 200 "\"$demo_winner\"" || return 1
	! grep -qF 'from the inkjet' <<<"$demo_body" || demo_fail "no trace of the inkjet's result" || return 1
	demo_say 'GET the job once more' "$(demo_field state), the laser's result as it was"
}

demo_steps() {
	local run

	run=demo-$(od -An -N8 -tx1 /dev/urandom | tr -d ' \n')
	demo_double_click "$run-1" || return 1
	demo_changed_payload "$run-1" || return 1
	demo_jam "$run-2" || return 1
	demo_refused_fallback || return 1
	demo_release || return 1
	demo_late_result
}

# The inkjet is left as it was found, whatever happens.
demo() {
	local status=0

	demo_shop PUT '/shop/mode?printer=inkjet&mode=' || return 1
	demo_steps || status=1
	demo_shop PUT '/shop/mode?printer=inkjet&mode=' || status=1
	demo_shop POST '/shop/release?printer=inkjet' || status=1
	return "$status"
}
