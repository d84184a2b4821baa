# shellcheck shell=bash
# A private stack for one file of end-to-end tests, and the words they are written in. `load stack` in a .bats file; then
# setup_file calls stack_up [RUN OPTIONS...], teardown_file calls stack_down.

bats_require_minimum_version 1.5.0
load ../support/plain_http

# bats follows every command to tell the line that failed, which makes a command fifty times as slow. The lines of the test itself
# are followed, those of the words below aren't.
setup() {
	declare -ft "$BATS_TEST_NAME"
	set +T
	TEST_SUBSHELL=$BASH_SUBSHELL
}

stack_up() {
	TOP=$(cd "${srcdir:-.}" && pwd -P)
	STACK=$(mktemp -d "${TMPDIR:-/tmp}/oj.XXXXXX")	# short: a socket's path has 107 bytes
	export TOP STACK
	export ONEJOB_BUILD=${ONEJOB_BUILD:-$PWD}
	STACK_OPTIONS="$*"
	export STACK_OPTIONS
	teller_start
	stack_start
	# shellcheck disable=SC1091
	set -a && . "$STACK/env" && set +a
}

# Start, or start again what was killed.
stack_start() {
	local tries=0

	while :; do
		PORT=${PORT:-$((20000 + RANDOM % 20000))}
		export PORT
		[ -z "${ONEJOB_CALLBACK_KEYS-}" ] || export ONEJOB_CALLBACK_URL=http://127.0.0.1:$PORT
		# shellcheck disable=SC2086
		ONEJOB_BUILT=yes "$TOP/run" --detach --dir "$STACK" --port "$PORT" $STACK_OPTIONS >"$STACK/run.out" 2>&1 3>&- && return 0
		tries=$((tries + 1))
		if [ $tries -ge 3 ] || ! grep -qi 'port' "$STACK/run.out"; then
			cat "$STACK/run.out" >&2
			return 1
		fi
		unset PORT
	done
}

free_port() {
	local port

	while port=$((20000 + RANDOM % 12000)) && (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do :; done
	echo "$port"
}

# The data go too, so nothing needs to end well. A process is the stack's if its error output is a log there.
stack_down() {
	local pids

	while mapfile -t pids < <(find /proc/[0-9]*/fd/2 -maxdepth 0 -lname "$STACK/log/*" 2>/dev/null | cut -d/ -f3); [ ${#pids[@]} -gt 0 ]; do
		kill -9 "${pids[@]}" 2>/dev/null || true
	done
	kill "$TELLER" || true
	rm -rf "$STACK"
}

# api METHOD PATH [CURL OPTIONS...]: as the user; the answer's body in $body, status in $status, header lines in $headers. By curl,
# but for what needs none of it, which is most.
api() {
	local own=(-H "Authorization: Bearer ${TOKEN-$ONEJOB_TOKEN}" -H 'Content-Type: application/json')

	local code=0

	plainly "$1" "${ONEJOB_URL#http://}" "$2" "${own[@]}" "${@:3}" || code=$?
	[ $code != 1 ] || { by_curl "$1" "$2" "${own[@]}" "${@:3}"; code=$?; }
	return $code
}

by_curl() { # METHOD PATH CURL OPTIONS...
	: >"$BATS_TEST_TMPDIR/headers"
	curl -sS --max-time 60 -X "$1" -D "$BATS_TEST_TMPDIR/headers" -o - -w '\n%{http_code}' "${@:3}" "$ONEJOB_URL$2" \
		>"$BATS_TEST_TMPDIR/answer.body"
	slurp body "$BATS_TEST_TMPDIR/answer.body"
	status=${body##*$'\n'}
	body=${body%$'\n'*}
	slurp headers "$BATS_TEST_TMPDIR/headers"
	headers=${headers//$'\r'/}
}

# slurp NAME FILE: its text, less the line ends behind it, without another process.
slurp() {
	IFS= read -r -d '' "$1" <"$2" || true
	less_line_ends "$1"
}

operator() { TOKEN=$ONEJOB_OPERATOR_TOKEN api "$@"; }

# create KEY BODY [CURL OPTIONS...]
create() {
	local key=$1 json=$2
	shift 2
	api POST /v1/jobs -H "Idempotency-Key: \"$key\"" -d "$json" "$@"
}

# A jq that lives as long as the stack, as starting one takes longer than most requests: it is given a line {"n":...,"paths":...,
# "of":...} and answers with n, "=" and what stands at those paths, or with "!", up to a NUL.
teller_start() {
	mkfifo "$STACK/teller.in" "$STACK/teller.out"
	# shellcheck disable=SC2016
	jq -R -j --unbuffered '(try (fromjson | .of as $of | "\(.n)=" + (.paths | map(. as $path | $of | getpath($path) |
		if type == "string" then . else tojson end) | join(" "))) catch "!"), "\u0000"' \
		<>"$STACK/teller.in" 1<>"$STACK/teller.out" 3>&- &
	TELLER=$!
	export TELLER
}

# tell JSON PATHS: PATHS is an array of jq's paths. 1 if the text isn't one line of JSON, or has no such places. An answer that
# nobody took before is dropped.
tell() {
	local answer n=$RANDOM$RANDOM

	[[ $1 != *$'\n'* ]] || return 1
	printf '{"n":%s,"paths":%s,"of":%s}\n' "$n" "$2" "$1" 1<>"$STACK/teller.in"
	while IFS= read -r -d '' -t 20 answer <>"$STACK/teller.out"; do
		case $answer in
		"$n="*) printf '%s\n' "${answer#*=}"; return 0 ;;
		'!') return 1 ;;
		esac
	done
	echo 'the teller does not answer' >&2
	return 1
}

