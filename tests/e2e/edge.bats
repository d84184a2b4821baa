#!/usr/bin/env bats
# shellcheck disable=SC2154 # body, status and headers are set by the words of stack.bash
# The front door as a deployment has it: the two examples of sites, loaded with the files that they include.

load stack
load front
load work

SITE=jobs.example.org
OWNERS=intranet.example.org
PEOPLE=people.example.org
MACHINES=machines.example.org

setup_file() {
	head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \n' >"$BATS_FILE_TMPDIR/keys"
	export ONEJOB_CALLBACK_KEYS=$BATS_FILE_TMPDIR/keys
	export ONEJOB_GRACE_SECONDS=1 ONEJOB_POLL_MS=50 ONEJOB_TRUST_OWNER=1
	stack_up --workers 2
	provider away /away '"enabled":false'
	certificate
	client_certificates
	passwords
	spawn-fcgi -s "$STACK/silent.sock" -n -- "$(command -v sleep)" 100000 >/dev/null 2>&1 3>&- &
	echo $! >"$STACK/silent.pid"
	site_up site
}

teardown_file() {
	local pid

	for pid in "$STACK"/*/site.pid; do
		[ ! -e "$pid" ] || site_down "$(basename "$(dirname "$pid")")"
	done
	kill "$(cat "$STACK/silent.pid")" || true
	stack_down
}

certificate() {
	mkdir "$STACK/tls"
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "/CN=$SITE" \
		-addext "subjectAltName=DNS:$SITE,DNS:$OWNERS,DNS:$PEOPLE,DNS:$MACHINES" -keyout "$STACK/tls/privkey.pem" -out "$STACK/tls/fullchain.pem" 2>/dev/null
}

# alice and bob by the authority that the machines' server knows, mallory (who says that she is alice) by one of her own.
client_certificates() {
	local dir=$STACK/tls who

	key_for() { openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "${@:2}" -keyout "$dir/$1.key" -out "$dir/$1.pem" 2>/dev/null; }
	key_for clients -subj '/CN=clients'
	key_for mallory -subj '/O=Example/CN=alice'
	for who in alice bob; do
		openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/O=Example/CN=$who" -keyout "$dir/$who.key" 2>/dev/null |
			openssl x509 -req -days 2 -CA "$dir/clients.pem" -CAkey "$dir/clients.key" -CAcreateserial -out "$dir/$who.pem" 2>/dev/null
	done
}

passwords() {
	local user

	for user in alice bob; do
		printf '%s:%s\n' $user "$(openssl passwd -apr1 "$user's own")"
	done >"$STACK/htpasswd"
}

# site_up NAME [SED SCRIPT [ANOTHER]]: an nginx with both examples, in which only that is another which a deployment has to say:
# addresses, files, the socket. The script is for what they include, the other one for themselves. $TLS and $CLEAR are the ports, $PLAIN that of a server which has the
# same locations as the site, without TLS.
site_up() {
	local top=$STACK/$1

	mkdir -p "$top/onejob" "$top/tmp"
	cp "$TOP"/nginx/*.conf "$top/onejob"
	[ -z "${2-}" ] || sed -E -i "$2" "$top"/onejob/*.conf
	sed 's/^fastcgi_read_timeout 60s;/fastcgi_read_timeout 1s;/' "$TOP/nginx/pass.conf" >"$top/hasty.conf"
	printf '%s\n' 'https://app.example.org token;' 'https://console.example.org:8443 credentials;' >>"$top/onejob/origins.conf"
	ln -sfn "$STACK/api.sock" "$top/api.sock"
	for _ in 1 2 3 4 5; do
		TLS=$((20000 + RANDOM % 12000)) CLEAR=$((TLS + 1)) PLAIN=$((TLS + 2)) KNOWS=$((TLS + 3)) EARLY=$((TLS + 4)) HASTY=$((TLS + 5))
		export TLS CLEAR PLAIN KNOWS EARLY HASTY
		filled_in "$1" site.conf.example | sed -E "${3-}" >"$top/site.conf"
		filled_in "$1" owner.conf.example | sed -E "${3-}" >"$top/owner.conf"
		main_conf "$1" >"$top/nginx.conf"
		(cd "$top" && exec setsid nginx -c "$top/nginx.conf" >>"$STACK/log/$1.log" 2>&1 3>&- </dev/null) &
		echo $! >"$top/site.pid"
		! site_started "$1" || return 0
	done
	cat "$STACK/log/$1.log" >&2
	return 1
}

site_down() { # NAME
	local pid

	pid=$(cat "$STACK/$1/site.pid")
	kill "$pid" 2>/dev/null || true
	wait_for 20 gone "$pid"
}

site_started() { # NAME: or it has ended, as where a port is taken
	wait_for 20 eval 'gone "$(cat "$STACK/'"$1"'/site.pid")" || curl -sS -o "$STACK/none" "http://127.0.0.1:$PLAIN/onejob-problem" 2>"$STACK/none"'
	no gone "$(cat "$STACK/$1/site.pid")"
}

# filled_in NAME EXAMPLE: nothing of the machine's own may be left in it.
filled_in() {
	local text six=/^$/

	grep -qE '^0{31}1 ' /proc/net/if_inet6 2>/dev/null || six='/listen \[::\]/'	# a machine without IPv6
	text=$(sed -E -e "$six d" -e "s,listen (\[::\]:)?443,listen \1$TLS," -e "s,listen (\[::\]:)?80;,listen \1$CLEAR;," \
		-e 's,listen ([0-9]),listen 127.0.0.1:\1,' -e 's,\[::\],[::1],' \
		-e "s,/etc/letsencrypt/live/[a-z.]+/,$STACK/tls/," -e "s,/var/log/nginx/onejob.log,$STACK/log/$1-access.log," \
		-e "s,/run/onejob/api.sock,$STACK/$1/api.sock," -e "s,/etc/nginx/onejob.htpasswd,$STACK/htpasswd," \
		-e "s,/etc/nginx/onejob-clients.pem,$STACK/tls/clients.pem," -e "s,127.0.0.1:9180,127.0.0.1:$KNOWS," "$TOP/nginx/$2")
	no grep -qE '^[^#]*(/etc/|/var/|/run/|:443|:80\>|listen [0-9]+[ ;])' <<<"${text//$STACK/}"
	printf '%s\n' "$text"
}

main_conf() { # NAME
	[ "$(id -u)" != 0 ] || echo 'user root;'
	cat <<-CONF
		daemon off;
		worker_processes 1;
		pid "$STACK/$1/nginx.pid";
		error_log "$STACK/log/$1.log" warn;
		events {
			worker_connections 2000;
		}
		http {
			default_type application/octet-stream;
			client_body_temp_path "$STACK/$1/tmp/body";
			fastcgi_temp_path "$STACK/$1/tmp/fastcgi";
			proxy_temp_path "$STACK/$1/tmp/proxy";
			uwsgi_temp_path "$STACK/$1/tmp/uwsgi";
			scgi_temp_path "$STACK/$1/tmp/scgi";
			access_log "$STACK/log/$1-usual.log";	# a packaged nginx has one, for who says nothing
			include site.conf;
			include owner.conf;
			# who knows people by a session
			map \$cookie_session \$session {
				default 401;
				~^(alice|bob|none|echo)s\$ 204;
				locked 403;
				broken 503;
			}
			map \$cookie_session \$session_user {
				alices alice;
				bobs bob;
				echos \$http_x_user;
			}
			server {
				listen 127.0.0.1:$KNOWS;
				add_header X-User \$session_user;
				if (\$session = 204) { return 204; }
				if (\$session = 403) { return 403; }
				if (\$session = 503) { return 503; }
				return 401;
			}
			# one that takes early data
			server {
				listen 127.0.0.1:$EARLY ssl;
				ssl_certificate "$STACK/tls/fullchain.pem";
				ssl_certificate_key "$STACK/tls/privkey.pem";
				ssl_early_data on;
				ssl_protocols TLSv1.3;
				access_log "$STACK/log/$1-access.log" onejob;
				include onejob/locations.conf;
			}
			# one whose API never answers
			server {
				listen 127.0.0.1:$HASTY;
				include onejob/server.conf;
				location / {
					include hasty.conf;
					fastcgi_pass "unix:$STACK/silent.sock";
				}
				location = /maintenance {
					return 503;
				}
			}
			server {
				listen 127.0.0.1:$PLAIN;
				access_log "$STACK/log/$1-access.log" onejob;
				include onejob/locations.conf;
				location / {
					include onejob/pass.conf;
					fastcgi_param CONTENT_TYPE \$content_type;
					fastcgi_param CONTENT_LENGTH \$content_length;
					fastcgi_pass onejob_api;
				}
			}
		}
	CONF
}

# at HOST METHOD PATH [CURL OPTIONS...]: one of the two servers, its certificate checked.
at() {
	ONEJOB_URL=https://$1:$TLS raw "${@:2}" --cacert "$STACK/tls/fullchain.pem" --resolve "$1:$TLS:${ADDRESS-127.0.0.1}" \
		"${VERSION---http1.1}" -H 'Content-Type: application/json'
}

plain() { ONEJOB_URL=http://127.0.0.1:$PLAIN "$@"; }

AWAY='{"provider":"away","input":1}'

rows_of_key() { sql -e "SELECT COUNT(*) FROM jobs WHERE idempotency_key = '$1'"; }
stored() { [ "$(rows_of_key "$1")" = 1 ]; }

@test "the shipped site is valid, takes a create over TLS with a token, and nothing in clear" {
	local token="Authorization: Bearer $ONEJOB_TOKEN" said

	said=$(nginx -t -c "$STACK/site/nginx.conf" 2>&1)
	has valid 'test is successful' "$said"
	no grep -qE '\[(warn|error|crit|alert|emerg)\]' <<<"$said"
	at $SITE POST /v1/jobs -H "$token" -H 'Idempotency-Key: tls' -d "$AWAY"
	is created "$status $(field .owner)" '201 demo'
	VERSION=--http2 at $SITE POST /v1/jobs -H "$token" -H 'Idempotency-Key: tls' -d "$AWAY"
	has 'by HTTP/2' '^HTTP/2 200' "$headers"
	if grep -q '\[::1\]' "$STACK/site/site.conf"; then
		ADDRESS='[::1]' at $SITE GET /v1/jobs -H "$token"
		is 'by IPv6' "$status" 200
	fi
	at $SITE POST /v1/jobs -H 'Authorization: Bearer unknown' -H 'Idempotency-Key: tls-none' -d "$AWAY"
	refused 401 unauthorized
	at $SITE GET /elsewhere
	refused 401 unauthorized	# the API says so, of what is under no address of its own too
	ONEJOB_URL=http://127.0.0.1:$CLEAR raw POST /v1/jobs -H "Host: $SITE" -H "$token" -H 'Idempotency-Key: clear' \
		-H 'Content-Type: application/json' -d "$AWAY"
	refused 403 forbidden
	is 'no way on' "$(header Location)" ''
	is rows "$(rows_of_key clear)" 0
	is logged "$(jq -r 'select(.uri == "/v1/jobs" and .status == 201) | .key_hash' "$STACK/log/site-access.log")" \
		"$(printf tls | sha256sum | cut -c1-16)"
}

owners() { at $OWNERS "${@:2}" -u "$1:$1's own"; }	# USER METHOD PATH [CURL OPTIONS...]

@test "the shipped site shows its metrics to nobody but this machine, the owners' server to nobody, and health to all" {
	at $SITE GET /metrics
	is 'from here' "$status" 200
	has 'a contract or so' '^onejob_' "$body"
	at $SITE GET /metrics --interface 127.0.0.2
	is 'from elsewhere' "$status $(field .type) $(header Content-Type)" '403 /problems/forbidden application/problem+json'
	no grep -q onejob_ <<<"$body"
	at $SITE GET /readyz --interface 127.0.0.2
	is 'ready' "$status" 200
	owners alice GET /metrics
	is 'of all owners' "$status" 403
}

@test "the owners' server: a job belongs to the user whose password was right, whatever the client's headers say" {
	local header

	owners alice POST /v1/jobs -H 'Idempotency-Key: own' -d "$AWAY"
	is created "$status $(field .owner) $(header Server)" '201 alice nginx'
	job=$(field .id)
	for header in 'ONEJOB_OWNER: bob' 'Onejob-Owner: bob' 'HTTP_ONEJOB_OWNER: bob' 'Remote-User: bob' 'REMOTE_USER: bob' 'X-Remote-User: bob'; do
		owners alice POST /v1/jobs -H 'Idempotency-Key: own' -H "$header" -d "$AWAY"
		is "with $header" "$status $(field .id) $(field .owner)" "200 $job alice"
	done
	owners bob GET "/v1/jobs/$job"
	refused 404 not-found
	owners bob POST /v1/jobs -H 'Idempotency-Key: own' -d "$AWAY"
	is "bob's job of this key" "$status $(field .owner)" '201 bob'
	at $SITE GET "/v1/jobs/$job" -H "Authorization: Bearer $(onejob token create --owner alice)"
	is "alice's token, at the site" "$status $(field .owner)" '200 alice'
	owners alice GET /problems/unauthorized
	is 'what a problem is' "$status" 200
}

@test "the owners' server: a wrong password, an unknown user, none and a token are 401 as a problem, and do nothing" {
	local args

	for args in '-u alice:wrong' '-u carol:wrong' '-u alice:' '' "-H 'Authorization: Bearer $ONEJOB_TOKEN'" '-H "Remote-User: alice"'; do
		eval "set -- $args"
		at $OWNERS POST /v1/jobs -H 'Idempotency-Key: wrong' -d "$AWAY" "$@"
		refused 401 unauthorized
		has "challenge for $args" '^Basic realm="onejob"' "$(header WWW-Authenticate)"
	done
	is rows "$(rows_of_key wrong)" 0
	at $OWNERS GET /
	refused 401 unauthorized	# who is calling comes before what isn't there
	head -c 1048577 /dev/zero >"$BATS_TEST_TMPDIR/big"
	owners alice POST /v1/jobs -H 'Idempotency-Key: wrong' --data-binary "@$BATS_TEST_TMPDIR/big"
	refused 413 body-too-large
}

@test "the examples' servers take IPv6 too, all of them, and name the same protocols" {
	local sites

	sites=$(cat "$TOP"/nginx/{site,owner}.conf.example | awk '/^server \{/ { six = proto = "" }
		/listen \[::\]:443 ssl http2;/ { six = "IPv6" } /ssl_protocols/ { proto = $0 } /listen 443/ { tls = 1 }
		/^}/ { if (tls) print six proto; tls = 0 }')
	is 'them' "$(wc -l <<<"$sites") of $(cat "$TOP"/nginx/*.example | grep -c 'listen 443 ssl http2;')" '4 of 4'
	is 'what they take' "$(sort -u <<<"$sites")" $'IPv6\tssl_protocols TLSv1.2 TLSv1.3;'
	if grep -q '\[::1\]' "$STACK/site/owner.conf"; then
		ADDRESS='[::1]' owners alice GET /v1/jobs
		is 'by IPv6' "$status" 200
	fi
}

@test "how large a body may be is the site's own to say, and what is larger is refused as a problem" {
	local small=$BATS_TEST_TMPDIR/small big=$BATS_TEST_TMPDIR/big

	site_up small '' 's,client_max_body_size 1m;,client_max_body_size 2k;,'
	jq -nc '{provider: "away", input: ("x" * 1900)}' >"$small"
	jq -nc '{provider: "away", input: ("x" * 2100)}' >"$big"
	at $SITE POST /v1/jobs -H "Authorization: Bearer $ONEJOB_TOKEN" -H 'Idempotency-Key: size' --data-binary "@$big"
	refused 413 body-too-large
	at $SITE POST /v1/jobs -H "Authorization: Bearer $ONEJOB_TOKEN" -H 'Idempotency-Key: size' -H 'Transfer-Encoding: chunked' \
		--data-binary "@$big"
	refused 413 body-too-large
	owners alice POST /v1/jobs -H 'Idempotency-Key: size' --data-binary "@$big"
	refused 413 body-too-large
	is rows "$(rows_of_key size)" 0
	at $SITE POST /v1/jobs -H "Authorization: Bearer $ONEJOB_TOKEN" -H 'Idempotency-Key: size' --data-binary "@$small"
	is created "$status" 201
	site_down small
}

# as WAY USER METHOD PATH [CURL OPTIONS...]: with what that way knows users by.
as() {
	case $1 in
	basic) owners "${@:2}" ;;
	request) at $PEOPLE "${@:3}" -b "session=${2}s" ;;
	certificate) at $MACHINES "${@:3}" --cert "$STACK/tls/$2.pem" --key "$STACK/tls/$2.key" ;;
	esac
}

@test "by a password, another service's word and a certificate alike: the job is the user's that nginx checked, whatever the headers say" {
	local way owner header

	for way in basic request certificate; do
		case $way in certificate) owner=CN=%s,O=Example ;; *) owner=%s ;; esac
		as $way alice POST /v1/jobs -H "Idempotency-Key: way-$way" -d "$AWAY"
		# shellcheck disable=SC2059 # a format
		is "by $way" "$status $(field .owner)" "201 $(printf $owner alice)"
		job=$(field .id)
		while read -r header; do
			as $way alice POST /v1/jobs -H "Idempotency-Key: way-$way" -H "$header" -d "$AWAY"
			is "by $way with $header" "$status $(field .id)" "200 $job"
		done <<-'ROWS'
			ONEJOB_OWNER: bob
			ONEJOB-OWNER: bob
			Onejob_Owner: bob
			HTTP_ONEJOB_OWNER: bob
			Http-Onejob-Owner: bob
			REMOTE_USER: bob
			Remote-User: bob
			X-Remote-User: bob
			X-User: bob
			X-Forwarded-User: bob
			X-Onejob-Owner: bob
			X-Ssl-Client-S-Dn: CN=bob,O=Example
			Ssl-Client-Verify: SUCCESS
			X-Original-Uri: /?session=bobs
		ROWS
		as $way bob GET "/v1/jobs/$job"
		refused 404 not-found
		as $way bob POST /v1/jobs -H "Idempotency-Key: way-$way" -d "$AWAY"
		# shellcheck disable=SC2059
		is "bob's own by $way" "$status $(field .owner)" "201 $(printf $owner bob)"
	done
	# one way's proof is nothing to another
	as request alice GET "/v1/jobs/$job" -u "bob:bob's own"
	refused 404 not-found	# alice's are no certificate's jobs, and the password isn't read
	as certificate alice GET "/v1/jobs/$job" -b session=bobs -u "bob:bob's own"
	is 'certificate beside the others' "$status $(field .owner)" '200 CN=alice,O=Example'
	as certificate alice GET "/v1/jobs/$job" -H "Authorization: Bearer $ONEJOB_TOKEN"
	refused 401 unauthorized	# a token beside it must name the same owner
	as certificate alice GET "/v1/jobs/$job" -H "Authorization: Bearer $(onejob token create --owner CN=alice,O=Example)"
	is 'such a token' "$status" 200
	as request alice GET /v1/jobs -H "Authorization: Bearer $ONEJOB_TOKEN"
	is 'jobs of alice alone' "$status $(field '[.jobs[].owner] | unique | tojson')" '200 ["alice"]'
}

@test "another service's word: none, a refusal, a word without a name, the client's own X-User and a failure let nobody in" {
	at $PEOPLE POST /v1/jobs -H 'Idempotency-Key: word' -d "$AWAY"
	refused 401 unauthorized
	at $PEOPLE POST /v1/jobs -H 'Idempotency-Key: word' -d "$AWAY" -H "Authorization: Bearer $ONEJOB_TOKEN"
	refused 401 unauthorized
	as request none POST /v1/jobs -H 'Idempotency-Key: word' -d "$AWAY" -H "Authorization: Bearer $ONEJOB_TOKEN"
	refused 401 unauthorized
	as request echo POST /v1/jobs -H 'Idempotency-Key: word' -d "$AWAY" -H 'X-User: alice'
	refused 401 unauthorized
	at $PEOPLE POST /v1/jobs -H 'Idempotency-Key: word' -d "$AWAY" -b session=locked
	refused 403 forbidden
	at $PEOPLE POST /v1/jobs -H 'Idempotency-Key: word' -d "$AWAY" -b session=broken
	refused 500 internal
	at $PEOPLE GET /onejob-authorize -b session=alices
	refused 404 not-found
	is rows "$(rows_of_key word)" 0
}

@test "certificates: none, one of another authority and another server's name let nobody in" {
	at $MACHINES POST /v1/jobs -H 'Idempotency-Key: subject' -d "$AWAY"
	refused 400 certificate-needed
	as certificate mallory POST /v1/jobs -H 'Idempotency-Key: subject' -d "$AWAY"
	refused 400 certificate-needed
	at $OWNERS POST /v1/jobs -H 'Idempotency-Key: subject' -d "$AWAY" -H "Host: $MACHINES"
	has 'another name in Host than in the handshake' '^(400|421)$' "$status"
	is 'as a problem' "$(header Content-Type)" application/problem+json
	ONEJOB_URL=http://127.0.0.1:$TLS raw GET /v1/jobs -H "Host: $MACHINES"
	refused 400 bad-request	# in clear
	is rows "$(rows_of_key subject)" 0
}

# said_raw: sends standard input to the plain server, answers with the status line.
said_raw() {
	local socket line

	exec {socket}<>"/dev/tcp/127.0.0.1/$PLAIN"
	cat >&"$socket"
	IFS= read -r -t 60 -u "$socket" line
	exec {socket}>&-
	status=${line:9:3}
}

@test "no trailer, folded line, doubled or odd header makes an owner where the site takes tokens" {
	local head="POST /v1/jobs HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nIdempotency-Key: odd\r\n" tail trick

	tail="Content-Length: ${#AWAY}\r\n\r\n$AWAY"
	while IFS='|' read -r want trick; do
		# shellcheck disable=SC2059 # a format
		said_raw < <(printf "$head${trick//BODY/$tail}")
		has "status with $trick" "^$want\$" "$status"
	done <<-ROWS
		401|Onejob-Owner: victim\r\nBODY
		401|Onejob-Owner: victim\r\nOnejob-Owner: victim\r\nBODY
		40.|X: y\r\n\tONEJOB_OWNER: victim\r\nBODY
		40.|X: y\r\n ONEJOB_OWNER=victim\r\nBODY
		40.|Onejob-Owner : victim\r\nBODY
		40.|X: \0ONEJOB_OWNER=victim\r\nBODY
		401|ONEJOB.OWNER: victim\r\nBODY
		401|Transfer-Encoding: chunked\r\nTrailer: Onejob-Owner\r\n\r\n$(printf %x ${#AWAY})\r\n$AWAY\r\n0\r\nOnejob-Owner: victim\r\nONEJOB_OWNER: victim\r\n\r\n
		400|Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n
	ROWS
	is rows "$(rows_of_key odd)" 0
}

@test "early data: what does more than read is 425 and does nothing, by TLS itself and by a proxy's word; reading is answered" {
	local method request=$BATS_TEST_TMPDIR/request session=$BATS_TEST_TMPDIR/session to="127.0.0.1:$EARLY" token="Authorization: Bearer $ONEJOB_TOKEN"

	for method in POST PUT DELETE; do
		plain raw $method /v1/jobs -H 'Early-Data: 1' -H "$token" -H 'Idempotency-Key: early' -H 'Content-Type: application/json' -d "$AWAY"
		refused 425 too-early
	done
	plain raw GET /v1/jobs -H 'Early-Data: 1' -H "$token"
	is 'reading' "$status" 200
	printf 'GET /healthz HTTP/1.0\r\n\r\n' | openssl s_client -connect "$to" -tls1_3 -ign_eof -sess_out "$session" >"$BATS_TEST_TMPDIR/first" 2>&1
	printf 'POST /v1/jobs HTTP/1.0\r\n%s\r\nIdempotency-Key: early\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s' \
		"$token" ${#AWAY} "$AWAY" >"$request"
	openssl s_client -connect "$to" -tls1_3 -ign_eof -sess_in "$session" -early_data "$request" >"$BATS_TEST_TMPDIR/said" 2>&1 </dev/null
	grep -q 'Early data was accepted' "$BATS_TEST_TMPDIR/said"
	grep -q '^HTTP/1.1 425 ' "$BATS_TEST_TMPDIR/said"
	grep -q '/problems/too-early' "$BATS_TEST_TMPDIR/said"
	is rows "$(rows_of_key early)" 0
	plain create early "$AWAY"
	is 'the same key after the handshake' "$status" 201
}

cors() { grep -iE '^(access-control-[a-z-]*|vary):' <<<"$headers" | sort || true; }

@test "CORS: listed origins get their preflight from nginx and may read every answer, errors too; others get nothing" {
	local ask=(-H 'Access-Control-Request-Method: POST' -H 'Access-Control-Request-Headers: authorization,idempotency-key') origin
	local app='Origin: https://app.example.org' console='Origin: https://console.example.org:8443' token="Authorization: Bearer $ONEJOB_TOKEN"
	local exposed='Access-Control-Expose-Headers: ETag, Location, Retry-After, Idempotent-Replayed, WWW-Authenticate, X-Request-Id'

	stop_workers	# so it is nginx that answers
	plain raw OPTIONS /v1/jobs -H "$app" "${ask[@]}"
	is preflight "$status" 204
	has 'methods' '^Access-Control-Allow-Methods: .*POST' "$headers"
	has 'headers' '^Access-Control-Allow-Headers: .*Authorization.*Idempotency-Key.*If-Match' "$headers"
	has 'age' '^Access-Control-Max-Age: [0-9]+$' "$headers"
	has 'origin' '^Access-Control-Allow-Origin: https://app.example.org$' "$headers"
	no grep -q 'Allow-Credentials' <<<"$headers"
	at $OWNERS OPTIONS /v1/jobs -H "$console" "${ask[@]}"	# which asks for no password: browsers send none here
	is 'preflight at the owners' "$status $(header Access-Control-Allow-Credentials)" '204 true'
	let_go
	plain raw GET /v1/jobs -H "$app" -H "$token"
	is 'read' "$status"$'\n'"$(cors)" "200"$'\n''Access-Control-Allow-Origin: https://app.example.org'$'\n'"$exposed"$'\nVary: Origin'
	plain raw GET /v1/jobs -H "$app"
	is "the API's refusal" "$status $(header Access-Control-Allow-Origin)" '401 https://app.example.org'
	plain raw TRACE /v1/jobs -H "$app"
	refused 405 method-not-allowed
	is "nginx's refusal" "$(header Access-Control-Allow-Origin)" https://app.example.org
	plain raw POST /v1/jobs -H "$app" -H "$token" -H 'Idempotency-Key: cors' -H 'Early-Data: 1' -d "$AWAY"
	is 'another of its' "$status $(header Access-Control-Allow-Origin)" '425 https://app.example.org'
	for origin in https://app.example.org.evil.example https://app.example.org:444 http://app.example.org null https://app.example.org/ ''; do
		plain raw OPTIONS /v1/jobs -H "Origin: $origin" "${ask[@]}"
		refused 401 unauthorized
		is "preflight of '$origin'" "$(cors)" ''
		plain raw GET /v1/jobs -H "Origin: $origin" -H "$token"
		is "read by '$origin'" "$status$(cors)" 200
	done
	plain raw OPTIONS /v1/jobs -H "$app" -H "$token"
	refused 405 method-not-allowed	# it asks for nothing, so it is no preflight
	has 'Allow' 'GET, HEAD' "$(header Allow)"
}

@test "an API that never answers is 504, a site that is shut 503, both as problems with Retry-After" {
	ONEJOB_URL=http://127.0.0.1:$HASTY raw GET /v1/jobs
	refused 504 unavailable
	has 'Retry-After' '^[1-9][0-9]*$' "$(header Retry-After)"
	ONEJOB_URL=http://127.0.0.1:$HASTY raw GET /maintenance
	refused 503 unavailable
	has 'Retry-After' '^[1-9][0-9]*$' "$(header Retry-After)"
}

# stand_in FILE: the next request to the site goes into the file instead of to the API.
stand_in() {
	rm "$STACK/site/api.sock"
	"$TOP/tests/support/fcgi.pl" record "$STACK/site/api.sock" "$1" 200 3>&- &
	STAND_IN=$!
	wait_for 20 test -S "$STACK/site/api.sock"
}

stand_back() {
	wait "$STAND_IN"
	ln -sfn "$STACK/api.sock" "$STACK/site/api.sock"
}

# as_recorded WAY [CURL OPTIONS...]: what arrives behind nginx of alice's create, in $BATS_TEST_TMPDIR/request.
as_recorded() {
	stand_in "$BATS_TEST_TMPDIR/request"
	wait_for 20 taken "$@"
	stand_back
}

taken() {
	as "$1" alice POST /v1/jobs -H 'Idempotency-Key: stops' -d "$AWAY" "${@:2}"
	[ "$status" = 200 ]
}

arrived() { grep -qaiF "$@" "$BATS_TEST_TMPDIR/request"; }

@test "owners' servers: cookies, passwords and a Proxy header stop at nginx; the name goes on, and a token beside a certificate" {
	local way owner password token

	password=$(printf %s "alice:alice's own" | base64)
	for way in basic request certificate; do
		case $way in certificate) owner=ONEJOB_OWNERCN=alice,O=Example ;; *) owner=ONEJOB_OWNERalice ;; esac
		as_recorded $way -H 'Proxy: http://evil.example' -H "Authorization: Basic $password" -H 'Cookie: session=alices; theme=dark'
		arrived "$owner"
		arrived HTTP_IDEMPOTENCY_KEY
		no arrived -e AUTHORIZATION -e HTTP_PROXY -e evil.example -e "$password" -e COOKIE -e alices -e dark
	done
	for token in 'Bearer a-token' 'bearer   a-token'; do
		as_recorded certificate -H "Authorization: $token"
		arrived "HTTP_AUTHORIZATION$token"
	done
	as_recorded certificate -H 'Authorization: Bearers a-token'
	no arrived -e AUTHORIZATION -e a-token
	as_recorded request -H 'Authorization: Bearer a-token'
	no arrived -e AUTHORIZATION -e a-token
}

# logged_posts: how many requests the access log of the site tells of.
logged_posts() { grep -c '"method":"POST"' "$STACK/log/site-access.log" || true; }
all_logged() { [ "$(logged_posts)" = "$1" ]; }

# badly_sent PATH STATUSES: what nginx itself has something to say about: a body that goes through a file, one that is too large,
# announced and not, and any for an API that isn't there.
badly_sent() {
	local file=$BATS_TEST_TMPDIR/body n got='' more

	for n in 100000 1048577; do
		{ printf '{"outcome":"succeeded","result":1}'; head -c $n /dev/zero | tr '\0' ' '; } >"$file-$n"
	done
	for more in "@$file-100000" "@$file-1048577" "@$file-1048577 -H Transfer-Encoding:chunked"; do
		# shellcheck disable=SC2086 # words
		plain raw POST "$1" --data-binary $more
		got+="$status "
	done
	is 'statuses' "$got" "$2 "
}

@test "a callback's signature stands in no log, however its address is spelt and whatever becomes of it" {
	local id path signature spelling sent

	start signs 'status=202,body=%7B%22id%22%3A%22s%22%7D' '"headers":{"X-Callback":"{{callback_url}}"},"accepted":{"reference":"/id"}'
	wait_job "$job" running
	path=$(shop '/shop/requests?printer=signs' | jq -r '.[-1].headers["x-callback"]')
	path=${path#"http://127.0.0.1:$PORT"}
	IFS=/ read -r _ _ _ id signature <<<"$path"
	has signature '^[A-Za-z0-9_-]{43}$' "$signature"
	sent=$(logged_posts)
	while read -r spelling; do
		spelling=${spelling//ID/$id} spelling=${spelling//JOB/$job} spelling=${spelling//SIG/$signature}
		plain api POST "$spelling"
		has "status of $spelling" '^(200|404)$' "$status"
		sent=$((sent + 1))
	done <<-'ROWS'
		/v1/callbacks/ID/SIG
		//v1/callbacks/ID/SIG
		/v1//callbacks/ID/SIG
		/v1/callbacks//ID/SIG
		/v1/callbacks/ID//SIG
		/v1/callbacks/ID/SIG/
		/v1/callbacks/ID/SIG?SIG
		/v1/callbacks/JOB/SIG
		/v1/callbacks/SIG
		/v1/callbacks/SIG/callback
		/v1/callbacks/ID?signature=SIG
		/v1/callbacks/ID;SIG
		/v1/%63allbacks/ID/SIG
		/%76%31/callbacks/ID/SIG
		/v1%2fcallbacks/ID/SIG
		/v1/callback%73%2FID%2FSIG
		/v1/callbacks/ID%2FSIG
		/v1/./callbacks/ID/SIG
		/v1/x/../callbacks/ID/SIG
		/V1/Callbacks/ID/SIG
		/callbacks/ID/SIG
		/api/v1/callbacks/ID/SIG
		/v1/callback/ID/SIG
	ROWS
	badly_sent "$path" "200 413 413"
	rm "$STACK/site/api.sock"
	badly_sent "$path" "502 413 413"
	plain raw POST "/api/Callback/$signature" -d ''
	is 'no API' "$status" 502
	ln -sfn "$STACK/api.sock" "$STACK/site/api.sock"
	wait_for 20 all_logged $((sent + 7))
	no grep -raF -- "$signature" "$STACK/log"
	is 'whose it was' "$(jq -r --arg u "/v1/callbacks/$id/..." 'select(.uri == $u) | .status' "$STACK/log/site-access.log" | sort -u | tr '\n' ' ')" '200 404 413 502 '
	job_is "$job" succeeded	# so it was the signature
}

logged_at() { jq -r --arg u "$1" 'select(.uri == $u) | .status' "$STACK/log/site-access.log"; }	# URI

@test "what comes in clear is logged as the rest is, without a signature, however large it is" {
	local signature=UpR1ghtAndUnguessedSignatureOfFortyThreeBytes id=01890000-0000-7000-8000-000000000000 n

	for n in 2 1048577; do
		head -c $n /dev/zero >"$BATS_TEST_TMPDIR/body"
		ONEJOB_URL=http://127.0.0.1:$CLEAR raw POST "/v1/callbacks/$id/$signature?in=clear" -H "Host: $SITE" --data-binary "@$BATS_TEST_TMPDIR/body"
		refused 403 forbidden
		no grep -raF -- "$signature" "$STACK/log"
	done
	wait_for 20 eval '[ "$(logged_at "/v1/callbacks/$id/..." | xargs)" = "403 403" ]'
	no grep -raF -- "$signature" "$STACK/log"
}

# hang_up KEY FILE: a create whose whole request is sent, over a connection that is closed then, without reading.
hang_up() {
	local socket

	exec {socket}<>"/dev/tcp/127.0.0.1/$PLAIN"
	printf 'POST /v1/jobs HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\nIdempotency-Key: "%s"\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n' \
		"$ONEJOB_TOKEN" "$1" "$(stat -c %s "$2")" >&"$socket"
	cat "$2" >&"$socket"
	exec {socket}>&-
}

# all_read: nginx has read all that was sent to the plain server, and knows that nobody listens: what it still has of connections
# waits to be closed (08) with nothing in its queue but the end itself, which counts as one.
all_read() {
	awk -v near="$(printf :%04X "$PLAIN")" '
		substr($2, 9) == near && ($4 == "01" || $4 == "08" && $5 !~ /:0000000[01]$/) { unread = 1 }
		END { exit unread }' /proc/net/tcp
}

stop_workers() {
	STOPPED=$(workers)
	# shellcheck disable=SC2086 # words
	kill -STOP $STOPPED
}

let_go() {
	# shellcheck disable=SC2086 # words
	kill -CONT $STOPPED
	STOPPED=
}

teardown() {
	[ -z "${STOPPED-}" ] || let_go
}

# More than a socket between nginx and the API holds, so that a part is still nginx's when the client is gone.
@test "a client that hangs up after its whole request was sent gets its job, though no worker had taken it yet" {
	local file=$BATS_TEST_TMPDIR/body

	{
		printf '{"provider":"away","input":"'
		head -c 1000000 /dev/zero | tr '\0' x
		printf '"}'
	} >"$file"
	stop_workers
	hang_up gone "$file"
	wait_for 20 all_read
	# one more answer of the same nginx process: it has seen the end of that connection by then
	plain api GET /onejob-problem
	is 'nginx' "$status" 404
	is rows "$(rows_of_key gone)" 0
	let_go
	wait_for 60 stored gone
	plain create gone "@$file"
	is 'the repeat' "$status" 200
}

# The rate alone is another than the shipped one, so that no machine is too slow to exceed it: one every two seconds.
@test "creates past the burst are refused with 429, make nothing, and the same key is taken later" {
	local key folder=$BATS_TEST_TMPDIR/flood

	provider flooded /flooded '"enabled":false'
	site_up strict 's,^(limit_req_zone.*zone=onejob_requests:.*rate=).*,\130r/m;,'
	plain flood "$folder" 1 300 flooded
	is 'statuses' "$(cut -d' ' -f2 "$folder/codes" | sort -u | tr '\n' ' ')" '201 429 '
	within 'what went through at once' "$(grep -c ' 201 ' "$folder/codes")" 201 299
	is 'jobs' "$(sql -e "SELECT idempotency_key FROM jobs WHERE provider = 'flooded'" | sort)" \
		"$(sed -n 's/ 201 .*//p' "$folder/codes" | sort)"
	for key in $(sed -n 's/ 429 .*//p' "$folder/codes"); do
		plain create "$key" '{"provider":"flooded","input":1}'
		[ "$status" = 201 ] || break
	done
	refused 429 too-many-requests
	has 'Retry-After' '^[1-9][0-9]*$' "$(header Retry-After)"
	is rows "$(rows_of_key "$key")" 0
	wait_for 60 eval 'owners alice GET /v1/jobs; [ "$status" = 429 ]'	# the same address, so the same limit
	refused 429 too-many-requests
	wait_for 60 eval "plain create $key '{\"provider\":\"flooded\",\"input\":1}'; [ \"\$status\" = 201 ]"
	site_down strict
}

