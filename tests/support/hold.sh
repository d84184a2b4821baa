#!/bin/sh
# hold.sh WORKERS PROGRAM: started by spawn-fcgi with the listening socket as descriptor 0. Holds the socket through
# generations of workers: when multiwatch ends for whatever reason, the next one is started on the same socket, and
# what waits in its queue isn't lost.
#
# TERM or INT: the workers finish what they have in hand, and all of it ends. If this process is killed, the kernel
# sends TERM down the line (setpriv --pdeathsig), so no workers stay behind on the socket.
# multiwatch passes on its default signal, USR1: its option for another one is off by one.
set -u

workers=$1
program=$2
tether="$(command -v setpriv) --pdeathsig TERM"	# multiwatch wants a path
leaving=
watch=

leave() {
	leaving=1
	[ -z "$watch" ] || kill -TERM "$watch" 2>/dev/null
}

trap leave TERM INT

exec 3<&0
while [ -z "$leaving" ]; do
	# the shell gives /dev/null to what runs in the background, hence descriptor 3
	# shellcheck disable=SC2086 # the tether is three words
	$tether multiwatch -f "$workers" -r 100 -- $tether "$program" <&3 3<&- &
	watch=$!
	while kill -0 "$watch" 2>/dev/null; do
		wait "$watch"
	done
	if [ -z "$leaving" ]; then
		echo "hold: multiwatch has ended; once more in a second" >&2
		sleep 1 3<&-	# a program that can't start must not spin
	fi
done
