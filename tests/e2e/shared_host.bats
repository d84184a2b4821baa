#!/usr/bin/env bats
# shellcheck disable=SC2034,SC2154 # body, status and headers are set by the words of stack.bash
# A shared host: an unprivileged account, Apache with mod_fcgid, nginx with spawn-fcgi, the poller from cron. All of it is set up by
# typing what doc/shared-host.md says; the database server and the print shop are the stack's.

load stack
load front
load work
load page

setup_file() {
	stack_up --workers 1
	GUEST=$STACK/guest
	APACHE=$(free_port) NGINX=$(free_port)
	export GUEST APACHE NGINX
	account
	apache_up
	page_here
	type_in <(sed '/^## Upgrading/,$d' "$BATS_FILE_TMPDIR/page.md")
	guest_token
}

teardown_file() {
	local file

	for file in onejob/nginx.pid onejob/api.pid apache/pid; do
		[ ! -e "$GUEST/$file" ] || kill "$(cat "$GUEST/$file")" || true
	done
	wait_for 20 apache_gone
	stack_down
}

# guest COMMAND...: as the account. Where we are root that is nobody, else ourselves.
guest() {
	local who=()

	[ "$(id -u)" != 0 ] || who=(setpriv --reuid=nobody --regid=nogroup --clear-groups)
	(cd "$GUEST" && exec "${who[@]}" env -i HOME="$GUEST" PATH="$GUEST/host-bin:/usr/bin:/bin" LC_ALL=C.UTF-8 "$@")
}

# What `make install` leaves, configured as the page says; the programs are those of the build that is tested.
installed() {
	local build=$BATS_FILE_TMPDIR/build

	mkdir "$build"
	(
		cd "$build" || exit
		HOME=$GUEST
		eval "'$TOP/configure' -q $(sed -n 's/.*`configure \([^`]*\)`.*/\1/p' "$TOP/doc/shared-host.md")"
		make -s install-data
	) >/dev/null 3>&-
	mkdir "$GUEST/onejob/bin" "$GUEST/onejob/sbin"
	cp "$ONEJOB_BUILD/onejob" "$GUEST/onejob/bin"
	cp "$ONEJOB_BUILD/onejob-api" "$ONEJOB_BUILD/onejob-poller" "$GUEST/onejob/sbin"
	ls "$GUEST/onejob" >"$BATS_FILE_TMPDIR/installed"
}

# What the host gives: a home, one database with plain rights, a crontab.
account() {
	mkdir -p "$GUEST/public_html" "$GUEST/host-bin" "$GUEST/apache"
	installed
	sed -i "s/127.0.0.1:8080/127.0.0.1:$NGINX/" "$GUEST/onejob/share/onejob/shared-host/nginx.conf"
	# shellcheck disable=SC2016 # the script's own
	printf '#!/bin/sh\ncase $1 in -l) cat "$HOME/crontab" 2>/dev/null ;; -) cat >"$HOME/crontab.new" && mv "$HOME/crontab.new" "$HOME/crontab" ;; esac\n' \
		>"$GUEST/host-bin/crontab"
	chmod +x "$GUEST/host-bin/crontab"
	chmod -R g+w "$GUEST"	# as where a umask leaves files to a whole group, which suEXEC doesn't have
	chmod 700 "$GUEST"
	[ "$(id -u)" != 0 ] || chown -R nobody:nogroup "$GUEST"
	chmod 711 "$STACK"	# the way to the database's socket
	mariadb --no-defaults --socket="$STACK/mariadbd.sock" --user="$(id -un)" <<-'SQL'
		CREATE DATABASE you_onejob;
		CREATE USER you_onejob@localhost IDENTIFIED BY 'secret';
		GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER ON you_onejob.* TO you_onejob@localhost;
	SQL
}