# hold KEY: a request whose body doesn't come. nginx has counted it once it asks for the body. $holds gets the descriptor.
hold() {
	local socket

	exec {socket}<>"/dev/tcp/127.0.0.1/$PLAIN"
	printf 'POST /v1/jobs HTTP/1.1\r\nHost: a\r\nIdempotency-Key: %s\r\nAuthorization: Bearer %s\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n' "$1" "$ONEJOB_TOKEN" >&"$socket"
	holds+=("$socket")
}

asked_for_its_body() { # DESCRIPTOR
	local line

	IFS= read -r -t 60 -u "$1" line && is 'a held one' "${line%$'\r'}" 'HTTP/1.1 100 Continue'
}

@test "256 requests of one address are under way at once, the next is refused with 429, and another address is not" {
	local i socket holds=()

	# neither the rate nor the patience with a slow client may decide
	site_up lavish 's,rate=100r/s,rate=1000000r/s,g; s,^(client_body_timeout) 30s,\1 30m,'
	for ((i = 0; i < 256; i++)); do
		hold "held-$i"
	done
	for socket in "${holds[@]}"; do
		asked_for_its_body "$socket"
	done
	plain api GET /v1/jobs
	refused 429 too-many-requests
	has 'Retry-After' '^[1-9][0-9]*$' "$(header Retry-After)"
	plain raw GET /v1/jobs --interface 127.0.0.2 -H "Authorization: Bearer $ONEJOB_TOKEN"
	is 'another address' "$status" 200
	socket=${holds[0]}
	exec {socket}>&-
	wait_for 60 eval 'plain api GET /v1/jobs; [ "$status" = 200 ]'
	for socket in "${holds[@]:1}"; do
		exec {socket}>&-
	done
	site_down lavish
}

