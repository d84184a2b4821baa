# shellcheck shell=bash disable=SC2034,SC2154 # the stack's words and variables come from stack.bash
# More words for the tests of the poller's work. `load stack`, `load front`, then `load work`.

# start NAME MODES [MEMBERS of the provider] [MEMBERS of the job]: a provider of its own at a printer of its own, and a job
# for it; $job is its id. NAME is the key, too.
start() {
	provider "$1" "/$1${2:+/$2}" "\"retry\":{\"base_ms\":50,\"max_ms\":100}${3:+,$3}"
	create "$1" "{\"provider\":\"$1\",\"input\":{\"sheet\":\"$1\"}${4:+,$4}}"
	is "created $1" "$status" 201
	job=$(field .id)
}

look() { operator GET "/v1/jobs/$1"; }	# ID: the job into $body

# attempt N: of the job in $body, in four words. 0: the last.
attempt() {
	local one=.attempts[$(($1 - 1))]

	field "$one.state" "$one.phase" "$one.reason" "$one.http_status"
}

# settles ID JOB_STATE ATTEMPT_WORDS [SECONDS]: the job comes to that state, its last attempt has those words.
settles() {
	wait_job "$1" "$2" "${4-15}"
	is 'last attempt' "$(attempt 0)" "$3"
}

wire() { counts "$1" requests; }	# PRINTER

# blocked ID: the job is unknown, nothing of it can start, and it stays as it is.
blocked() {
	local before asked

	look "$1"
	before=$body
	is 'the job' "$(field '[.state, .advice, .result, .version] | tojson')" '["unknown","ask_operator",null,0]'
	for asked in '{}' '{"provider":"good"}'; do
		api POST "/v1/jobs/$1/attempts" -d "$asked"
		is 'another attempt' "$status $(field .type)" '409 /problems/attempt-in-doubt'
	done
	look "$1"
	is 'the job afterwards' "$body" "$before"
}

# free ID: the job has failed, and another attempt may start at once and win.
free() {
	look "$1"
	is state "$(field .state)" failed
	api POST "/v1/jobs/$1/attempts" -d '{"provider":"good"}'
	is 'another attempt' "$status" 202
	wait_job "$1" succeeded
}

seconds_of() { date -u -d "$1" +%s.%6N; }	# RFC 3339

# gap_ms N: between the starts of attempts N and N + 1 of the job in $body.
gap_ms() {
	local from to

	from=$(field ".attempts[$1 - 1].started_at")
	to=$(field ".attempts[$1].started_at")
	[ "$to" != null ] || { echo "there is no attempt $(($1 + 1))" >&2; return 1; }
	echo $((($(date -u -d "$to" +%s%N) - $(date -u -d "$from" +%s%N)) / 1000000))
}

# within WHAT VALUE MIN MAX
within() {
	[ "$2" -ge "$3" ] && [ "$2" -le "$4" ] || { echo "$1: have $2, want $3 to $4" >&2; return 1; }
}

# flood FOLDER FROM TO PROVIDER [OWNER_TOKEN]: creates with the keys PROVIDER-FROM ... PROVIDER-TO, forty at a time, by one
# curl. Each answer is FOLDER/KEY, its status a line "KEY STATUS" in FOLDER/codes.
flood() {
	local i key

	mkdir -p "$1"
	for ((i = $2; i <= $3; i++)); do
		key=$4-$i
		printf 'url = "%s/v1/jobs"\nheader = "Authorization: Bearer %s"\nheader = "Content-Type: application/json"\n' \
			"$ONEJOB_URL" "${5-$ONEJOB_TOKEN}"
		printf 'header = "Idempotency-Key: %s"\ndata = "{\\"provider\\":\\"%s\\",\\"input\\":%d%s}"\n' "$key" "$4" "$i" \
			"${FLOOD_MEMBERS-}"
		printf 'output = "%s/%s"\nwrite-out = "%s %%{http_code} %%{time_total}\\n"\nmax-time = 60\n' "$1" "$key" "$key"
		[ "$i" = "$3" ] || echo next
	done >"$1/config"
	curl -sS -Z --parallel-immediate --parallel-max 40 -K "$1/config" >>"$1/codes" 2>>"$1/errors" 3>&- || true
}

# The attempts by the shop's book and by the database: "KEY COUNT" a line, the dashes taken out.
wire_by_key() {
	shop /shop/requests | jq -r '.[].key // empty' | tr -d - | sort | uniq -c | awk '{ print $2, $1 }' | sort
}

# sent_at_most_once [KEYS]: no key at the shop was met more often than there are attempts that may have sent it. A key is the job's
# id and the generation, so this is "one attempt, one wire request" for every attempt there is. KEYS, one a line, are left out.
sent_at_most_once() {
	local bad

	bad=$(join -a 1 -e 0 -o 0,1.2,2.2 <(wire_by_key) <(sql -e "SELECT CONCAT(LOWER(HEX(job_id)), generation), COUNT(*)
		FROM attempts WHERE phase IS NULL OR phase <> 'not_sent' GROUP BY 1" | tr '\t' ' ' | sort) | awk '$2 > $3' |
		grep -vF -e "${1:-no key}" || true)
	[ -z "$bad" ] || { printf 'key, wire requests, attempts:\n%s\n' "$bad" >&2; return 1; }
}

# own_poller NAME [ENVIRONMENT...] [-- OPTIONS...]: one more poller, with its log in the stack's folder; $poller is its pid.
own_poller() {
	local name=$1 settings=()

	shift
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		settings+=("$1")
		shift
	done
	[ $# -eq 0 ] || shift
	env "${settings[@]}" "$ONEJOB_BUILD/onejob-poller" "$@" </dev/null >>"$STACK/log/$name.log" 2>&1 3>&- &
	poller=$!
	echo $poller >"$STACK/$name.pid"
}

poller_log() { cat "$STACK/log/$1.log"; }

gone() { ! kill -0 "$1" 2>/dev/null; }	# PID

# ended PID: within so many seconds; its exit status in $code.
ended() {
	wait_for "$2" gone "$1"
	code=0
	wait "$1" || code=$?
}

registered() { [ "$(sql -e "SELECT COUNT(*) FROM pollers WHERE pid = $1 AND lease_until > UTC_TIMESTAMP(6)")" = 1 ]; }	# PID

# The stack's own poller goes, and stays away until the next stack_start.
no_stack_poller() {
	local pid

	pid=$(cat "$STACK/poller-1.pid")
	kill -TERM "$pid"
	wait_for 20 gone "$pid"
}

# in_ms MS: the time then, from now.
in_ms() {
	local us=$((${EPOCHREALTIME/[^0-9]/} + $1 * 1000))

	printf '%s.%06dZ\n' "$(date -u -d "@$((us / 1000000))" +%FT%T)" $((us % 1000000))
}