# Apache as a host has it, but as the account, as suexec would have it run the program. An argument in place of mod_headers: another.
apache_up() {
	local module

	{
		echo "ServerRoot \"$GUEST/apache\""
		for module in mpm_event authz_core dir mime rewrite env ${1-headers} fcgid; do
			echo "LoadModule ${module}_module /usr/lib/apache2/modules/mod_$module.so"
		done
		cat <<-CONF
			ServerName jobs.example.org
			Listen 127.0.0.1:$APACHE
			PidFile pid
			ErrorLog error.log
			TypesConfig /dev/null
			DocumentRoot "$GUEST/public_html"
			FcgidIPCDir "$GUEST/apache"
			FcgidProcessTableFile "$GUEST/apache/table"
			<Directory "/">
				Require all denied
			</Directory>
			<FilesMatch "^\.ht">
				Require all denied
			</FilesMatch>
			<Directory "$GUEST/public_html">
				Require all granted
				AllowOverride All
			</Directory>
		CONF
	} | guest tee "$GUEST/apache/httpd.conf" >/dev/null
	guest /usr/sbin/apache2 -f "$GUEST/apache/httpd.conf" -k start 3>&-
	wait_for 20 curl -sS -o /dev/null "http://127.0.0.1:$APACHE/"
}

apache_gone() { [ ! -e "$GUEST/apache/pid" ]; }

# The page with this host's names, and 3 seconds for cron's 55.
page_here() {
	sed -e "s, host=localhost , socket=$STACK/mariadbd.sock ," -e "s,https://jobs.example.org,http://127.0.0.1:$APACHE," \
		-e "s,http://127.0.0.1:8080,http://127.0.0.1:$NGINX," -e "s,https://printer.example/jobs,$PRINTSHOP_URL/inkjet," \
		-e 's/--for 55 /--for 3 /' "$TOP/doc/shared-host.md" >"$BATS_FILE_TMPDIR/page.md"
}

type_in() { # PAGE
	local script=$GUEST/typed.sh

	{ echo umask 002; BATS_TEST_TMPDIR=$GUEST script_of "$1"; } | guest tee "$script" >/dev/null
	guest bash "$script" >"$BATS_FILE_TMPDIR/typed" 2>&1 3>&- || { cat "$BATS_FILE_TMPDIR/typed" >&2; return 1; }
}

run_onejob() { guest "$GUEST/onejob/run" onejob "$@"; }

guest_token() {
	ONEJOB_TOKEN=$(run_onejob token create --owner guest)
	ONEJOB_OPERATOR_TOKEN=$(run_onejob token create --owner host --role operator)
	export ONEJOB_TOKEN ONEJOB_OPERATOR_TOKEN
	printf '{"url":"%s/away","enabled":false}' "$PRINTSHOP_URL" | run_onejob provider put away - >/dev/null
}

guest_sql() { mariadb --no-defaults --socket="$STACK/mariadbd.sock" --user="$(id -un)" -N you_onejob "$@"; }

# through DOOR COMMAND...
through() {
	local port=$APACHE

	[ "$1" = apache ] || port=$NGINX
	ONEJOB_URL=http://127.0.0.1:$port "${@:2}"
}

AWAY='{"provider":"away","input":1}'

# guest_workers: of the account, by its program
guest_workers() {
	find /proc/[0-9]*/exe -maxdepth 0 -lname "$GUEST/onejob/sbin/onejob-api" -printf '%h\n' 2>/dev/null | while IFS=/ read -r _ _ pid; do echo "$pid"; done
}

of_apache() { # PIDS on standard input: those that Apache has started
	while read -r pid; do
		[ "$(ps -o comm= -p "$(ps -o ppid= -p "$pid" | xargs)")" = multiwatch ] || echo "$pid"
	done
}

# old_workers: of the account, whose program is another now
old_workers() {
	find /proc/[0-9]*/exe -maxdepth 0 -lname "$GUEST/onejob/sbin/onejob-api (deleted)" 2>/dev/null | cut -d/ -f3
}

# as_cron COMMAND: with what cron gives, from where it runs it.
as_cron() { guest env -i HOME="$GUEST" LOGNAME=you SHELL=/bin/sh PATH=/usr/bin:/bin /bin/sh -c "$1" 3>&-; }

cron_minute() {
	local line

	while read -r _ _ _ _ _ line; do
		as_cron "$line" &
	done < <(grep -v '^@' "$GUEST/crontab")
}

cron_reboot() {
	local line

	while read -r _ line; do
		as_cron "$line" &
	done < <(grep '^@reboot' "$GUEST/crontab")
}

