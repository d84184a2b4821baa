# shellcheck shell=bash disable=SC2034,SC2154 # me, top and what the options set are those of whoever sources this
# What the load tests share: a stack of their own, parts beside it, and how CPU and memory are read. Bash, after `set -eu`,
# with $me (the program's name in messages) and $top (the source).

# shellcheck source=tests/support/daemons.sh
. "$top/tests/support/daemons.sh"
# shellcheck source=tests/support/stack.sh
. "$top/tests/support/stack.sh"

build=${ONEJOB_BUILD:-$top/build}
dir=	# of the stack; with --dir it stays
keep_dir=
workers=2
ours=()	# parts that ./run knows nothing of
scratch=	# results and lists, for the time of a run

load_fail() { # MESSAGE [LOG]
	echo "$me: $1" >&2
	if [ -n "${2-}" ] && [ -s "$2" ]; then
		echo "$me: the end of $2:" >&2
		tail -n 15 "$2" >&2
	fi
	exit 1
}

usage_error() {
	echo "$me: $1 ($me --help)" >&2
	exit 2
}

number() { # OPTION VALUE MIN MAX
	case $2 in
	'' | *[!0-9]* | ?????????*) usage_error "$1 needs a number, not '$2'" ;;
	esac
	if [ "$((10#$2))" -lt "$3" ] || [ "$((10#$2))" -gt "$4" ]; then
		usage_error "$1 goes from $3 to $4, not $2"
	fi
	echo "$((10#$2))"
}

need_program() { # PROGRAM PACKAGE
	command -v "$1" >/dev/null || load_fail "$1 is missing: install the package $2"
}

# --- the stack, with what was built for the load tests

settle_load_dir() {
	if [ -z "$dir" ]; then
		dir=$(mktemp -d "${TMPDIR:-/tmp}/oj.XXXXXX")	# short: a socket's path has 107 bytes
		dir=$(cd -- "$dir" && pwd -P)
		return 0
	fi
	keep_dir=yes
	mkdir -p -- "$dir" || load_fail "$dir can't be made"
	dir=$(cd -- "$dir" && pwd -P)
	[ -z "$(stack_parts_up)" ] || load_fail "a stack runs in $dir, and these tests empty its tables: choose another folder"
	if [ -e "$dir/settings" ] && [ ! -e "$dir/load" ]; then
		load_fail "$dir has a stack that wasn't made by a load test, and these tests empty its tables: choose another folder"
	fi
}

# The pollers are stopped: what is measured starts its own.
start_stack() {
	local stack_port

	settle_load_dir
	trap end_stack EXIT
	trap 'exit 130' INT
	trap 'exit 143' HUP TERM
	scratch=$dir/load
	mkdir -p "$scratch"
	stack_port=$(free_port) || load_fail "no free port"
	echo "Starting a stack in $dir" >&2
	ONEJOB_BUILD=$build "$top/run" --detach --dir "$dir" --port "$stack_port" --workers "$workers" --pollers 1 \
		>"$scratch/run.out" 2>&1 || load_fail "the stack doesn't start" "$scratch/run.out"
	build_load_programs
	# shellcheck disable=SC1091
	. "$dir/env"
	part_stop poller-1 40
	database_sql <<-SQL
		CREATE DATABASE IF NOT EXISTS load_test CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
		GRANT ALL PRIVILEGES ON load_test.* TO onejob@localhost;
	SQL
}

build_load_programs() (
	exec 8<"$top"	# ./run takes the same lock
	flock 8
	make -C "$build" load-programs >"$scratch/build.log" 2>&1 || load_fail "the build failed" "$scratch/build.log"
)

end_stack() {
	local status=$? name

	trap '' HUP INT TERM
	for name in "${ours[@]}"; do
		part_stop "$name" 10
	done
	ONEJOB_GRACE_SECONDS=1 "$top/run" --stop --dir "$dir" >/dev/null 2>&1 || echo "$me: what runs in $dir can't be stopped" >&2
	if [ -n "$keep_dir" ]; then
		echo "The stack's data and logs stay in $dir" >&2
	elif [ -z "$(stack_parts_up)" ]; then
		rm -rf "$dir"
	fi
	exit "$status"
}

# our_part NAME SECONDS TEST COMMAND...: started, awaited, and ended with the stack. TEST is one word.
our_part() {
	local name=$1 seconds=$2 answers=$3

	shift 3
	ours+=("$name")
	part_launch "$name" "$@"
	disown	# its end is no news
	part_await "$name" "$seconds" "$answers" || load_fail "$name doesn't start" "$(part_log "$name")"
}

our_part_over() { # NAME
	part_stop "$1" "${2:-10}" "${3:-TERM}"
}

sql() { # SQL on stdin; bare values come out
	database_sql -N -B onejob
}

put_provider_row() { # NAME JSON
	printf '%s\n' "$2" | onejob provider put "$1" - >/dev/null || load_fail "the provider $1 can't be put"
}

# --- what it costs

# Hundredths of a second of CPU, user and system, that processes have used up to now.
cpu_ticks() { # PID...
	local pid files=()

	for pid; do
		files+=("/proc/$pid/stat")
	done
	cat "${files[@]}" 2>/dev/null | awk '{ sub(/^.*\) /, ""); ticks += $12 + $13 } END { print ticks + 0 }'
}

part_ticks() { # NAME
	# shellcheck disable=SC2046
	cpu_ticks $(part_pids "$1")
}

# What a cell begins with, and, once it is over, the hundredths of the machine's CPU time meanwhile that went to others than
# this program with all it started in the foreground, and the parts that are named. Kernel threads are others.
watch_machine() { # PART...
	watched=("$@")
	watched_before="$EPOCHREALTIME $(machine_ticks) $(own_ticks)"
}

