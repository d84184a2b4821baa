#!/usr/bin/env bats
# doc/cluster.md, by its own commands, on four machines with systemd (tests/deb/machine.bash) that share a cable. `./check --cluster`
# runs it. The tests go on from each other. ONEJOB_DEB names a package that is built already.

bats_require_minimum_version 1.5.0
load ../deb/machine

HOSTS='host1 host2 host3'

setup_file() {
	local missing name

	missing=$(machine_missing)
	[ -z "$missing" ] || skip "$missing"
	for name in galera_new_cluster wsrep_sst_rsync rsync dpkg-buildpackage; do
		command -v $name >/dev/null || skip "there is no $name here"
	done
	TOP=$(cd "${srcdir:-.}" && pwd -P)
	WORK=$(mktemp -d "${TMPDIR:-/tmp}/oj.XXXXXX")
	export TOP WORK ONEJOB_BUILD=${ONEJOB_BUILD:-$PWD}
	[ -n "${ONEJOB_DEB-}" ] || build_package
	NEW=${ONEJOB_DEB:-$(echo "$WORK"/build/onejob_*.deb)}
	export NEW
	unshare -n sleep infinity </dev/null >/dev/null 2>&1 3>&- &
	CABLE=$!
	export CABLE
	until [ ! /proc/self/ns/net -ef "/proc/$CABLE/ns/net" ]; do :; done
	cable ip link add cable type bridge
	cable ip addr add 10.0.0.99/24 dev cable	# somebody else
	cable ip link set cable up
	for name in front $HOSTS; do
		begin $name
	done
}

teardown_file() {
	local name

	for name in front $HOSTS; do
		[ ! -e "${WORK:-none}/$name.machine" ] || { on_it $name; machine_stop; }
	done
	[ -z "${CABLE-}" ] || kill "$CABLE"
	[ -z "${WORK-}" ] || rm -rf "$WORK"
}

setup() {
	[ ! -e "$WORK/broken" ] || skip 'an earlier test has failed, and the machines are as it left them'
	declare -ft "$BATS_TEST_NAME"
	set +T
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || touch "$WORK/broken"
}

# --- the package

build_package() {
	mkdir -p "$WORK/build/onejob"
	(
		cd "$TOP" || return
		if [ -e .git ]; then
			git ls-files -co --exclude-standard
		else
			find . -type f ! -path './build*' ! -path './var/*'
		fi | tar cf - -T - | tar xf - -C "$WORK/build/onejob"
	)
	(cd "$WORK/build/onejob" &&
		DEB_BUILD_OPTIONS="nocheck noopt noautodbgsym parallel=$(nproc)" dpkg-buildpackage -b -us -uc -d) \
		>"$WORK/build.log" 2>&1 </dev/null 3>&- || { tail -n 30 "$WORK/build.log" >&2; return 1; }
}

# --- the machines

cable() { nsenter -t "$CABLE" -n -- "$@"; }

address() { # NAME
	case $1 in
	front) echo 10.0.0.10 ;;
	*) echo "10.0.0.1${1#host}" ;;
	esac
}

on_it() { # NAME: it is $MACHINE now
	read -r MACHINE MACHINE_HOLDER MACHINE_GROUP <"$WORK/$1.machine"
}

on() ( # NAME COMMAND...
	on_it "$1"
	on_machine "${@:2}"
)

# A machine with a database server that has no data, as after an installation but for room, and the package beside it.
begin() { # NAME
	local root

	machine_start "$WORK/$1"
	echo "$MACHINE $MACHINE_HOLDER $MACHINE_GROUP" >"$WORK/$1.machine"
	cable ip link add "to-$1" type veth peer name eth0 netns "$MACHINE"
	cable ip link set "to-$1" master cable up
	on_machine ip addr add "$(address "$1")/24" dev eth0
	on_machine ip link set eth0 up
	root=/proc/$MACHINE/root
	cp "$NEW" "$root/root/"
	cp "$NEW" "$root/root/onejob_0.0.1_all.deb"	# one that isn't meant
	cp "$ONEJOB_BUILD/printshop" "$root/usr/local/bin/"
	printf '[mysqld]\ninnodb_log_file_size=16M\ninnodb_buffer_pool_size=64M\nperformance_schema=OFF\ninnodb_use_native_aio=0\n' \
		>"$root/etc/mysql/conf.d/oj.cnf"
	on_machine sh -ec '
		rm -rf /var/lib/mysql /etc/onejob
		[ "$1" = front ] || {
			install -d -o mysql -g mysql /var/lib/mysql
			mariadb-install-db --user=mysql --skip-test-db --skip-name-resolve --force --auth-root-authentication-method=socket
		}
		[ "$1" != front ] || systemd-run -q --unit=printshop /usr/local/bin/printshop --address 10.0.0.10 --port 7000
	' sh "$1" >"$WORK/$1.log" 2>&1 </dev/null 3>&- || { cat "$WORK/$1.log" >&2; return 1; }
}