@test "64 requests of one identity wait at once, the next is refused with 429, and another key or owner is not" {
	local i socket holds=() other

	other=$(onejob token create --owner other)
	site_up patient 's,rate=100r/s,rate=1000000r/s,; s,^(client_body_timeout) 30s,\1 30m,'
	for ((i = 0; i < 64; i++)); do
		hold clicked
	done
	for socket in "${holds[@]}"; do
		asked_for_its_body "$socket"
	done
	plain api POST /v1/jobs -H 'Idempotency-Key: clicked' -d "$AWAY"
	refused 429 too-many-requests
	has 'Retry-After' '^[1-9][0-9]*$' "$(header Retry-After)"
	plain api POST /v1/jobs -H 'Idempotency-Key: clicked-not' -d "$AWAY"
	is 'another key' "$status" 201
	TOKEN=$other plain api POST /v1/jobs -H 'Idempotency-Key: clicked' -d "$AWAY"
	is 'another owner' "$status" 201
	for socket in "${holds[@]}"; do
		exec {socket}>&-
	done
	wait_for 60 eval "plain api POST /v1/jobs -H 'Idempotency-Key: clicked' -d '$AWAY'; [ \"\$status\" = 201 ]"
	site_down patient
}

@test "creates past a credential's burst are refused with 429 from every address, and another credential's are taken" {
	local other spelt

	other=$(onejob token create --owner other)
	provider flooded2 /flooded2 '"enabled":false'
	# one in a while, so that no machine is too slow to exceed it
	site_up credit 's,^(limit_req_zone.*zone=onejob_requests:.*rate=).*,\11000000r/s;,; s,^(limit_req_zone.*zone=onejob_credentials:.*rate=).*,\11r/m;,'
	plain flood "$BATS_TEST_TMPDIR/flood" 1 230 flooded2
	is 'statuses' "$(cut -d' ' -f2 "$BATS_TEST_TMPDIR/flood/codes" | sort -u | tr '\n' ' ')" '201 429 '
	for spelt in "Bearer $ONEJOB_TOKEN" "bearer   $ONEJOB_TOKEN"; do
		plain raw GET /v1/jobs --interface 127.0.0.2 -H "Authorization: $spelt"
		refused 429 too-many-requests
		has 'Retry-After' '^[1-9][0-9]*$' "$(header Retry-After)"
	done
	plain raw GET /v1/jobs -H "Authorization: Bearer $other"
	is 'another credential' "$status" 200
	plain raw GET /v1/jobs
	refused 401 unauthorized	# none at all counts by its address alone
	site_down credit
}