# Its rules for what it runs: the account's, and nobody else writes to it.
fit_for_suexec() {
	is 'the program and its folder' "$(guest find public_html -maxdepth 1 -name public_html -printf '%u %m\n' -o -name onejob.fcgi -printf '%u %m %y\n')" \
		"$(guest id -un) 755"$'\n'"$(guest id -un) 755 f"
	is 'the programs' "$(guest stat -c %a onejob)" 700
	is 'the way there' "$(guest stat -c %a .)" 701
}

@test "shared host: the page's commands make a host of it, and every process is the account's" {
	local pid uid

	uid=$(guest id -u)
	is 'what is installed' "$(xargs <"$BATS_FILE_TMPDIR/installed")" 'bin sbin share'
	is 'a job of the page' "$(guest_sql -e "SELECT COUNT(*) FROM jobs WHERE idempotency_key = 'first'")" 1
	# shellcheck disable=SC2016
	is 'cron' "$(grep -v '^@reboot' "$GUEST/crontab")" '* * * * * $HOME/onejob/run onejob-poller --for 3 >>$HOME/onejob/poller.log 2>&1'
	through apache api GET /v1/jobs
	is 'apache' "$status" 200
	through nginx api GET /v1/jobs
	is 'nginx' "$status" 200
	for pid in $(guest_workers); do
		is 'whose' "$(stat -c %u "/proc/$pid")" "$uid"
	done
	fit_for_suexec
	is 'the option file' "$(stat -c %a "$GUEST/.my.cnf")" 600
	is 'the socket' "$(stat -c %a "$GUEST/onejob/api.sock")" 600
}

@test "shared host: create, replay, conflict, ETag, cancel and what isn't a key are the same through Apache and nginx" {
	local door job etag

	for door in apache nginx; do
		through $door create "same-$door" "$AWAY"
		is "$door created" "$status $(header Location | cut -c1-9)" '201 /v1/jobs/'
		job=$(field .id)
		through $door create "same-$door" "$AWAY"
		is "$door replayed" "$status $(field .id) $(header Idempotent-Replayed)" "200 $job true"
		through $door create "same-$door" '{"provider":"away","input":2}'
		refused 409 idempotency-key-reused
		through $door api GET "/v1/jobs/$job"
		etag=$(header ETag)
		through $door api GET "/v1/jobs/$job" -H "If-None-Match: $etag"
		is "$door unchanged" "$status" 304
		through $door by_curl GET "/v1/jobs/$job" --head -H "Authorization: Bearer $ONEJOB_TOKEN"
		is "$door HEAD" "$(sed -n 1p <<<"$headers" | cut -d' ' -f2)" 200
		through $door api POST "/v1/jobs/$job/cancel" -H 'If-Match: "9-9"'
		refused 412 stale
		through $door api POST "/v1/jobs/$job/cancel" -H "If-Match: $etag"
		is "$door cancelled" "$status $(field .state)" '200 cancelled'
		through $door api POST /v1/jobs -d "$AWAY" -H 'Idempotency-Key: a' -H 'Idempotency-Key: a'
		refused 400 idempotency-key-invalid
		through $door api POST /v1/jobs -d "$AWAY" -H 'Idempotency_Key: a'
		refused 400 idempotency-key-missing
		through $door raw POST /v1/jobs -d "$AWAY" -H 'Content-Type: application/json' -H 'Idempotency-Key: a' -H 'ONEJOB_OWNER: guest' -H 'Onejob-Owner: guest'
		refused 401 unauthorized
		through $door raw GET "//v1//jobs/$job" --path-as-is -H "Authorization: Bearer $ONEJOB_TOKEN"
		refused 404 not-found
	done
	through apache create same-nginx "$AWAY"
	is 'by the other door' "$status $(field .id .state)" "200 $job cancelled"
	is 'jobs' "$(guest_sql -e "SELECT COUNT(*) FROM jobs WHERE idempotency_key LIKE 'same-%'")" 2
}

