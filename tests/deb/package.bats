#!/usr/bin/env bats
# The Debian package, from its build to its purge, by the commands of doc/one-machine.md, on a machine with systemd (machine.bash).
# `./check --package` runs it; a build of the package is too costly for the plain check. The tests go on from each other. ONEJOB_DEB
# names a package that is built already.

bats_require_minimum_version 1.5.0
load machine

setup_file() {
	local missing

	missing=$(machine_missing)
	[ -z "$missing" ] || skip "$missing"
	TOP=$(cd "${srcdir:-.}" && pwd -P)
	WORK=$(mktemp -d "${TMPDIR:-/tmp}/oj.XXXXXX")
	export TOP WORK ONEJOB_BUILD=${ONEJOB_BUILD:-$PWD}
	[ -n "${ONEJOB_DEB-}" ] || build_package
	NEW=${ONEJOB_DEB:-$(echo "$WORK"/build/onejob_*.deb)}
	VERSION=$(dpkg-deb -f "$NEW" Version)
	OLD_VERSION=${VERSION//[1-9]/0}	# lower, and as long, so that it fits in place of the other in a program
	export NEW VERSION OLD_VERSION
	make_older
	machine_start "$WORK/machine"
	furnish
}

teardown_file() {
	[ -z "${MACHINE_HOLDER-}" ] || machine_stop
	[ -z "${WORK-}" ] || rm -rf "$WORK"
}

setup() {
	declare -ft "$BATS_TEST_NAME"
	set +T
}

# --- packages

# What belongs to the source, less what was built in it.
copy_source() {
	mkdir -p "$WORK/build/onejob"
	cd "$TOP" || return
	if [ -e .git ]; then
		git ls-files -co --exclude-standard
	else
		find . -type f ! -path './build*' ! -path './var/*'
	fi | tee "$WORK/copied" | tar cf - -T - | tar xf - -C "$WORK/build/onejob"
}

printed() { grep -ohE '`dpkg-buildpackage[^`]*`' "$TOP/README.md" "$TOP/doc/one-machine.md" | tr -d '`' | sort -u; }

# As printed, with its tests, and with nothing that the `make check` around it has set.
build_package() {
	(copy_source)
	(cd "$WORK/build/onejob" && env -i HOME="$HOME" PATH="$PATH" LC_ALL=C.UTF-8 ${TMPDIR:+TMPDIR="$TMPDIR"} sh -euxc "$(printed)") \
		>"$WORK/build.log" 2>&1 </dev/null 3>&- || { tail -n 30 "$WORK/build.log" >&2; return 1; }
}

# The same, but for a lower version, which its programs say too, and a file in /etc that has changed since.
make_older() {
	OLD=$WORK/older/onejob_${OLD_VERSION}_$(dpkg --print-architecture).deb
	export OLD
	mkdir "$WORK/older"
	dpkg-deb -R "$NEW" "$WORK/older/tree"
	cp -r "$WORK/older/tree" "$WORK/tree"
	sed -i "s/^Version: .*/Version: $OLD_VERSION/" "$WORK/older/tree/DEBIAN/control"
	LC_ALL=C sed -i "s/${VERSION//./\\.}/$OLD_VERSION/" "$WORK"/older/tree/usr/bin/onejob "$WORK"/older/tree/usr/sbin/onejob-*
	echo '# as it was' >>"$WORK/older/tree/etc/onejob/my.cnf"
	(cd "$WORK/older/tree" && md5sum etc/onejob/my.cnf) >"$WORK/sum"
	dpkg-deb --root-owner-group -b "$WORK/older/tree" "$OLD" >/dev/null
}

# --- the machine

inside() { # FILE: as it is seen from here
	echo "/proc/$MACHINE/root$1"
}

# A database server without data, a provider, and somebody who watches what it has before onejob comes.
furnish() {
	mkdir "$(inside /root/onejob)"	# for the source
	cp "$OLD" "$NEW" "$(inside /root/)"
	cp "$ONEJOB_BUILD/printshop" "$(inside /usr/local/bin/)"
	printf '[mysqld]\ninnodb_log_file_size=16M\ninnodb_buffer_pool_size=64M\nperformance_schema=OFF\n' >"$(inside /etc/mysql/conf.d/oj.cnf)"
	on_machine sh -ec '
		rm -rf /var/lib/mysql /etc/onejob
		install -d -o mysql -g mysql /var/lib/mysql
		mariadb-install-db --user=mysql --skip-test-db --skip-name-resolve --force --auth-root-authentication-method=socket
		systemctl start mariadb
		systemd-run -q --unit=printshop /usr/local/bin/printshop --port 9000
	' >"$WORK/furnish.log" 2>&1 </dev/null || { cat "$WORK/furnish.log" >&2; return 1; }
}

# guide HEADING [N]: what stands under a heading of the guide, or its Nth block, is typed as it stands there; `#> words` are in what it
# prints.
guide() {
	local words

	section "$@" >"$(inside /root/section)"
	grep -q . "$(inside /root/section)"
	on_machine bash -euxc "cd ${FROM:-/root}; $(guides_oj); . /root/section" \
		>"$WORK/section.out" 2>&1 </dev/null 3>&- || { cat "$WORK/section.out"; return 1; }
	cat "$WORK/section.out"
	while read -r words; do
		grep -v '^+' "$WORK/section.out" | grep -F -e "$words" || { echo "not printed: $words"; return 1; }
	done < <(section "$@" | sed -n 's/^ *#> //p')
}

guides_oj() { grep -E '^    oj\(\)' "$TOP/doc/one-machine.md"; }

section() { # HEADING [N]
	awk -v heading="## $1" -v n="${2-}" '/^## / { on = $0 == heading; block = 0; open = 0; next }
		/^    / { if (!open) block++; open = 1; if (on && (n == "" || n == block)) print; next }
		/./ { open = 0 }' "$TOP/doc/one-machine.md" |
		sed -e 's,https://printer.example/jobs,http://127.0.0.1:9000/inkjet,' \
			-e "s,install -y \./onejob_.*,install -y ./${OLD##*/}," -e "s,NEW=\./onejob_.*,NEW=./${NEW##*/},"
}

oj() {
	on_machine runuser -u onejob -- env ONEJOB_DEFAULTS_FILE=/etc/onejob/my.cnf onejob "$@"
}

sql() {
	on_machine mariadb -N onejob -e "$1"
}

wait_for() { # COMMAND...: for a minute
	local end=$((SECONDS + 60))

	until "$@"; do
		[ $SECONDS -lt $end ] || { echo "waited in vain for: $*: ${job-}"; return 1; }
		sleep 0.1
	done
}

job_succeeded() { # KEY
	job=$(sql "SELECT j.state, a.state, a.phase, a.reason, a.detail FROM jobs j LEFT JOIN attempts a ON a.job_id = j.id
		WHERE idempotency_key = '$1' ORDER BY a.id DESC LIMIT 1")
	[[ $job == succeeded* ]]
}

# create KEY PROVIDER: through nginx
create() {
	on_machine curl -sS --cacert /etc/ssl/certs/onejob.pem --resolve jobs.example.org:443:127.0.0.1 -o /dev/null -w '%{http_code}\n' \
		https://jobs.example.org/v1/jobs -H "Authorization: Bearer $(cat "$WORK/token")" -H "Idempotency-Key: \"$1\"" \
		-H 'Content-Type: application/json' -d "{\"provider\": \"$2\", \"input\": {}}"
}

# Creates one after the other, until calm.
storm() {
	(
		i=0
		while [ ! -e "$WORK/calm" ]; do
			create "storm-$BASHPID-$((i += 1))" printer
		done >"$WORK/storm" 2>&1
	) 3>&- &
	STORM=$!
	wait_for test -s "$WORK/storm"
}

calm() {
	touch "$WORK/calm"
	wait "$STORM"
	rm "$WORK/calm"
	echo "$(grep -c . "$WORK/storm") requests"
	[ "$(sort -u "$WORK/storm")" = 201 ] || { sort "$WORK/storm" | uniq -c; return 1; }
}

pids() { # the main processes of the instances that run
	on_machine systemctl show --property=MainPID --value 'onejob-api@*' 'onejob-poller@*' | grep . | sort | tr '\n' ' '
}

none_of() { # PIDS: other processes run now, as many
	local now

	now=$(pids)
	[ "$(wc -w <<<"$now")" = "$(wc -w <<<"$1")" ] && ! grep -qw 0 <<<"$now" &&
		[ -z "$(comm -12 <(tr ' ' '\n' <<<"$1" | grep . | sort) <(tr ' ' '\n' <<<"$now" | grep . | sort))" ]
}

say_all() { # VERSION: the programs that run, and the command
	local pid

	for pid in $(pids); do
		[[ $(on_machine "/proc/$pid/exe" --version) == onejob-*" $1" ]] || { on_machine "/proc/$pid/exe" --version; return 1; }
	done
	[ "$(on_machine onejob --version)" = "onejob $1" ]
}

in_use() { # COUNT: so many instances answer on the one socket
	[ "$(on_machine systemctl list-units --plain --no-legend --state=active 'onejob-api@*' | wc -l)" = "$1" ]
}

# --- the tests

@test "the package has no error or warning of lintian's" {
	run lintian --allow-root --fail-on error,warning "$NEW"
	echo "$output"
	[ "$status" = 0 ] && [ -z "$output" ]
}

@test "the pages in the package lack nothing that they link to" {
	run bash "$TOP/tests/deb/links.sh" "$WORK/tree/usr/share/doc/onejob"
	echo "$output"
	[ "$status" = 0 ] && [ -z "$output" ]
}

@test "the package is built as the pages print it, and runs its unit tests" {
	local named

	[ "$(printed | wc -l)" = 1 ]
	[ -e "$WORK/build.log" ] || skip 'a package that was built already'
	named=$(sed -n 's,^ *apt-get install -y \./\(onejob_\),\1,p' "$TOP/doc/one-machine.md" "$TOP/doc/cluster.md" | sort -u)
	[ -e "$WORK/build/${named/amd64/$(dpkg --print-architecture)}" ]
	make -s --no-print-directory -C "$ONEJOB_BUILD" print-unit-tests | tr ' ' '\n' | grep . | sort >"$WORK/wanted"
	[ "$(wc -l <"$WORK/wanted")" -gt 40 ]
	diff "$WORK/wanted" <(sed -n 's/^PASS: \([^ ]*\) .*/\1/p' "$WORK/build.log" | sort -u)
}

@test "what a build leaves behind, and what README writes, git doesn't take for source" {
	cd "$WORK/build/onejob" 2>/dev/null && [ -e .gitignore ] || skip 'not built here, or from a distribution'
	[ -e debian/onejob ]
	echo '{}' >summary.json
	git init -q
	diff <(sort "$WORK/copied") <(git ls-files -o --exclude-standard | sort)
}

@test "the guide installs the package, which starts nothing and touches no database" {
	FROM=/root/onejob guide 'The package'
	[ "$(on_machine dpkg-query -W -f '${Version}' onejob)" = "$OLD_VERSION" ]
	in_use 0
	[ "$(on_machine mariadb -N -e 'SHOW DATABASES' | grep -c onejob)" = 0 ]
	[ "$(on_machine man -w onejob.env)" = /usr/share/man/man5/onejob.env.5.gz ]
}

@test "what may hold secrets is closed, and the account owns nothing and has no shell" {
	run on_machine stat -c '%U:%G %a %n' /etc/onejob/onejob.env /etc/onejob/my.cnf /etc/onejob/migrate.cnf
	echo "$output"
	[ "$output" = 'root:onejob 640 /etc/onejob/onejob.env
root:onejob 640 /etc/onejob/my.cnf
root:root 600 /etc/onejob/migrate.cnf' ]
	[[ $(on_machine getent passwd onejob) == onejob:*:/nonexistent:/usr/sbin/nologin ]]
	[ -z "$(on_machine find / -xdev -user onejob)" ]
}

@test "the guide makes the database, and starts two API instances and a poller" {
	guide 'The database'
	guide Start
	in_use 2
	[ "$(on_machine stat -c '%U:%G %a' /run/onejob/api.sock)" = onejob:www-data\ 660 ]
}

@test "the guide puts nginx before it, and its first job is done" {
	guide nginx
	guide 'The first job'
	wait_for job_succeeded order-1
	oj token create --owner alice >"$WORK/token"
}

site() { on_machine curl -sS --cacert /etc/ssl/certs/onejob.pem --resolve jobs.example.org:443:127.0.0.1 "$@"; }

allowed() { # pages of that origin may call the API
	site -i -X OPTIONS https://jobs.example.org/v1/jobs -H 'Origin: https://app.example.org' -H 'Access-Control-Request-Method: POST' |
		grep -i '^access-control-allow-origin: https://app.example.org'
}

@test "the pages that may call the API, the limits and the size of a body are edited where the guide says" {
	run ! allowed
	on_machine sh -ec 'echo "https://app.example.org token;" >>/etc/onejob/nginx/origins.conf
		sed -i "s,rate=100r/s,rate=99r/s," /etc/onejob/nginx/limits.conf
		sed -i "s/client_max_body_size 1m;/client_max_body_size 1k;/" /etc/nginx/sites-available/onejob
		nginx -T >/root/nginx.conf
		systemctl reload nginx'
	wait_for allowed
	[ "$(on_machine grep -c rate=99r/s /root/nginx.conf)" = 2 ]
	run site -o /dev/null -w '%{http_code} %{content_type}' https://jobs.example.org/v1/jobs -H 'Idempotency-Key: big' \
		-H "Authorization: Bearer $(cat "$WORK/token")" -d "$(printf '%2000s' x)"
	[ "$output" = '413 application/problem+json' ]
}

@test "the instances of the API are one account's and see nothing of the rest" {
	local pid

	pid=$(on_machine systemctl show --property=MainPID --value onejob-api@2)
	[ "$(on_machine stat -c %U "/proc/$pid")" = onejob ]
	on_machine grep -E '^(CapEff|CapBnd):.*[1-9a-f]' "/proc/$pid/status" && return 1
	[ "$(on_machine awk '$1 == "NoNewPrivs:" { print $2 }' "/proc/$pid/status")" = 1 ]
	[ "$(on_machine awk '$1 == "Seccomp:" { print $2 }' "/proc/$pid/status")" = 2 ]
}

@test "a poller reads the secrets that the guide gives it, which the account can't" {
	guide 'Secrets of providers'
	run ! on_machine runuser -u onejob -- cat /etc/onejob/secrets.env
	run ! on_machine runuser -u onejob -- cat /etc/onejob/laser.token
	echo '{"url": "http://127.0.0.1:9000/laser", "headers": {"A": "${env:PRINTER_TOKEN}",
		"B": "${file:/run/credentials/onejob-poller@1.service/laser}"}}' >"$(inside /root/laser.json)"
	on_machine sh -c 'runuser -u onejob -- env ONEJOB_DEFAULTS_FILE=/etc/onejob/my.cnf onejob provider put laser - </root/laser.json'
	[ "$(create secret-1 laser)" = 201 ]
	wait_for job_succeeded secret-1
}

@test "a poller in its fence may have five thousand requests on the wire" {
	on_machine sed -i 's/^#ONEJOB_IN_FLIGHT=.*/ONEJOB_IN_FLIGHT=5000/' /etc/onejob/onejob.env
	on_machine systemctl restart onejob-poller@1
	[ "$(create many-1 printer)" = 201 ]
	wait_for job_succeeded many-1
	on_machine journalctl --no-pager -u onejob-poller@1 | grep in_flight=5000
}

@test "a third instance shares the socket, and none needs a network" {
	local pid

	guide 'More, less, and a tighter fence'
	in_use 3
	for pid in $(on_machine systemctl show --property=MainPID --value 'onejob-api@*'); do
		on_machine test ! "/proc/$pid/ns/net" -ef /proc/1/ns/net
	done
	on_machine systemctl stop onejob-api@1 onejob-api@2	# so the third has to answer
	[ "$(create third-1 printer)" = 201 ]
	on_machine systemctl start onejob-api@1 onejob-api@2
}

@test "a connection starts an instance where none runs" {
	on_machine systemctl stop 'onejob-api@*'
	in_use 0
	[ "$(create wakes-1 printer)" = 201 ]
	on_machine systemctl start onejob-api@2 onejob-api@3
}

@test "no request fails while everything restarts" {
	local before

	before=$(pids)
	storm
	guide 'Restart without a gap'
	calm
	none_of "$before"
}

# As upgrade.md has them for systemd, and then by hand, where systemd starts what has left.
@test "no request fails while the programs are replaced by the commands of the page on upgrades" {
	local before

	grep -E '^ +(systemctl|pkill) ' "$TOP/doc/upgrade.md" >"$WORK/replace"
	[ "$(sed 's/^ *//' "$WORK/replace" | cut -d' ' -f1 | uniq -c | tr -s ' \n' ' ')" = ' 2 systemctl 1 pkill 1 systemctl 1 pkill ' ]
	storm
	before=$(pids)
	on_machine sh -euxc "$(grep systemctl "$WORK/replace")"
	none_of "$before"
	before=$(pids)
	on_machine sh -euxc "$(grep pkill "$WORK/replace")"
	wait_for none_of "$before"
	calm
	in_use 3
}

@test "an upgrade fails no request, restarts what runs and keeps what was changed" {
	local before

	before=$(pids)
	say_all "$OLD_VERSION"
	storm
	on_machine sh -c 'apt-get install -y /root/"$1"' sh "${NEW##*/}" >"$WORK/upgrade.log" 2>&1 </dev/null 3>&-
	cat "$WORK/upgrade.log"
	calm
	[ "$(on_machine dpkg-query -W -f '${Version} ${db:Status-Status}' onejob)" = "$VERSION installed" ]
	none_of "$before"
	say_all "$VERSION"
	in_use 3
	on_machine grep -x ONEJOB_IN_FLIGHT=5000 /etc/onejob/onejob.env
	on_machine grep -x 'https://app.example.org token;' /etc/nginx/onejob/origins.conf
	[ "$(on_machine nginx -T 2>/dev/null | grep -c rate=99r/s)" = 2 ]
	run ! on_machine grep 'as it was' /etc/onejob/my.cnf
	[ "$(on_machine stat -c '%U:%G %a' /etc/onejob/my.cnf)" = root:onejob\ 640 ]
	on_machine systemctl is-enabled onejob.target
}

# The newest migration but one is an older schema; the newest is undone by hand.
older_schema() {
	[ "$(sql 'SELECT name FROM schema_migrations ORDER BY number DESC LIMIT 1')" = 0029_certificates_stored ]	# else this is out of date
	sql "ALTER TABLE certificates MODIFY COLUMN newest TINYINT UNSIGNED GENERATED ALWAYS AS (IF(superseded_at IS NULL, 1, NULL)) STORED
		COMMENT 'older'; DELETE FROM schema_migrations ORDER BY number DESC LIMIT 1"
}

newest_schema() {
	[ "$(sql "SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = 'onejob' AND table_name = 'certificates'
		AND column_name = 'newest' AND column_comment = ''")" = 1 ]
}

configure_again() { # as an upgrade from the older version does
	on_machine sh -c "/var/lib/dpkg/info/onejob.postinst configure $OLD_VERSION" >"$WORK/postinst.log" 2>&1 </dev/null 3>&-
	cat "$WORK/postinst.log"
}

@test "an upgrade that wants a newer schema leaves the old programs running, and says what to do" {
	local before

	before=$(pids)
	older_schema
	configure_again
	[ "$before" = "$(pids)" ]
	grep -F 'migrate.cnf onejob migrate' "$WORK/postinst.log"
	guide Upgrade
	newest_schema
	on_machine test ! -e /root/onejob-new
	[ "$before" != "$(pids)" ]
	[ "$(create upgraded-1 printer)" = 201 ]
}

@test "an upgrade that may migrate does, and restarts then" {
	local before

	before=$(pids)
	older_schema
	on_machine sed -i 's/^MIGRATE=no/MIGRATE=yes/' /etc/default/onejob
	configure_again
	newest_schema
	[ "$before" != "$(pids)" ]
	[ "$(create upgraded-2 printer)" = 201 ]
	wait_for job_succeeded upgraded-2
}

@test "an upgrade asks the database that the settings name, and no other" {
	local before

	on_machine sh -ec 'cd /etc/onejob; cp -p my.cnf other.cnf; sed -i "s/^database=.*/database=nowhere/" my.cnf'
	before=$(pids)
	configure_again
	[ "$before" = "$(pids)" ]	# not this one
	# by quotation marks that only systemd reads
	on_machine sed -i 's,^ONEJOB_DEFAULTS_FILE=.*,ONEJOB_DEFAULTS_FILE="/etc/onejob/other.cnf",' /etc/onejob/onejob.env
	on_machine bash -c "$(guides_oj); oj token list" | grep alice	# the guide's function, too
	configure_again
	[ "$before" != "$(pids)" ]
	[ "$(create elsewhere-1 printer)" = 201 ]
	wait_for job_succeeded elsewhere-1
	on_machine sh -ec 'cd /etc/onejob; mv other.cnf my.cnf; sed -i "s,\"/etc/onejob/other.cnf\",/etc/onejob/my.cnf," onejob.env'
}

@test "the journal has the programs' lines, and nginx's own logrotate its log" {
	guide Logs
	grep poller.start "$WORK/section.out"
	on_machine test -s /var/log/nginx/onejob.log
	on_machine grep -F '/var/log/nginx/*.log' /etc/logrotate.d/nginx
}

@test "a purge leaves nothing but the account and the database" {
	guide Remove 1
	[ -z "$(pids)" ]
	run on_machine find /etc /lib/systemd /usr /var/lib /run -xdev -iname '*onejob*' ! -path '/var/lib/mysql/*'
	echo "$output"
	[ -z "$output" ]
	[ -z "$(on_machine systemctl list-units --all --plain --no-legend 'onejob*')" ]
	on_machine getent passwd onejob
	[ "$(sql "SELECT COUNT(*) FROM jobs WHERE idempotency_key = 'order-1'")" = 1 ]
}

@test "what a purge leaves goes by the guide's last commands" {
	guide Remove 2
	run ! on_machine getent passwd onejob
	run ! on_machine getent group onejob
	[ -z "$(on_machine mariadb -N -e "SELECT user FROM mysql.user WHERE user LIKE 'onejob%'; SHOW DATABASES LIKE 'onejob%'")" ]
}