# often WAY N [CURL OPTIONS...]: N requests of alice's over one connection; how many were answered with which status.
often() {
	as "$1" alice GET "/healthz#[1-$2]" "${@:3}"
	grep -oE '^[0-9]{3}' <<<"$body"$'\n'"$status" | sort | uniq -c | xargs
}

@test "past a user's, a session's or a certificate's burst requests are refused from every address, whatever else they carry" {
	local way got junk

	# one in a while, so that no machine is too slow to exceed it
	site_up owned 's,^(limit_req_zone.*zone=onejob_requests:.*rate=).*,\11000000r/s;,; s,^(limit_req_zone.*zone=onejob_credentials:.*rate=).*,\11r/m;,'
	for way in basic request certificate; do
		got=$(often $way 230)
		has "statuses by $way" '^20[1-9] 200 2[0-9] 429$' "$got"
		for junk in 'X-Nothing: at all' 'Authorization: Bearer junk-1' 'Authorization: Basic anVuazpqdW5r' 'Cookie: session=alices; junk=1'; do
			case $way$junk in
			basicAuthorization* | *X-Nothing*) as $way alice GET /v1/jobs --interface 127.0.0.2 ;;
			*) as $way alice GET /v1/jobs --interface 127.0.0.2 -H "$junk" ;;
			esac
			refused 429 too-many-requests
		done
		as $way bob GET /v1/jobs
		is "bob by $way" "$status" 200
	done
	at $OWNERS GET /v1/jobs --interface 127.0.0.2 -u alice:junk
	refused 429 too-many-requests	# counted before it is checked, so another password is nobody else
	at $OWNERS GET /v1/jobs
	refused 401 unauthorized	# none at all counts by its address alone
	at $PEOPLE GET /v1/jobs
	refused 401 unauthorized
	site_down owned
}