@test "shared host: what the API tells a web server's log isn't in the answers of either door" {
	local door

	for door in apache nginx; do
		through $door create "log-$door" "$AWAY"
		is "$door created" "$status" 201
		has "$door" '^X-Request-Id: ' "$headers"
		no grep -i '^X-Onejob-' <<<"$headers"
		through $door create "log-$door" '{"provider":"away","input":2}'
		refused 409 idempotency-key-reused
		no grep -i '^X-Onejob-' <<<"$headers"
	done
}

@test "shared host: fifty clicks at once, half of them through each door, are one job" {
	local ids

	through apache burst "$BATS_TEST_TMPDIR/a" 25 clicks "$AWAY" &
	through nginx burst "$BATS_TEST_TMPDIR/n" 25 clicks "$AWAY"
	wait $!
	is 'created' "$(cat "$BATS_TEST_TMPDIR"/[an]/codes | sort | uniq -c | xargs)" '49 200 1 201'
	ids=$(jq -r .id "$BATS_TEST_TMPDIR"/[an]/[0-9]* | sort -u)
	is 'ids' "$(wc -l <<<"$ids")" 1
	is 'rows' "$(guest_sql -e "SELECT COUNT(*) FROM jobs WHERE idempotency_key = 'clicks'")" 1
}

problem_only() { # STATUS NAME: Apache's own, which has no id
	body=${body%$'\n'}
	is 'status and type' "$status $(field .type .status) $(header Content-Type)" "$1 /problems/$2 $1 application/problem+json"
}

@test "shared host: what Apache itself refuses is a problem too, and nothing of the account is shown" {
	head -c 131073 /dev/zero >"$BATS_TEST_TMPDIR/big"
	through apache raw POST /v1/jobs -H "Authorization: Bearer $ONEJOB_TOKEN" -H 'Content-Type: application/json' -H 'Idempotency-Key: big' --data-binary "@$BATS_TEST_TMPDIR/big"
	problem_only 413 body-too-large
	through apache raw GET /elsewhere
	problem_only 404 not-found
	through apache raw GET /.htaccess
	problem_only 403 forbidden
	through apache raw GET /v1/jobs%2fa --path-as-is	# before any .htaccess is read
	has 'an encoded slash' '^404 text/html' "$status $(header Content-Type)"
	through apache raw GET /onejob.fcgi
	refused 401 unauthorized	# it is run, not shown
	printf '{"provider":"away","input":"' >"$BATS_TEST_TMPDIR/full"
	{ head -c $((131072 - 30)) /dev/zero | tr '\0' x; printf '"}'; } >>"$BATS_TEST_TMPDIR/full"
	through apache api POST /v1/jobs -H 'Idempotency-Key: full' --data-binary "@$BATS_TEST_TMPDIR/full"
	is '128 KiB' "$status" 201
}

@test "shared host: the metrics are at neither door, however their address is spelt" {
	local door path

	for door in apache nginx; do
		through $door raw GET /metrics
		problem_only 404 not-found
		while read -r path; do
			through $door raw GET "$path" --path-as-is
			has "$door, $path" '^40[0134]$' "$status"
			no grep -q '^onejob_' <<<"$body"
		done <<-'ROWS'
			/metrics?a=b
			/metrics/
			//metrics
			/%6detrics
			/metrics%3fa
			/v1/../metrics
			/readyz/../metrics
			/metrics/../readyz/../metrics
			/metrics/../v1/jobs
			/onejob.fcgi/metrics
			/readyz/metrics
		ROWS
	done
}

two_alive() { [ "$(guest_sql -e 'SELECT COUNT(*) FROM pollers')" -ge 2 ]; }
held() { shop '/shop/wait?printer=held&open=1&timeout_ms=1000' -o /dev/null -w '%{http_code}' | grep -q 200; }
all_printed() { [ "$(guest_sql -e "SELECT COUNT(*) FROM jobs WHERE provider = 'printer' AND state = 'succeeded'")" = "$1" ]; }

