# shellcheck shell=bash disable=SC2154 # dir is set by those who source this
# The background processes of one folder, "$dir" (absolute, physical), each called a part and known by a name:
# its log is $dir/log/NAME.log, its process id stands in $dir/NAME.pid.
#
# A process belongs to a part if its error output is that part's log. It stays true for what a part forks, it needs no
# name of a program, and it can't be true of a stranger whose number happens to stand in an old pid file.

part_log() {
	echo "$dir/log/$1.log"
}

is_part() { # NAME PID
	local log=$dir/log/$1.log

	[ -e "/proc/$2/fd/2" ] || return 1
	[ "/proc/$2/fd/2" -ef "$log" ] || [ "$(readlink "/proc/$2/fd/2" 2>/dev/null)" = "$log (deleted)" ]
}

# Every live process of a part, one a line; orphans too, when the main process is gone.
part_pids() { # NAME
	local log=$dir/log/$1.log path	# no character of a pattern is in $dir

	find /proc/[0-9]*/fd/2 -maxdepth 0 \( -lname "$log" -o -lname "$log (deleted)" \) -printf '%h\n' 2>/dev/null |
		while read -r path; do
			path=${path#/proc/}
			echo "${path%/fd}"
		done
}

# The part's main process, if it is alive and ours; else nothing.
part_main() { # NAME
	local pid=

	[ -e "$dir/$1.pid" ] || return 0
	read -r pid <"$dir/$1.pid" 2>/dev/null || true
	case $pid in
	'' | *[!0-9]*) return 0 ;;
	esac
	! is_part "$1" "$pid" || echo "$pid"
}

part_up() { # NAME
	[ -n "$(part_main "$1")" ]
}

part_down() { # NAME
	! part_up "$1"
}

part_gone() { # NAME
	[ -z "$(part_pids "$1")" ]
}

# wait_until SECONDS COMMAND...: 1 if the time is over and the command never succeeded.
wait_until() {
	local deadline=$((${EPOCHREALTIME/[^0-9]/} + $1 * 1000000))

	shift
	until "$@"; do
		[ "${EPOCHREALTIME/[^0-9]/}" -lt "$deadline" ] || return 1
		sleep 0.05
	done
}

# part_launch NAME COMMAND...: in a session of its own, so that the terminal's Ctrl-C isn't its business, and without
# the lock (descriptor 9).
part_launch() {
	local name=$1 log

	shift
	log=$(part_log "$name")
	(cd "$dir" && exec setsid "$@" </dev/null >>"$log" 2>&1 9>&-) 9>&- &
	echo $! >"$dir/$name.pid"
	# Until its error output is the log it isn't known as the part, and would be taken for dead.
	until is_part "$name" $! || ! kill -0 $! 2>/dev/null; do :; done
}

# part_await NAME SECONDS COMMAND...: until the command succeeds; gives up early when the part has died.
part_await() {
	local name=$1 seconds=$2

	shift 2
	wait_until "$seconds" part_settled "$name" "$@" || true
	part_up "$name" && "$@"
}

part_settled() { # NAME COMMAND...
	local name=$1

	shift
	"$@" || part_down "$name"
}

part_signal() { # NAME [SIGNAL]: to the main process, or to what it left behind
	local pids

	pids=$(part_main "$1")
	[ -n "$pids" ] || pids=$(part_pids "$1")
	# shellcheck disable=SC2086 # a word each
	[ -z "$pids" ] || kill "-${2:-TERM}" $pids 2>/dev/null || true
}

# What still lives after so many seconds is killed.
part_await_end() { # NAME SECONDS
	if ! wait_until "$2" part_gone "$1"; then
		# shellcheck disable=SC2046
		kill -KILL $(part_pids "$1") 2>/dev/null || true
		wait_until 10 part_gone "$1" || echo "run: $1 can't be ended" >&2
	fi
	rm -f "$dir/$1.pid"
}

part_stop() { # NAME SECONDS [SIGNAL]
	part_signal "$1" "${3:-TERM}"
	part_await_end "$1" "$2"
}