# junk WAY N ADDRESS: N requests over one connection, each with another name or secret that nobody knows; how many had which status.
junk() {
	local i host=$PEOPLE

	case $1 in basic) host=$OWNERS ;; certificate) host=$MACHINES ;; esac
	for ((i = 1; i <= $2; i++)); do
		printf '%s\n' "url = https://$host:$TLS/v1/jobs" "resolve = $host:$TLS:127.0.0.1" "cacert = $STACK/tls/fullchain.pem" \
			"interface = $3" http1.1 'output = /dev/null' 'write-out = %{http_code}\n'
		case $1 in
		basic) echo "user = junk-$i:junk" ;;
		request) echo "cookie = session=junk-$i" ;;
		certificate) printf '%s\n' "cert = $STACK/tls/alice.pem" "key = $STACK/tls/alice.key" "header = \"Authorization: Bearer junk-$i\"" ;;
		esac
		echo next
	done >"$BATS_TEST_TMPDIR/junk"
	sed -i '$d' "$BATS_TEST_TMPDIR/junk"
	curl -sS --max-time 60 -K "$BATS_TEST_TMPDIR/junk" | sort | uniq -c | xargs
}

@test "names, sessions and tokens that change with each request don't get past the limit of their address" {
	local way i=2

	site_up junk 's,^(limit_req_zone.*zone=onejob_requests:.*rate=).*,\11r/m;,; s,^(limit_req_zone.*zone=onejob_credentials:.*rate=).*,\11000000r/s;,'
	for way in basic request certificate; do
		i=$((i + 1))
		has "statuses by $way" '^20[1-9] 401 2[0-9] 429$' "$(junk $way 230 127.0.0.$i)"
	done
	site_down junk
}