@test "shared host: runs of the poller that overlap send each job once" {
	local i before

	before=$(grep -c poller.start "$GUEST/onejob/poller.log" || true)
	printf '{"url":"%s/held/stall","timeout_ms":25000}' "$PRINTSHOP_URL" | run_onejob provider put held - >/dev/null
	through nginx create held '{"provider":"held","input":1}'
	job=$(field .id)
	cron_minute
	wait_for 60 held	# so the first won't leave before the second has come
	for ((i = 1; i <= 40; i++)); do
		through nginx create "overlap-$i" '{"provider":"printer","input":1}'
		is created "$status" 201
	done
	cron_minute
	wait_for 60 two_alive
	shop '/shop/release?printer=held' -X POST -o /dev/null
	wait_for 60 all_printed 41
	wait
	is 'runs' "$(($(grep -c poller.start "$GUEST/onejob/poller.log") - before))" 2
	no two_alive
	through nginx job_is "$job" succeeded
	is 'attempts' "$(guest_sql -e 'SELECT COUNT(*), COUNT(DISTINCT job_id) FROM attempts')" $'42\t42'
	is 'requests' "$(shop /shop/requests | jq -c '[.[] | select(.printer == "inkjet" or .printer == "held")] | [length, (map(.key) | unique | length)]')" '[42,42]'
}

@test "shared host: behind nginx a client's address is what the host's own web server says, not what the client says" {
	local socket=$GUEST/onejob/api.sock

	cp "$TOP/tests/support/fcgi.pl" "$GUEST/fcgi.pl"	# where the account can read it
	mv "$socket" "$socket.aside"
	guest perl "$GUEST/fcgi.pl" record "$socket" "$GUEST/request" 204 3>&- &
	wait_for 20 eval 'through nginx raw GET /v1/jobs -H "X-Forwarded-For: 203.0.113.9, 198.51.100.7"; [ "$status" = 204 ]'
	mv "$socket.aside" "$socket"
	wait $!
	is 'address' "$(grep -aoE 'REMOTE_ADDR[0-9.]*' "$GUEST/request")" REMOTE_ADDR198.51.100.7
}

# Not what a second run of the page finds in place, nor what was changed in it since.
@test "shared host: what the page copies may be copied again" {
	guest sh -c 'echo "# changed" >>onejob/onejob/limits.conf'
	type_in <(echo '    cd ~/onejob'
		section_of "$BATS_FILE_TMPDIR/page.md" '## The API, under Apache'
		section_of "$BATS_FILE_TMPDIR/page.md" '## With nginx instead, as the same user' | grep 'share/onejob/nginx ')
	is 'nested' "$(guest find onejob/onejob public_html -mindepth 1 -type d)" public_html/onejob-errors
	is 'changed' "$(guest tail -n 1 onejob/onejob/limits.conf)" '# changed'
	guest sed -i '$d' onejob/onejob/limits.conf
	fit_for_suexec
}

behind_nginx() { guest_workers | while read -r pid; do of_apache <<<"$pid" | grep -q . || echo "$pid"; done; }

@test "shared host: after a reboot cron's lines start the API and nginx again, and their pids end them" {
	local master manager

	master=$(cat "$GUEST/onejob/nginx.pid")
	# shellcheck disable=SC2046 # pids
	kill -9 "$(cat "$GUEST/onejob/api.pid")" "$master" $(ps -o pid= --ppid "$master") $(behind_nginx)
	wait_for 20 eval '[ -z "$(behind_nginx)" ]'
	no curl -sS "http://127.0.0.1:$NGINX/readyz"
	cron_reboot
	wait_for 30 eval 'through nginx raw GET /readyz; [ "$status" = 200 ]'
	is 'the manager' "$(ps -o comm= -p "$(cat "$GUEST/onejob/api.pid")")" multiwatch
	manager=$(cat "$GUEST/onejob/api.pid")
	no guest onejob/api
	is 'once is enough' "$(cat "$GUEST/onejob/api.pid")" "$manager"
	within 'nginx is another' "$(cat "$GUEST/onejob/nginx.pid")" $((master + 1)) 99999999
	guest sh -c "cd onejob && $(sed -n 's/.*`\(kill [^`]*\)` ends them.*/\1/p' "$BATS_FILE_TMPDIR/page.md")"
	wait_for 20 eval '[ -z "$(behind_nginx)" ]'
	cron_reboot
	wait_for 30 eval 'through nginx raw GET /readyz; [ "$status" = 200 ]'
}