# paths_of FILTER...: as an array of paths in $paths, if each is a plain .a.b[0].c
paths_of() {
	local filter part parts

	paths=
	for filter; do
		[[ $filter =~ ^(\.[a-z_]+|\[-?[0-9]+\])+$ ]] || return 1
		filter=${filter//[/.}
		IFS=. read -r -a parts <<<"${filter//]/}"
		paths+=${paths:+,}[
		for part in "${parts[@]:1}"; do
			[[ $part == [a-z_]* ]] && part="\"$part\""
			paths+="$part,"
		done
		paths=${paths%,}]
	done
	paths="[$paths]"
}

# field FILTER: of the last answer. Several plain ones give their values with blanks between. In $(...), where it usually stands,
# jq takes the place of that process.
field() {
	local paths

	if paths_of "$@" && tell "$body" "$paths"; then
		return 0
	fi
	[ $# = 1 ] || { echo "no such members: $* in $body" >&2; return 1; }
	if ((BASH_SUBSHELL > ${TEST_SUBSHELL-0})); then
		exec jq -r "$1" <<<"$body"
	fi
	jq -r "$1" <<<"$body"
}

# is WHAT HAVE WANT
is() {
	[ "$2" = "$3" ] || { printf '%s: have %s, want %s\nstatus %s body %s\n' "$1" "$2" "$3" "${status-}" "${body-}" >&2; return 1; }
}

# wait_for SECONDS COMMAND...: until it succeeds.
wait_for() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || { printf 'waited in vain for: %s\nlast: %s\n' "$*" "${body-}" >&2; return 1; }
		sleep 0.1
	done
}

job_is() { # ID STATE
	operator GET "/v1/jobs/$1"
	[[ $body == "{\"id\":\"$1\",\"state\":\"$2\","* ]]
}

wait_job() { wait_for "${3-15}" job_is "$1" "$2"; }	# ID STATE [SECONDS]

shop() { # PATH [CURL OPTIONS...]
	local method=GET body status headers

	case "${*:2}" in
	'') ;;
	'-X PUT -o /dev/null') method=PUT ;;
	'-X POST -o /dev/null') method=POST ;;
	*)
		curl -sS --max-time 60 "$PRINTSHOP_URL$1" "${@:2}"
		return ;;
	esac
	plainly $method "${PRINTSHOP_URL#http://}" "$1"
	[ "$method" != GET ] || printf '%s' "$body"
}

counts() { # PRINTER WHICH
	local count body status headers

	plainly GET "${PRINTSHOP_URL#http://}" /shop/counts
	count=$(tell "$body" "[[\"$1\",\"$2\"]]") || return 1
	echo "${count/null/0}"
}

# provider NAME PATH [MEMBERS]: a row that points to the print shop.
provider() {
	printf '{"url":"%s%s"%s}' "$PRINTSHOP_URL" "$2" "${3:+,$3}" | onejob provider put "$1" - >/dev/null
}

sql() { mariadb --no-defaults --socket="$STACK/mariadbd.sock" --user="$(id -un)" -N onejob "$@"; }