others_percent() {
	echo "$watched_before $EPOCHREALTIME $(machine_ticks) $(own_ticks) $(nproc)" |
		awk '{ all = ($4 - $1) * 100 * $7; others = ($5 - $2) - ($6 - $3); printf "%.0f\n", (all > 0 && others > 0 ? 100 * others / all : 0) }'
}

machine_ticks() {
	awk '/^cpu / { print $2 + $3 + $4 + $7 + $8 + $9 }' /proc/stat
}

# The shell itself with the children that have ended, and the parts.
own_ticks() {
	local name sum

	sum=$(awk '{ sub(/^.*\) /, ""); print $12 + $13 + $14 + $15 }' /proc/$$/stat)
	for name in "${watched[@]}"; do
		sum=$((sum + $(part_ticks "$name")))
	done
	echo "$sum"
}

# What wrk hung up on is still worked on. Until a part does nothing, for half a minute at most.
await_idle() { # NAME
	local before tries

	for ((tries = 0; tries < 150; tries++)); do
		before=$(part_ticks "$1")
		sleep 0.2
		[ "$(($(part_ticks "$1") - before))" -gt 1 ] || return 0
	done
}

# KiB of memory, each page that processes share counted once over all of them that share it.
part_pss_kb() { # NAME
	local pid files=()

	for pid in $(part_pids "$1"); do
		files+=("/proc/$pid/smaps_rollup")
	done
	cat "${files[@]}" 2>/dev/null | awk '/^Pss:/ { kb += $2 } END { print kb + 0 }'
}

# --- tables

# For awk programs: median(list, n) of list[1..n], which it sorts.
# shellcheck disable=SC2016
median_awk='
function median(list, n, i, k, x) {
	for (i = 2; i <= n; i++) {
		x = list[i]
		for (k = i - 1; k > 0 && list[k] > x; k--)
			list[k + 1] = list[k]
		list[k + 1] = x
	}
	return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
}
'

# What a table of figures is worth nothing without.
print_machine() {
	local cpu memory

	cpu=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)
	memory=$(awk '/^MemTotal:/ { printf "%.0f GB", $2 / 1e6 }' /proc/meminfo)
	echo "$(nproc) cores (${cpu:-unknown}), $memory, Linux $(uname -r); $(date -u +%Y-%m-%d)"
	echo "$(onejob --version); $(mariadbd --version | sed 's/.*Ver \([^ ]*\).*/MariaDB \1/');" \
		"$(nginx -v 2>&1 | sed 's/.*version: //'); $(curl --version | sed -n '1s/.*\(libcurl[^ ]*\).*/\1/p');" \
		"flush at every commit: $(echo 'SELECT @@innodb_flush_log_at_trx_commit' | sql)," \
		"buffer pool $(echo 'SELECT @@innodb_buffer_pool_size DIV 1048576' | sql) MB, $workers API processes of ${ONEJOB_THREADS:-8} threads"
	echo
}

# --- jobs

# The columns of a table that can be written.
columns_of() { # TABLE
	sql <<-SQL
		SET SESSION group_concat_max_len = 65536;
		SELECT GROUP_CONCAT(column_name) FROM information_schema.columns
		WHERE table_schema = 'onejob' AND table_name = '$1' AND is_generated = 'NEVER';
	SQL
}

# An id like those of jobs, in the order of seq; KIND keeps two tables' apart, a digit.
id_of_seq() { # KIND
	echo "UNHEX(CONCAT(LPAD(HEX(FLOOR(UNIX_TIMESTAMP(NOW(6)) * 1000)), 12, '0'), '7000800$1', LPAD(HEX(seq), 12, '0')))"
}

# The text of an id in column COLUMN, for a SELECT.
text_of_id() { # COLUMN
	printf '%s' "LOWER(REGEXP_REPLACE(HEX($1), '(.{8})(.{4})(.{4})(.{4})(.{12})', '\\\\1-\\\\2-\\\\3-\\\\4-\\\\5'))"
}

# So many queued jobs of one owner.
queue_jobs() { # COUNT PROVIDER
	sql <<-SQL
		INSERT INTO jobs (id, owner, idempotency_key, fingerprint, provider, next_provider, input, state, max_attempts,
			attempts_allowed, run_after, created_at, updated_at)
		SELECT $(id_of_seq 0), 'load', CONCAT(UUID_SHORT(), '-', seq), UNHEX(SHA2(seq, 256)), '$2', '$2',
			CONCAT('{"number":', seq, ',"text":"', REPEAT('It was the best of times, ', 10), '"}'), 'queued', 3, 3, NOW(6), NOW(6), NOW(6)
		FROM seq_1_to_$1;
	SQL
}

# Until so many requests wait for a printer that doesn't answer.
await_open() { # PRINTER COUNT
	curl -fsS -o /dev/null --max-time 130 "$PRINTSHOP_URL/shop/wait?printer=$1&open=$2&timeout_ms=120000" ||
		load_fail "the poller didn't send $2 requests" "$(part_log poller-1)"
}

forget_requests() {
	curl -fsS -o /dev/null --max-time 10 -X POST "$PRINTSHOP_URL/shop/reset" || load_fail "the print shop doesn't answer"
}

# --- wrk

# run_wrk SCRIPT CONNECTIONS SECONDS URL: prints the script's line. What else wrk says is shown where it fails.
run_wrk() {
	local out

	out=$(LOAD_TAG="$EPOCHREALTIME" wrk -t1 -c"$2" -d"$3s" --timeout 20s -s "$top/tests/load/$1.lua" "$4") || {
		printf '%s\n' "$out" >&2
		load_fail "$1 at $2 connections failed"
	}
	printf '%s\n' "$out" | grep '^cell	' || load_fail "$1 at $2 connections said nothing"
}