# from NETWORK N: N requests over one connection, each from another address of that network; how many had which status.
from() {
	local i

	for ((i = 1; i <= $2; i++)); do
		printf '%s\n' "url = http://127.0.0.1:$PLAIN/v1/jobs" "header = \"X-Forwarded-For: $1$(printf "${3-%x}" $i)\"" 'output = /dev/null' \
			'write-out = %{http_code}\n' next
	done >"$BATS_TEST_TMPDIR/from"
	sed -i '$d' "$BATS_TEST_TMPDIR/from"
	curl -sS --max-time 60 -K "$BATS_TEST_TMPDIR/from" | sort | uniq -c | xargs
}

@test "the addresses of one IPv6 network share a limit; another network, and each IPv4 address, has its own" {
	# one in a while, so that no machine is too slow to exceed it
	site_up network 's,^(limit_req_zone.*zone=onejob_requests:.*rate=).*,\11r/m;,; s,^server_tokens off;,& set_real_ip_from 127.0.0.1; real_ip_header X-Forwarded-For;,'
	has 'one network' '^20[1-9] 401 2[0-9] 429$' "$(from 2001:db8:0:a:: 230)"
	is 'its other half' "$(from 2001:db8:0:a:ffff:ffff:ffff: 1)" '1 429'
	is 'the one beside it' "$(from 2001:db8:0:b:: 1)" '1 401'
	is 'a network whose bytes are line ends' "$(from 2001:a0a:a0a:a0a:: 1)" '1 401'
	is 'IPv4' "$(from 192.0.2. 230 %d)" '230 401'
	site_down network
}