let_go() {
	# shellcheck disable=SC2086 # words
	kill -CONT $STOPPED
	STOPPED=
}

teardown() {
	[ -z "${STOPPED-}" ] || let_go
}

# What the host's guest brings: the same programs, as other files.
stage_upgrade() {
	guest mkdir -p onejob.new/share
	guest cp -r onejob/bin onejob/sbin onejob.new/
	guest cp -r onejob/share/onejob onejob.new/share/
	guest sh -c 'cd onejob.new/share/onejob/shared-host && for file in run env htaccess nginx.conf onejob.fcgi onejob-errors/404.json; do echo "# new" >>$file; done'
	guest sh -c 'for file in onejob/env public_html/.htaccess onejob/nginx.conf; do echo "# changed" >>$file; done'
}

last_lines() { guest tail -qn 1 "$@" | xargs -d '\n'; }

@test "shared host: after an upgrade Apache asks workers of the new program, which a touch would not have done, and the old ones leave" {
	local old

	old=$(guest_workers | of_apache | xargs)
	guest cp onejob/sbin/onejob-api onejob/sbin/onejob-api.new
	guest mv onejob/sbin/onejob-api.new onejob/sbin/onejob-api
	guest touch public_html/onejob.fcgi
	through apache api GET /v1/jobs
	is 'after a touch' "$status $(guest_workers)" '200 '	# an old one has answered
	stage_upgrade
	guest sh -c 'for name in limits origins pass; do echo "# changed" >>onejob/onejob/$name.conf; done'
	STOPPED=$old	# so who answers while the guide is typed is another
	# shellcheck disable=SC2086 # words
	kill -STOP $STOPPED
	type_in <(section_of "$BATS_FILE_TMPDIR/page.md" '## Upgrading')
	let_go
	fit_for_suexec
	wait_for 30 eval '[ -z "$(old_workers)" ]'
	within "Apache's new ones" "$(guest_workers | of_apache | grep -c .)" 1 20
	wait_for 30 eval '[ "$(guest_workers | wc -l)" -gt "$(guest_workers | of_apache | wc -l)" ]'
	wait_for 30 guest grep -q '^Spawning child\[[01]\] failed' onejob/api.log
	for door in apache nginx; do
		through $door api GET /v1/jobs
		is "through $door" "$status" 200
	done
	is "nginx's files that were changed, and those that are new" "$(guest sh -c 'grep -lx "# changed" onejob/onejob/*.conf')" \
		$'onejob/onejob/limits.conf\nonejob/onejob/origins.conf'
	is "the account's own" "$(last_lines onejob/env public_html/.htaccess onejob/nginx.conf)" '# changed # changed # changed'
	is 'all else' "$(last_lines onejob/run public_html/onejob.fcgi public_html/onejob-errors/404.json onejob/share/onejob/shared-host/env)" \
		'# new # new # new # new'
	no guest ls -d onejob.new
}

# After the others, so that each worker has done all there is to do.
@test "shared host: no worker takes more than 8 MiB of memory" {
	local pid kib n=0

	for pid in $(guest_workers); do
		kib=$(awk '$1 == "Pss:" { print $2 }' "/proc/$pid/smaps_rollup")
		echo "worker $pid: $kib KiB"
		within "PSS in KiB" "$kib" 1 8191
		n=$((n + 1))
	done
	within 'workers' "$n" 3 20	# one or more of Apache's, and two
}

@test "shared host: Apache puts another in the place of a worker that was killed, and takes its own away when it ends" {

	guest_workers | of_apache | xargs kill -9
	wait_for 30 eval 'through apache create after-9 "$AWAY"; [[ $status == 20[01] ]]'
	kill "$(cat "$GUEST/apache/pid")"
	wait_for 30 apache_gone
	wait_for 30 eval '[ "$(guest_workers | wc -l)" = 2 ]'	# those behind nginx
	through nginx create after-9 "$AWAY"
	is 'still there' "$status" 200
}

@test "shared host: an Apache without mod_headers answers all the same" {
	apache_up ''
	through apache create bare "$AWAY"
	is 'created' "$status" 201
	kill "$(cat "$GUEST/apache/pid")"
	wait_for 30 apache_gone
}
