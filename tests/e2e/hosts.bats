#!/usr/bin/env bats
# shellcheck disable=SC2154 # body, status and headers are set by the words of stack.bash
# What nginx makes of an API on several hosts: the upstream of cluster.conf.example with the files as they are shipped. A host is a
# socket here, behind which is the API or a stand-in that fails.

load stack
load front
load work

setup_file() {
	export ONEJOB_GRACE_SECONDS=1 ONEJOB_POLL_MS=50 ONEJOB_TRUST_OWNER=1
	stack_up --workers 1
	FCGI=$TOP/tests/support/fcgi.pl
	export FCGI
	provider away /away '"enabled":false'
	spawn-fcgi -s "$STACK/silent.sock" -n -- "$(command -v sleep)" 100000 >/dev/null 2>&1 3>&- &
	echo $! >"$STACK/silent.pid"
}

teardown_file() {
	kill "$(cat "$STACK/silent.pid")" || true
	stack_down
}

teardown() {
	site_down
}

# site_up [SED SCRIPT]: an nginx with the example and what it includes, for this test; the script is for all of them. $SITE is the API's
# server, $PEOPLE one that knows its users by a session.
site_up() {
	dir=$STACK/$BATS_TEST_NUMBER
	LOG=$STACK/log/site-$BATS_TEST_NUMBER.log
	mkdir -p "$dir/onejob" "$dir/tmp"
	cp "$TOP"/nginx/*.conf "$dir/onejob"
	sed -E "s,server 10\.0\.0\.1([123]):9000,server unix:$dir/host\1," "$TOP/nginx/cluster.conf.example" >"$dir/onejob/cluster.conf"
	[ "$(grep -c "unix:$dir/host" "$dir/onejob/cluster.conf")" = 3 ]
	[ -z "${1-}" ] || sed -E -i "$1" "$dir"/onejob/*.conf
	hosts_up 1 2 3
	for _ in 1 2 3 4 5; do
		SITE=127.0.0.1:$(free_port) PEOPLE=127.0.0.1:$(free_port) KNOWS=127.0.0.1:$(free_port)
		site_conf >"$dir/nginx.conf"
		(cd "$dir" && exec setsid nginx -c "$dir/nginx.conf" >>"$LOG" 2>&1 3>&- </dev/null) &
		NGINX=$!
		wait_for 20 eval 'gone $NGINX || curl -sS -o "$dir/none" "http://$SITE/onejob-problem" 2>"$dir/none"'
		! kill -0 $NGINX || return 0
	done
	cat "$LOG" >&2
	return 1
}

site_conf() {
	[ "$(id -u)" != 0 ] || echo 'user root;'
	cat <<-CONF
		daemon off;
		worker_processes 1;
		pid "$dir/nginx.pid";
		error_log "$LOG" warn;
		events { }
		http {
			client_body_temp_path "$dir/tmp/body";
			fastcgi_temp_path "$dir/tmp/fastcgi";
			proxy_temp_path "$dir/tmp/proxy";
			uwsgi_temp_path "$dir/tmp/uwsgi";
			scgi_temp_path "$dir/tmp/scgi";
			include onejob/http.conf;
			include onejob/limits.conf;
			include onejob/cluster.conf;
			access_log "$dir/access.log" onejob;
			server {
				listen $SITE;
				include onejob/locations.conf;
			}
			upstream onejob_authorizer {
				server $KNOWS;
			}
			server {
				listen $KNOWS;
				location / {
					add_header X-User \$cookie_who;
					return 204;
				}
			}
			server {
				listen $PEOPLE;
				client_max_body_size 1m;
				include onejob/server.conf;
				error_page 413 /onejob-problem;
				set \$onejob_session \$cookie_session;
				include onejob/owner_request.conf;
			}
		}
	CONF
}

site_down() {
	[ -z "${NGINX-}" ] || { kill "$NGINX" 2>/dev/null || true; wait "$NGINX" || true; }
}

host_is() { ln -sfn "$2" "$dir/host$1"; }	# N SOCKET

hosts_up() {
	local n

	for n; do
		host_is "$n" "$STACK/api.sock"
	done
}

# stands_in N VERB ARGUMENTS: fcgi.pl is that host, for one request.
stands_in() {
	rm -f "$dir/host$1"
	"$FCGI" "$2" "$dir/host$1" "${@:3}" 3>&- &
	wait_for 20 test -S "$dir/host$1"
}

site() { ONEJOB_URL=http://$SITE "$@"; }

AWAY='{"provider":"away","input":1}'
rows_of_key() { sql -e "SELECT COUNT(*) FROM jobs WHERE idempotency_key = '$1'"; }

# Which hosts had the last request and what they said, from the log: "1:502 2:201".
went() {
	local id line hosts said

	id=$(header X-Request-Id)
	wait_for 20 grep -qF "\"request_id\":\"$id\"" "$dir/access.log"
	line=$(grep -F "\"request_id\":\"$id\"" "$dir/access.log")
	[[ $line =~ \"upstream\":\"([^\"]*)\",\"upstream_status\":\"([^\"]*)\" ]]
	IFS=', ' read -r -a hosts <<<"${BASH_REMATCH[1]//"unix:$dir/host"/}"
	IFS=', ' read -r -a said <<<"${BASH_REMATCH[2]}"
	line=
	for id in "${!hosts[@]}"; do
		line+=" ${hosts[id]}:${said[id]}"
	done
	echo "${line# }"
}

# Every request goes to the same host first, however often that has failed; $FIRST is its number.
ONE_FIRST='s/hash \$onejob_host /hash one /; s/max_fails=1 fail_timeout=5s/max_fails=0/'

find_first() {
	site api GET /v1/jobs
	FIRST=$(went)
	FIRST=${FIRST%%:*}
}

@test "one owner's one key always goes to one host, in whichever form it comes; keys and owners are spread over all of them" {
	local i other where='' others=''

	site_up
	other=$(onejob token create --owner other)
	for i in {1..24}; do
		site api POST /v1/jobs -H "Idempotency-Key: \"spread-$i\"" -d "$AWAY"
		is 'a create' "$status" 201
		where+="$(went) "
		site api POST /v1/jobs -H "Idempotency-Key: spread-$i" -d "$AWAY"
		is 'its repeat, in the other form' "$status $(went)" "200 $(tail -c 7 <<<"$where" | cut -c1-2)200"
		TOKEN=$other site api POST /v1/jobs -H "Idempotency-Key: spread-$i" -d "$AWAY"
		others+="$(went) "
	done
	is 'all three have some' "$(tr ' ' '\n' <<<"$where" | grep . | sort -u | tr '\n' ' ')" '1:201 2:201 3:201 '
	no test "$where" = "$others"
}

people() { ONEJOB_URL=http://$PEOPLE raw "$@" -H 'Content-Type: application/json'; }	# METHOD PATH [CURL OPTIONS...]

@test "whom another service knows is known by name: a session that changes moves none of their keys" {
	local i session first

	site_up
	for i in {1..8}; do
		first=
		for session in a b c; do
			people POST /v1/jobs -H "Idempotency-Key: session-$i" -d "$AWAY" -b "who=alice; session=$session"
			is 'whose it is' "$(field .owner)" alice
			first=${first:-$(went | cut -d: -f1)}
			is 'the host' "$(went | cut -d: -f1)" "$first"
		done
	done
	for i in {1..24}; do
		people POST /v1/jobs -H 'Idempotency-Key: session' -d "$AWAY" -b "who=user$i"
		went
	done >"$BATS_TEST_TMPDIR/hosts"
	is 'people are spread' "$(sort -u "$BATS_TEST_TMPDIR/hosts" | tr '\n' ' ')" '1:201 2:201 3:201 '
}

@test "a host that is gone costs one request a second try, and the ones after it nothing" {
	local i tries='' went

	site_up 's/fail_timeout=5s/fail_timeout=1h/'
	rm "$dir/host2"
	for i in {1..24}; do
		site create "gone-$i" "$AWAY"
		is 'a create' "$status" 201
		went=$(went)
		[[ $went != *502* ]] || tries+="$went|"
	done
	[[ $tries =~ ^2:502\ [13]:201\|$ ]] || { echo "tried: $tries" >&2; return 1; }
}

@test "a create goes on to the next host: from one that is gone, hangs up, does it and hangs up, is silent, or says 503; it is one job" {
	local how key

	site_up "$ONE_FIRST; s/^fastcgi_read_timeout 25s;/fastcgi_read_timeout 1s;/"
	find_first
	for how in gone hangs-up swallows silent unavailable; do
		key=on-$how
		case $how in
		gone) rm "$dir/host$FIRST" ;;
		hangs-up) stands_in "$FIRST" record "$BATS_TEST_TMPDIR/taken" 0 ;;
		swallows) stands_in "$FIRST" swallow "$STACK/api.sock" ;;
		silent) host_is "$FIRST" "$STACK/silent.sock" ;;
		unavailable) stands_in "$FIRST" record "$BATS_TEST_TMPDIR/taken" 503 ;;
		esac
		site create "$key" "$AWAY"
		case $how in
		gone | hangs-up) is "$how" "$status $(went | sed 's/[0-9]:/:/g')" '201 :502 :201' ;;
		swallows) is "$how" "$status $(went | sed 's/[0-9]:/:/g') $(header Idempotent-Replayed)" '200 :502 :200 true' ;;
		silent) is "$how" "$status $(went | sed 's/[0-9]:/:/g')" '201 :504 :201' ;;
		unavailable) is "$how" "$status $(went | sed 's/[0-9]:/:/g')" '201 :503 :201' ;;
		esac
		is "rows $how" "$(rows_of_key "$key")" 1
	done
	# an owner's, whom another service knows
	stands_in "$FIRST" record "$BATS_TEST_TMPDIR/taken" 0
	people POST /v1/jobs -H 'Idempotency-Key: on-people' -d "$AWAY" -b who=alice
	is 'people' "$status $(field .owner) $(went | sed 's/[0-9]:/:/g')" '201 alice :502 :201'
}

# What does something and has no key, or whose key makes nothing of a repeat.
ONCE=(
	'POST /v1/jobs/cancel -H Idempotency-Key:once'
	'POST /v1/jobs/0192f0c1-2345-7abc-8def-0123456789ab/cancel'
	'POST /v1/jobs/0192f0c1-2345-7abc-8def-0123456789ab/attempts -d {}'
	'POST /v1/attempts/0192f0c1-2345-7abc-8def-0123456789ab/settle -d {"outcome":"failed"}'
	'POST /v1/callbacks/0192f0c1-2345-7abc-8def-0123456789ab/sig -d {"outcome":"failed"}'
	'POST /v1/contracts/once/certify -d {}'
	'PUT /v1/providers/once -d {"url":"http://once.example/"}'
	'DELETE /v1/providers/once'
	'PUT /v1/contracts/callback -d {}'
	'DELETE /v1/contracts/once'
	'PUT /v1//%70roviders/once -d {"url":"http://once.example/"}'
)

# asked ROW: it, as an operator.
asked() {
	local words

	read -r -a words <<<"$1"
	TOKEN=$ONEJOB_OPERATOR_TOKEN site api "${words[@]}"
}

@test "a cancel, a settle, a callback, a PUT or a DELETE that was sent goes nowhere else, and is a problem" {
	local row

	site_up "$ONE_FIRST; s/^fastcgi_read_timeout 60s;/fastcgi_read_timeout 1s;/"
	find_first
	for row in "${ONCE[@]}"; do
		stands_in "$FIRST" record "$BATS_TEST_TMPDIR/taken" 0
		asked "$row"
		refused 502 unavailable
		has 'Retry-After' '^[1-9]' "$(header Retry-After)"
		is "$row" "$(went)" "$FIRST:502"
		stands_in "$FIRST" record "$BATS_TEST_TMPDIR/taken" 503
		asked "$row"
		is "$row" "$status $(went)" "503 $FIRST:503"
	done
	host_is "$FIRST" "$STACK/silent.sock"
	for row in "${ONCE[3]}" "${ONCE[6]}"; do
		asked "$row"
		refused 504 unavailable
		is "$row" "$(went)" "$FIRST:504"
	done
	is 'put' "$(sql -e "SELECT COUNT(*) FROM providers WHERE name = 'once'")" 0
}

@test "what was not sent goes to the next host, but for a PUT, a DELETE or a certification; what reads goes on in any case" {
	local row

	site_up "$ONE_FIRST"
	find_first
	rm "$dir/host$FIRST"
	for row in "${ONCE[@]}"; do
		asked "$row"
		case $row in
		PUT* | DELETE* | *certify*)	# what is at the addresses of those
			refused 502 unavailable
			is "$row" "$(went)" "$FIRST:502" ;;
		*)	[[ $(went) =~ ^$FIRST:502\ [123]:[234]0.$ ]] || { echo "$row: $(went)" >&2; return 1; } ;;
		esac
	done
	stands_in "$FIRST" record "$BATS_TEST_TMPDIR/taken" 0
	site api GET /v1/jobs
	is 'read' "$status $(went | sed 's/[0-9]:/:/g')" '200 :502 :200'
	stands_in "$FIRST" record "$BATS_TEST_TMPDIR/taken" 503
	site api GET /readyz
	is 'ready' "$status $(went | sed 's/[0-9]:/:/g')" '200 :503 :200'
}

# A create whose body doesn't come: nginx counts it once it has asked for the body.
hold() {
	local line

	exec {socket}<>"/dev/tcp/${SITE/://}"
	printf 'POST /v1/jobs HTTP/1.1\r\nHost: a\r\nIdempotency-Key: own\r\nAuthorization: Bearer %s\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n' \
		"$ONEJOB_TOKEN" >&"$socket"
	IFS= read -r -t 60 -u "$socket" line
	is 'it is asked for its body' "${line%$'\r'}" 'HTTP/1.1 100 Continue'
}

@test "what nginx itself refuses of a create is a problem: too large, too many, nobody there, nobody answers" {
	local n file=$BATS_TEST_TMPDIR/body more

	site_up 's/max_fails=1 fail_timeout=5s/max_fails=0/; s/^fastcgi_read_timeout 25s;/fastcgi_read_timeout 1s;/; s/^(limit_conn onejob_identities) 64;/\1 1;/'
	head -c 1048577 /dev/zero >"$file"
	for more in '' 'Transfer-Encoding: chunked'; do
		site raw POST /v1/jobs -H "Authorization: Bearer $ONEJOB_TOKEN" -H 'Idempotency-Key: own' -H 'Content-Type: application/json' \
			--data-binary "@$file" ${more:+-H "$more"}
		refused 413 body-too-large
	done
	for n in 1 2 3; do
		host_is $n "$STACK/silent.sock"
	done
	hold
	site api POST /v1/jobs -H 'Idempotency-Key: own' -d "$AWAY"
	refused 429 too-many-requests
	has 'Retry-After' '^[1-9]' "$(header Retry-After)"
	exec {socket}>&-
	wait_for 60 eval 'site api POST /v1/jobs -H "Idempotency-Key: own" -d "$AWAY"; [ "$status" != 429 ]'
	refused 504 unavailable
	has 'Retry-After' '^[1-9]' "$(header Retry-After)"
	rm "$dir"/host[123]
	site api POST /v1/jobs -H 'Idempotency-Key: own' -d "$AWAY"
	refused 502 unavailable
	has 'Retry-After' '^[1-9]' "$(header Retry-After)"
	site raw POST /v1/jobs -H "Authorization: Bearer $ONEJOB_TOKEN" -H 'Idempotency-Key: own' --data-binary "@$file"
	refused 413 body-too-large
	is rows "$(rows_of_key own)" 0
}
