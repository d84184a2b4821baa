# shellcheck shell=bash disable=SC2154
# Three hosts, each with a node of a database cluster, API workers and a poller, and a street before them with nginx, a print shop and
# the clients. Each is a network namespace that lives as long as the process which holds it, so that nothing is seen from outside; needs
# root. `load world` in a .bats file; setup_file calls world_up, teardown_file world_down.
#
#   street 10.0.0.10: nginx on 8080, before all hosts (cluster.conf.example as it stands), and on 8081 to 8083, before one each; the
#                     print shop on 7000
#   hosts  10.0.0.11 to 10.0.0.13: MariaDB on 3306 and the socket $WORLD/nN.sock, the API on 9000
#
# As systemd would: the programs have the settings of doc/cluster/onejob.env and run as the units' command lines say, the node finds
# out by itself where it was (galera_recovery).

bats_require_minimum_version 1.5.0
# shellcheck source=tests/cluster/galera.bash
. "${BASH_SOURCE[0]%/*}/galera.bash"

STREET=10.0.0.10
FRONT=$STREET:8080
SHOP=$STREET:7000

setup() {
	begin_test
}

begin_test() {
	[ ! -e "$WORLD/broken" ] || skip 'an earlier test has failed and left the hosts as they were'
	declare -ft "$BATS_TEST_NAME"
	set +T
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || touch "$WORLD/broken"
}

# world_missing: why there can't be one; nothing if there can.
world_missing() {
	local tool

	[ "$(id -u)" = 0 ] || { echo 'network namespaces need root'; return; }
	for tool in ip unshare nsenter rsync wsrep_sst_rsync spawn-fcgi multiwatch; do
		command -v $tool >/dev/null || { echo "there is no $tool here"; return; }
	done
	[ -e "$GALERA_LIBRARY" ] || { echo "there is no $GALERA_LIBRARY here (galera-4)"; return; }
	unshare -n sh -ec 'ip link add oj0 type bridge; ip link add oj1 type veth peer name oj2; ip link set oj1 master oj0' 2>/dev/null ||
		echo 'network namespaces with bridges are not permitted here'
}

