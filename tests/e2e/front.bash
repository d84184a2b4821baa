# shellcheck shell=bash disable=SC2034,SC2154 # the stack's words and variables come from stack.bash, or go to a test
# More words for the tests at the front door. `load stack`, then `load front`.

# no COMMAND...: fails if it succeeds. (A bare `! command` fails no test.)
no() {
	if "$@"; then
		printf 'this should have failed: %s\n' "$*" >&2
		return 1
	fi
}

has() { # WHAT PATTERN TEXT: a line of the text matches
	grep -qE -- "$2" <<<"$3" || { printf '%s: nothing like %s in:\n%s\n' "$1" "$2" "$3" >&2; return 1; }
}

# header NAME: of the last answer, written as it is sent; every line of that name.
header() {
	local rest=$'\n'$headers

	while [[ $rest == *$'\n'"$1: "* ]]; do
		rest=${rest#*$'\n'"$1: "}
		printf '%s\n' "${rest%%$'\n'*}"
		rest=$'\n'${rest#*$'\n'}
	done
}

# refused STATUS NAME: the last answer is that problem, and is written as one.
refused() {
	is 'status and type' "$status $(field .type .status)" "$1 /problems/$2 $1"
	[[ $(field .title) =~ ^[A-Z] && $(field .detail) =~ [a-z]\ [a-z] ]] || { printf 'says nothing: %s\n' "$body" >&2; return 1; }
	is 'type and cache' "$(header Content-Type; header Cache-Control)" $'application/problem+json\nno-store'
	[[ $(header X-Request-Id) =~ ^[A-Za-z0-9-]{1,64}$ ]] || { printf 'not one X-Request-Id: %s\n' "$headers" >&2; return 1; }
}

# raw METHOD PATH [CURL OPTIONS...]: as api, with no header of its own.
raw() {
	local method=$1 path=$2

	shift 2
	body=$(curl -sS --max-time 60 -X "$method" -D "$BATS_TEST_TMPDIR/headers" -o - -w '\n%{http_code}' "$@" "$ONEJOB_URL$path")
	status=${body##*$'\n'} body=${body%$'\n'*}
	headers=$(<"$BATS_TEST_TMPDIR/headers")
	headers=${headers//$'\r'/}
}

# burst FOLDER N KEY BODY: N creates of one key at once. FOLDER/codes has a status a line, FOLDER/1... the bodies.
burst() {
	local i args=()

	mkdir -p "$1"
	for ((i = 1; i <= $2; i++)); do
		args+=(-o "$1/$i" "$ONEJOB_URL/v1/jobs")
	done
	curl -sS --no-progress-meter --max-time 60 -Z --parallel-immediate --parallel-max "$2" -w '%{http_code}\n' -H "Authorization: Bearer $ONEJOB_TOKEN" \
		-H 'Content-Type: application/json' -H "Idempotency-Key: \"$3\"" -d "$4" "${args[@]}" >"$1/codes" 3>&-
}

# one_job FOLDER N: what a burst came to: one id, one 201, otherwise 200. The id goes to $job.
one_job() {
	is 'answers' "$(grep -c . "$1/codes")" "$2"
	is 'the one that created' "$(grep -c '^201$' "$1/codes")" 1
	is 'the replays' "$(grep -c '^200$' "$1/codes")" $(($2 - 1))
	job=$(cd "$1" && jq -r .id $(seq "$2") | sort -u)
	has 'one id' '^[0-9a-f-]{36}$' "$job"
	is 'ids' "$(wc -l <<<"$job")" 1
}

# How many requests for a job have come to the shop, to whichever printer.
sent() { shop /shop/requests | jq --arg job "$1-" '[.[] | select((.key // "") | startswith($job))] | length'; }

dump() { mariadb-dump --no-defaults --socket="$STACK/mariadbd.sock" --user="$(id -un)" --skip-comments --skip-extended-insert "$@"; }

rows_of_job() { dump --hex-blob --no-create-info --where="id=x'${1//-/}'" onejob jobs; }

# The job, its attempts and its races, byte by byte.
rows_of() {
	rows_of_job "$1"
	dump --hex-blob --no-create-info --where="job_id=x'${1//-/}'" onejob attempts races
}

# The text stands neither in the database, as text or in hexadecimal, nor in a log.
nowhere() { # TEXT
	local hex

	hex=$(printf %s "$1" | od -An -v -tx1 | tr -d ' \n')
	no grep -qaF -- "$1" <(dump --all-databases)
	no grep -qaiF -- "$hex" <(dump --hex-blob onejob)
	no grep -rqaF -- "$1" "$STACK/log"
}

# tick N: N times a job that is created now runs to its end. Pollers have looked at the queue at least so often.
tick() {
	local i id

	for ((i = 0; i < $1; i++)); do
		create "tick-$RANDOM$RANDOM" '{"provider":"tick","input":"tick"}'
		is 'tick created' "$status" 201
		id=$(field .id)
		wait_job "$id" succeeded 30
	done
}

mode() { shop "/shop/mode?printer=$1&mode=$(jq -rn --arg m "$2" '$m | @uri')" -X PUT -o /dev/null; }	# PRINTER LIST

# What a session of its own holds until told otherwise: sql_hold STATEMENTS...; sql_let_go STATEMENT
sql_hold() {
	coproc HOLD { mariadb --no-defaults --socket="$STACK/mariadbd.sock" --user="$(id -un)" -N --unbuffered onejob 3>&-; }
	printf '%s;\n' "$@" "SELECT 'held'" >&"${HOLD[1]}"
	local line
	while read -r -t 30 line <&"${HOLD[0]}"; do
		[ "$line" != held ] || return 0
	done
	echo 'the session could not hold it' >&2
	return 1
}

sql_let_go() {
	local pid=$HOLD_PID

	printf '%s;\nquit\n' "$1" >&"${HOLD[1]}"
	wait "$pid" || true
}

# Inserts that wait for a lock: how many workers are in the middle of a create.
inserts_waiting() { sql -e "SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'onejob' AND info LIKE 'INSERT%INTO jobs%'"; }
inserts_wait() { [ "$(inserts_waiting)" -ge "$1" ]; }

# The processes of the API, the holder of its socket and the workers: their error output is its log.
api_pids() {
	find /proc/[0-9]*/fd/2 -maxdepth 0 -lname "$STACK/log/api.log" -printf '%h\n' 2>/dev/null | while IFS=/ read -r _ _ pid _; do echo "$pid"; done
}

workers() {
	local pid name

	for pid in $(api_pids); do
		! read -r name 2>/dev/null <"/proc/$pid/comm" || [ "$name" != onejob-api ] || echo "$pid"
	done
}

# None was purged, so the total that /metrics tells is that of the rows.
races_are_counted() {
	local rows body status headers

	rows=$(sql -e 'SELECT COUNT(*) FROM races')
	no test "$rows" = 0
	api GET /metrics
	is 'races in all' "$(grep '^onejob_races_total' <<<"$body")" "onejob_races_total $rows"
}