# guide NAME HEADING [N]: what stands under a heading of the guide, or the Nth block of it, is typed on that machine; `#> words` are in
# what it prints.
guide() {
	local words root

	root=$(root_of "$1")
	section "$@" >"$root/root/section"
	grep -q . "$root/root/section"
	on "$1" bash -euxc 'cd /root; . ./section' >"$WORK/section.out" 2>&1 </dev/null 3>&- || { cat "$WORK/section.out"; return 1; }
	cat "$WORK/section.out"
	while read -r words; do
		grep -v '^+' "$WORK/section.out" | grep -F -e "$words" || { echo "not printed: $words"; return 1; }
	done < <(section "$@" | sed -n 's/^ *#> //p')
}

section() { # NAME HEADING [N]
	awk -v heading="## $2" -v n="${3-}" '/^## / { on = $0 == heading; block = 0; open = 0; next }
		/^    / { if (!open) block++; open = 1; if (on && (n == "" || n == block)) print; next }
		/./ { open = 0 }' "$TOP/doc/cluster.md" |
		sed -e "s/NODE=host1 ADDRESS=10.0.0.11/NODE=$1 ADDRESS=$(address "$1")/" \
			-e 's,https://printer.example/jobs,http://10.0.0.10:7000/printer,' \
			-e "s,install -y \./onejob_.*,install -y ./${NEW##*/}," -e "s/^ *TOKEN=oj_\.\.\./TOKEN=$(cat "$WORK/token" 2>/dev/null)/"
}

root_of() { echo "/proc/$(cut -d' ' -f1 "$WORK/$1.machine")/root"; }	# NAME: its files, as they are seen from here

# filled_in NAME SHIPPED FILE: the comments are those of the shipped file, and no word that stands for something is left elsewhere.
filled_in() {
	diff <(grep '^#' "$TOP/doc/cluster/$2") <(grep '^#' "$(root_of "$1")$3")
	! grep -v '^#' "$(root_of "$1")$3" | grep -wE 'NODE|ADDRESS|MEMBERS|HOSTS|FRONT' || return 1
}

wait_for() { # COMMAND...: for two minutes
	local end=$((SECONDS + 120))

	until "$@"; do
		[ $SECONDS -lt $end ] || { echo "waited in vain for: $*"; return 1; }
		sleep 0.2
	done
}

