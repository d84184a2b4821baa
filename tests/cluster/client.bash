#!/usr/bin/env bash
# What clients of the cluster do, in a process of its own where they live: `client.bash VERB ...`, with $TOKEN.
#
#   load URL NAME FILE PROVIDER     creates with the keys NAME-1, NAME-2 ... one after the other until FILE.stop is there. What isn't
#                                   answered 200 or 201 is sent again with the same key, as a client should. FILE: a line "KEY ID BEGAN
#                                   ENDED TRIES" (microseconds) for each that was acknowledged; FILE.failed: "KEY STATUS" for every other answer
#   clicks NAME FROM TO FILE PROVIDER HOST:PORT...     one create at all these addresses at once, for each key NAME-FROM to NAME-TO.
#                                   FILE: a line "KEY STATUS ID" for each answer
set -u

# shellcheck source=tests/support/plain_http.bash
. "$(dirname "$0")/../support/plain_http.bash"

now_us() { echo "${EPOCHREALTIME/[^0-9]/}"; }

# id_of BODY: a job's id comes first in it; "-" where it is none.
id_of() {
	local id=-

	[[ $1 != '{"id":"'* ]] || { id=${1#'{"id":"'}; id=${id%%\"*}; }
	echo "$id"
}

load() { # URL NAME FILE PROVIDER
	local i=0 key began tries

	: >"$3"
	: >"$3.failed"
	while [ ! -e "$3.stop" ]; do
		key=$2-$((i += 1)) tries=0 began=${EPOCHREALTIME/[^0-9]/}
		while :; do
			tries=$((tries + 1))
			plainly POST "$1" /v1/jobs -H "Authorization: Bearer $TOKEN" -H "Idempotency-Key: $key" -H 'Content-Type: application/json' \
				-d "{\"provider\":\"$4\",\"input\":\"$key\"}" 2>/dev/null || status=none
			[[ $status != 20[01] ]] || break
			echo "$key $status" >>"$3.failed"
			sleep 0.2	# a client that doesn't hammer
		done
		echo "$key $(id_of "$body") $began $(now_us) $tries" >>"$3"
		sleep 0.02
	done
}

clicks() { # NAME FROM TO FILE PROVIDER HOST:PORT...
	local i data socket sockets line name=$1 from=$2 to=$3 file=$4 provider=$5

	shift 5
	for ((i = from; i <= to; i++)); do
		data="{\"provider\":\"$provider\",\"input\":$i}"
		sockets=()
		for line; do
			exec {socket}<>"/dev/tcp/${line/://}"
			sockets+=("$socket")
		done
		for socket in "${sockets[@]}"; do
			printf 'POST /v1/jobs HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer %s\r\nIdempotency-Key: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s' \
				"$TOKEN" "$name-$i" ${#data} "$data" >&"$socket"
		done
		for socket in "${sockets[@]}"; do
			body='' status=none length=''
			! take_head "$socket" || take_body "$socket" || status='cut'
			exec {socket}>&-
			echo "$name-$i $status $(id_of "$body")" >>"$file"
		done
	done
}

"$@"