world_up() {
	local missing n

	missing=$(world_missing)
	[ -z "$missing" ] || skip "$missing"
	TOP=$(cd "${srcdir:-.}" && pwd -P)
	WORLD=$(mktemp -d "${TMPDIR:-/tmp}/oj.XXXXXX")	# short: a socket's path has 107 bytes
	export TOP WORLD ONEJOB_BUILD=${ONEJOB_BUILD:-$PWD}
	chmod 755 "$WORLD"
	mkdir "$WORLD/log" "$WORLD/pid" "$WORLD/load"
	places
	database_up
	as_on 1 "$ONEJOB_BUILD/onejob" migrate >"$WORLD/log/migrate.log" 2>&1
	begin street shop "$ONEJOB_BUILD/printshop" --address $STREET --port ${SHOP##*:}
	for n in 1 2 3; do
		api_start $n
		poller_start $n
	done
	front_start
	TOKEN=$(as_on 1 "$ONEJOB_BUILD/onejob" token create --owner alice)
	OPERATOR=$(as_on 2 "$ONEJOB_BUILD/onejob" token create --owner olga --role operator)
	export TOKEN OPERATOR
	wait_for 60 all_ready
	provider printer '"timeout_ms":5000,"retry":{"base_ms":100,"max_ms":1000}'
}

# A process is the world's if its error output is a log there.
world_down() {
	local pids

	[ -n "${WORLD-}" ] || return 0
	while mapfile -t pids < <(find /proc/[0-9]*/fd/2 -maxdepth 0 -lname "$WORLD/*" 2>/dev/null | cut -d/ -f3); [ ${#pids[@]} -gt 0 ]; do
		kill -9 "${pids[@]}" 2>/dev/null || true
	done
	rm -rf "$WORLD"
}

# --- words

is() { # WHAT HAVE WANT
	[ "$2" = "$3" ] || { printf '%s: have %s, want %s\nstatus %s body %s\n' "$1" "$2" "$3" "${status-}" "${body-}" >&2; return 1; }
}

wait_for() { # SECONDS COMMAND...: until it succeeds
	local end=$((SECONDS + $1))

	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || { printf 'waited in vain for: %s\n' "$*" >&2; return 1; }
		sleep 0.1
	done
}

# --- places

# place NAME: a namespace; its holder's id goes into pid/NAME.
place() {
	unshare -n sleep infinity </dev/null >>"$WORLD/log/place.log" 2>&1 3>&- &
	echo $! >"$WORLD/pid/$1"
	until [ ! /proc/self/ns/net -ef "/proc/$!/ns/net" ]; do :; done
	at "$1" ip link set lo up
}

at() { # PLACE COMMAND...
	nsenter -t "$(cat "$WORLD/pid/$1")" -n -- "${@:2}"
}

galera_within() { exec nsenter -t "$(cat "$WORLD/pid/host$1")" -n -- "${@:2}"; }

places() {
	local n

	place street
	at street ip link add cable type bridge
	at street ip addr add $STREET/24 dev cable
	at street ip link set cable up
	for n in 1 2 3; do
		place host$n
		at street ip link add to$n type veth peer name port netns "$(cat "$WORLD/pid/host$n")"
		at street ip link set to$n master cable up
		at host$n ip addr add 10.0.0.1$n/24 dev port
		at host$n ip link set port up
	done
}

# The cable of one host is cut, or mended: it sees nothing, and nobody sees it.
unplug() { at street ip link set "to$1" down; }
plug() { at street ip link set "to$1" up; }

# A host sees the street, but no other host; and neither do they see it.
part() { between "$1" add; }
join() { between "$1" del; }

between() { # N add|del
	local n

	for n in 1 2 3; do
		[ $n != "$1" ] || continue
		at "host$1" ip route "$2" blackhole 10.0.0.1$n/32
		at host$n ip route "$2" blackhole "10.0.0.1$1/32"
	done
}

# begin PLACE NAME COMMAND...: its id goes into pid/NAME, its output into log/NAME.log
begin() {
	nsenter -t "$(cat "$WORLD/pid/$1")" -n -- setsid "${@:3}" </dev/null >>"$WORLD/log/$2.log" 2>&1 3>&- &
	echo $! >"$WORLD/pid/$2"
}

pid_of() { cat "$WORLD/pid/$1"; }	# NAME
gone() { ! kill -0 "$1" 2>/dev/null; }	# PID

# --- the database

# The nodes have the options of the guide, but for room.
database_up() {
	local n options

	galera_template "$ONEJOB_BUILD/tests/galera-template"
	galera_new "$WORLD" "$ONEJOB_BUILD/tests/galera-template" 10.0.0.11:3306 10.0.0.12:3306 10.0.0.13:3306
	options=$(grep -oE '(repl|evs)\.[^"]*' "$TOP/doc/cluster/galera.cnf" | tail -n 1)
	[[ $options == *evs.suspect_timeout=* ]]
	for n in 1 2 3; do
		sed -i "s/;pc\.announce/;$options&/" "$WORLD/n$n.cnf"
		{
			sed -n '/^\[mysqld\]/,$p' "$TOP/doc/cluster/galera.cnf" |
				grep -E '^(\[|innodb_flush|binlog_format|innodb_autoinc|wsrep_slave_threads)'
			echo max-connections=100
			echo innodb_use_native_aio=0	# a kernel may be long about the end of a process that is killed in io_uring
		} >>"$WORLD/n$n.cnf"
	done
	galera_start_all "$WORLD" 3>&- || return 1
}

# What the unit of MariaDB does before it starts. A server that doesn't end by itself takes all the memory there is (sql/0027).
recovered() { # N
	local said

	said=$(ulimit -v 4000000; galera_within "$1" timeout -s KILL 120 mariadbd --defaults-file="$WORLD/n$1.cnf" "$(galera_user)" --wsrep_recover \
		--disable-log-error 2>&1 >/dev/null </dev/null) || { echo "node $1 doesn't find out where it was: $said" >&2; return 1; }
	sed -n 's/.*WSREP: Recovered position: *//p' <<<"$said"
}

node_start() { # N
	local position

	position=$(recovered "$1")
	galera_start "$WORLD" "$1" ${position:+"--wsrep_start_position=$position"} 3>&-
}

node_kill() { galera_signal "$WORLD" "$1" KILL; }
node_stop() { galera_stop "$WORLD" "$1"; }
node_synced() { GALERA_TRIES=1200 galera_await "$WORLD" "$1" "${2-3}"; }
status_of() { galera_status "$WORLD" "$1" "$2"; }	# N NAME

sql() { # N STATEMENT: what was committed anywhere is seen
	galera_sql "$WORLD" "$1" "SET wsrep_sync_wait = 1; USE onejob; $2"
}

at_node() { # N STATEMENTS: in the background
	begin "host$1" "at-node$1" mariadb --no-defaults --socket="$WORLD/n$1.sock" --user=root -e "$2"
}

sleeps() { # N: the last of the statements
	[ "$(sql "$1" "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE '%SLEEP(%' AND id <> CONNECTION_ID()")" = 1 ]
}

# --- onejob

# as_on N COMMAND...: with the settings of that host
as_on() {
	local settings

	mapfile -t settings < <(grep -hE '^[A-Z_]+=' "$TOP/doc/cluster/onejob.env")
	at "host$1" env "${settings[@]}" ONEJOB_DEFAULTS_FILE="$WORLD/n$1.onejob.cnf" ONEJOB_THREADS=4 ONEJOB_GRACE_SECONDS=5 "${@:2}"
}

start_on() { # N NAME COMMAND...
	as_on "$1" setsid "${@:3}" </dev/null >>"$WORLD/log/$2$1.log" 2>&1 3>&- &
	echo $! >"$WORLD/pid/$2$1"
}

api_start() { start_on "$1" api spawn-fcgi -a "10.0.0.1$1" -p 9000 -b 512 -n -- "$TOP/tests/support/hold.sh" 2 "$ONEJOB_BUILD/onejob-api"; }
poller_start() { start_on "$1" poller "$ONEJOB_BUILD/onejob-poller"; }

# The processes of a part: their error output is its log.
part_pids() { find /proc/[0-9]*/fd/2 -maxdepth 0 -lname "$WORLD/log/$1.log" 2>/dev/null | cut -d/ -f3; }

api_workers() { # N
	local pid name

	for pid in $(part_pids "api$1"); do
		! read -r name 2>/dev/null <"/proc/$pid/comm" || [ "$name" != onejob-api ] || echo "$pid"
	done
}

# As `systemctl restart 'onejob-api@*'`: each finishes what it has, and the socket stays.
api_restart() {
	local pid

	for pid in $(api_workers "$1"); do
		kill -TERM "$pid"
		wait_for 30 gone "$pid"
	done
}

api_signal() { # N SIGNAL: all of its processes
	# shellcheck disable=SC2046 # words
	kill "-$2" $(part_pids "api$1")
}

poller_stop() {
	local pid

	for pid in $(part_pids "poller$1"); do
		kill -TERM "$pid"
		wait_for 30 gone "$pid"
	done
}

# --- nginx

front_start() {
	mkdir -p "$WORLD/front/tmp"
	cp -r "$TOP/nginx" "$WORLD/front/onejob"
	front_conf >"$WORLD/front/nginx.conf"
	begin street nginx nginx -c "$WORLD/front/nginx.conf"
}

front_conf() {
	local n

	cat <<-CONF
		daemon off;
		user root;
		worker_processes 2;
		pid "$WORLD/front/nginx.pid";
		error_log "$WORLD/log/nginx.log" warn;
		events { }
		http {
			client_body_temp_path "$WORLD/front/tmp/body";
			fastcgi_temp_path "$WORLD/front/tmp/fastcgi";
			proxy_temp_path "$WORLD/front/tmp/proxy";
			uwsgi_temp_path "$WORLD/front/tmp/uwsgi";
			scgi_temp_path "$WORLD/front/tmp/scgi";
			include onejob/http.conf;
			# instead of limits.conf: one address is all the clients there are
			limit_req_zone \$binary_remote_addr zone=onejob_requests:1m rate=1000000r/s;
			limit_req_zone \$binary_remote_addr zone=onejob_probes:1m rate=1000r/s;
			limit_conn_zone \$binary_remote_addr zone=onejob_connections:1m;
			limit_req_zone \$onejob_credential zone=onejob_credentials:1m rate=1000000r/s;
			limit_conn_zone \$onejob_identity zone=onejob_identities:1m;
			include onejob/cluster.conf.example;
			access_log "$WORLD/log/access.log" onejob;
			server {
				listen $FRONT;
				include onejob/locations.conf;
			}
			$(for n in 1 2 3; do cat <<-DOOR
				server {
					listen $STREET:808$n;
					location / {
						include onejob/pass_once.conf;
						fastcgi_param CONTENT_TYPE \$content_type;
						fastcgi_param CONTENT_LENGTH \$content_length;
						fastcgi_pass 10.0.0.1$n:9000;
					}
				}
			DOOR
			done)
		}
	CONF
}

# --- clients

# api METHOD PATH [CURL OPTIONS...]: through nginx; through one host with DOOR=N. $status and $body
api() {
	body=$(at street curl -sS --max-time 90 -X "$1" -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -w '\n%{http_code}' \
		"${@:3}" "http://$STREET:808${DOOR-0}$2") || true
	status=${body##*$'\n'} body=${body%$'\n'*}
}

ready() { DOOR=$1 api GET /readyz 2>/dev/null; [ "$status" = 200 ]; }	# N
refuses() { DOOR=$1 api GET /readyz 2>/dev/null; [ "$status" = 503 ]; }
all_ready() { ready 1 && ready 2 && ready 3; }

provider() { # NAME [MEMBERS]: at a printer of that name
	TOKEN=$OPERATOR api PUT "/v1/providers/$1" -d "{\"url\":\"http://$SHOP/$1\"${2:+,$2}}"
	[[ $status == 20[01] ]] || { echo "$status $body" >&2; return 1; }
}

shop() { at street curl -sS --max-time 60 "http://$SHOP$1" "${@:2}"; }

client() { at street bash "$TOP/tests/cluster/client.bash" "$@"; }

# load_start N [PROVIDER]: so many clients, each with a file in load/
load_start() {
	local i

	for ((i = 1; i <= $1; i++)); do
		begin street "load-$BATS_TEST_NUMBER-$i" env TOKEN="$TOKEN" bash "$TOP/tests/cluster/client.bash" load "$FRONT" \
			"t$BATS_TEST_NUMBER-$i" "$WORLD/load/$BATS_TEST_NUMBER-$i" "${2-printer}"
	done
}

acks() { cat "$WORLD/load/$BATS_TEST_NUMBER"-[0-9] 2>/dev/null; }
acked() { acks | wc -l; }
failures() { cat "$WORLD/load/$BATS_TEST_NUMBER"-[0-9].failed 2>/dev/null; }

more_acks() { # N [SECONDS]: so many more are acknowledged, counted from now
	local from

	from=$(acked)
	wait_for "${2-60}" eval "[ \$(acked) -ge $((from + $1)) ]"
}

loads_stop() {
	local file

	for file in "$WORLD"/load/*-[0-9]; do
		[ -e "$file" ] || return 0
		touch "$file.stop"
		wait_for 90 gone "$(pid_of "load-$(basename "$file")")"
	done
}

# Nobody has waited longer for a create than this, whatever happened meanwhile: Galera leaves out who is silent after 5 s, or 15.
PATIENCE_S=30

served_in_time() {
	local longest

	longest=$(acks | awk '{ s = ($4 - $3) / 1e6; if (s > most) most = s } END { printf "%d", most }')
	echo "# $(acked) creates, $(failures | wc -l) answers that were no job ($(failures | cut -d' ' -f2 | sort | uniq -c | tr -s ' \n' ' ')), the longest took $longest s" \
		>&"${REPORT_FD:-1}"
	[ "$longest" -le $PATIENCE_S ]
}

# --- what must hold afterwards

# An operator who can look into the provider's book settles each doubt by it: done, or never begun and to be sent.
settle_doubts() {
	local id job generation word

	shop /shop/requests | jq -r '.[].key // empty' | sed 's/-//g' | sort -u >"$WORLD/book"
	sql 1 "SELECT LOWER(HEX(id)), LOWER(HEX(job_id)), generation FROM attempts WHERE state = 'unknown'" >"$WORLD/doubts"
	while read -r id job generation; do
		word='{"outcome":"cancelled"}'
		! grep -qxF "$job$generation" "$WORLD/book" || word='{"outcome":"succeeded","result":"the book says so"}'
		id=${id:0:8}-${id:8:4}-${id:12:4}-${id:16:4}-${id:20}
		TOKEN=$OPERATOR api POST "/v1/attempts/$id/settle" -d "$word"
		is "settling $id" "$status" 200
	done <"$WORLD/doubts"
}

decided() {
	settle_doubts && [ "$(sql 1 "SELECT COUNT(*) FROM jobs WHERE state IN ('queued', 'running', 'unknown')")" = 0 ]
}

# every_node_agrees: the same jobs and attempts everywhere
every_node_agrees() {
	local n first=

	for n in 1 2 3; do
		sql $n "SELECT COUNT(*), BIT_XOR(CRC32(CONCAT_WS('|', HEX(id), owner, idempotency_key, state, version, revision, HEX(completed_by))))
			FROM jobs; SELECT COUNT(*), BIT_XOR(CRC32(CONCAT_WS('|', HEX(id), HEX(job_id), number, state))) FROM attempts" >"$WORLD/node$n"
		first=${first:-$(cat "$WORLD/node$n")}
		is "node $n" "$(cat "$WORLD/node$n")" "$first"
	done
}

# What was acknowledged under a key is that key's one job, and it is done; the provider had each job once.
all_kept() {
	local lost

	wait_for 120 decided
	acks | awk '{ gsub("-", "", $2); print $1, $2 }' | sort >"$WORLD/acked"
	sql 1 "SELECT idempotency_key, LOWER(HEX(id)) FROM jobs WHERE state = 'succeeded' AND idempotency_key LIKE 't$BATS_TEST_NUMBER-%'" |
		tr '\t' ' ' | sort >"$WORLD/done"
	lost=$(comm -23 "$WORLD/acked" "$WORLD/done")
	[ -z "$lost" ] || { echo "acknowledged and not done: $lost" >&2; return 1; }
	is 'creates without an acknowledgement' "$(comm -13 "$WORLD/acked" "$WORLD/done")" ''
	sent_once
	every_node_agrees
}

# Jobs of which the shop has more or less than one request. A key is the job's id and a number.
sent_once() {
	local bad

	bad=$(join -a 1 -e 0 -o 0,2.2 <(cut -d' ' -f2 "$WORLD/done" | sort) \
		<(shop /shop/requests | jq -r '.[].key // empty' | sed 's/-[0-9]*$//; s/-//g' | sort | uniq -c | awk '{ print $2, $1 }' | sort) |
		awk '$2 != 1')
	[ -z "$bad" ] || { printf 'jobs that were not sent once, and how often:\n%s\n' "$bad" >&2; return 1; }
}