oj() { on host1 runuser -u onejob -- env ONEJOB_DEFAULTS_FILE=/etc/onejob/my.cnf onejob "$@"; }
sql() { on "$1" mariadb -N onejob -e "SET wsrep_sync_wait = 1; $2" 2>/dev/null; }	# NAME STATEMENT
succeeded() { [ "$(sql host2 "SELECT state FROM jobs WHERE idempotency_key = '$1'")" = succeeded ]; }	# KEY
together() { [ "$(on "$1" mariadb -Ne "SHOW STATUS LIKE 'wsrep_cluster_size'" 2>/dev/null | cut -f2)" = 3 ]; }
ready() { on front curl -sS -o /dev/null --max-time 30 "${SITE[@]}" -f https://jobs.example.org/readyz 2>/dev/null; }

SITE=(--cacert /etc/ssl/certs/onejob.pem --resolve jobs.example.org:443:127.0.0.1)

# create KEY: through nginx
create() {
	on front curl -sS "${SITE[@]}" -o /dev/null -w '%{http_code}\n' https://jobs.example.org/v1/jobs \
		-H "Authorization: Bearer $(cat "$WORK/token")" -H "Idempotency-Key: $1" -H 'Content-Type: application/json' \
		-d '{"provider":"printer","input":{}}'
}

# Creates one after the other, until calm.
storm() {
	(
		i=0
		while [ ! -e "$WORK/calm" ]; do
			create "storm-$BATS_TEST_NUMBER-$((i += 1))"
		done >"$WORK/storm" 2>&1
	) 3>&- &
	STORM=$!
	wait_for test -s "$WORK/storm"
}

# All were answered, and each has its job. One that was written as its node went is asked for again by nginx, and that answer is 200.
calm() {
	touch "$WORK/calm"
	wait "$STORM"
	rm "$WORK/calm"
	echo "$(grep -c . "$WORK/storm") requests"
	! grep -vxE '20[01]' "$WORK/storm" || { sort "$WORK/storm" | uniq -c; return 1; }
	[ "$(sql host1 "SELECT COUNT(*) FROM jobs WHERE idempotency_key LIKE 'storm-$BATS_TEST_NUMBER-%'")" = "$(grep -c . "$WORK/storm")" ]
}

# --- the tests

@test "the guide makes a cluster of three machines, and starts onejob on each" {
	local name file

	for name in $HOSTS; do
		guide $name 'Packages, on each host'
		on $name sed -i 's/gcache.size=512M/gcache.size=16M/' /usr/share/onejob/cluster/galera.cnf
		guide $name 'The node, on each host'
		filled_in $name galera.cnf /etc/mysql/mariadb.conf.d/90-onejob.cnf
		filled_in $name mariadb.conf /etc/systemd/system/mariadb.service.d/onejob.conf
		filled_in $name onejob-api.socket.conf /etc/systemd/system/onejob-api.socket.d/cluster.conf
	done
	guide host1 'The same on each host' 1
	for name in host2 host3; do
		cp "$(root_of host1)/root/onejob-same.tar.gz" "$(root_of $name)/root/"
		guide $name 'The same on each host' 2
		for file in onejob.env callback.keys secrets.env; do
			cmp "$(root_of host1)/etc/onejob/$file" "$(root_of $name)/etc/onejob/$file"
		done
	done
	guide host1 'The first node'
	guide host2 'The other nodes'
	guide host3 'The other nodes'
	for name in $HOSTS; do
		wait_for together $name
		guide $name 'Start, on each host'
	done
	[ "$(sql host3 'SELECT COUNT(*) > 0 FROM schema_migrations')" = 1 ]
	oj doctor
}

@test "the guide puts nginx before them, and a job is done; its metrics are for nobody else" {
	on front apt-get install -y "/root/${NEW##*/}" >"$WORK/front.log" 2>&1 </dev/null 3>&-
	guide front 'nginx, on the front'
	guide host1 'The first job' 1
	grep -ox 'oj_[A-Za-z0-9_-]*' "$WORK/section.out" >"$WORK/token"
	guide front 'The first job' 2
	wait_for succeeded order-1
	[ "$(create guide-1)" = 201 ]
	[ "$(create guide-1)" = 200 ]
	wait_for succeeded guide-1
	run on front curl -sS -k -o /dev/null -w '%{http_code}' --resolve jobs.example.org:443:10.0.0.10 --interface 10.0.0.10 \
		https://jobs.example.org/metrics
	[ "$output" = 403 ]
}

@test "the API's port is for nginx alone, and Galera's for the hosts" {
	on front timeout 3 bash -c 'exec 3<>/dev/tcp/10.0.0.11/9000'
	on host2 timeout 3 bash -c 'exec 3<>/dev/tcp/10.0.0.11/4567'
	run ! on host2 timeout 3 bash -c 'exec 3<>/dev/tcp/10.0.0.11/3306'
	! on host1 journalctl --no-pager -b | grep -q 'does not support BPF/cgroup firewalling' || skip 'systemd has no BPF here for IPAddressAllow='
	run ! on host2 timeout 3 bash -c 'exec 3<>/dev/tcp/10.0.0.11/9000'
	run ! cable timeout 3 bash -c 'exec 3<>/dev/tcp/10.0.0.11/9000'
	run ! cable timeout 3 bash -c 'exec 3<>/dev/tcp/10.0.0.11/4567'
	run ! on front timeout 3 bash -c 'exec 3<>/dev/tcp/10.0.0.11/4567'
}

@test "no create fails while one host after another is restarted" {
	local name

	on host2 systemctl enable --now onejob-poller@2
	storm
	for name in $HOSTS; do
		guide $name 'Restart, one host after another'
		wait_for together $name
	done
	calm
	[ "$(on host2 systemctl is-active onejob-poller@1 onejob-poller@2 | uniq -c | tr -s ' ')" = ' 2 active' ]
	for name in $HOSTS; do	# at a shutdown they go before the database does
		on $name systemctl show --property=After --value onejob-poller@1 | grep -w mariadb.service
	done
}

@test "a node that died comes back, with the cluster going on meanwhile" {
	on host2 systemctl kill -s KILL mariadb
	storm
	guide host2 'When a node is out'
	calm
}

@test "after a total outage the guide finds the node to begin with, and nothing is lost" {
	local name place best most=-1 before

	before=$(sql host1 'SELECT COUNT(*) FROM jobs')
	for name in $HOSTS; do
		on $name sh -c 'mkdir -p /run/systemd/system/mariadb.service.d; printf "[Service]\nRestart=no\n" >/run/systemd/system/mariadb.service.d/no.conf; systemctl daemon-reload'
	done
	for name in $HOSTS; do
		on $name systemctl kill -s KILL mariadb
	done
	for name in $HOSTS; do
		wait_for eval "! on $name systemctl is-active -q mariadb"
		guide $name 'When all are out' 1
		place=$(grep -v '^+' "$WORK/section.out" | sed -n 's/.*wsrep_start_position=.*:\([0-9]*\).*/\1/p')
		[ "$place" -le $most ] || { most=$place best=$name; }
	done
	guide "$best" 'When all are out' 2
	for name in $HOSTS; do
		[ $name = "$best" ] || on $name systemctl start mariadb
	done
	for name in $HOSTS; do
		wait_for together $name
	done
	wait_for ready
	[ "$(create after-1)" = 201 ]
	[ "$(sql host3 'SELECT COUNT(*) FROM jobs')" = $((before + 1)) ]
	wait_for succeeded after-1
}
