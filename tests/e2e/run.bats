#!/usr/bin/env bats
# shellcheck disable=SC2034,SC2154 # words and variables that stack.bash, front.bash and work.bash share
# What ./run promises beside the stack that all the other files use it for.

load stack
load front
load work
load page

setup_file() {
	export ONEJOB_GRACE_SECONDS=1 ONEJOB_POLL_MS=50
	stack_up --workers 2
}

teardown_file() {
	stack_down
}

teardown() {	# what a test that failed has left
	[ ! -s "${HUNG-}" ] || kill "$(cat "$HUNG")" 2>/dev/null || true
	[ -z "${CLICKER-}" ] || kill "$CLICKER" 2>/dev/null || true
}

pids() { cat "$1"/{mariadbd,nginx,api,poller-1,printshop}.pid; }	# FOLDER

@test "without --detach it shows its steps, says where it answers, stays, and ends its own stack at Ctrl-C" {
	local dir port step

	dir=$(mktemp -d "${TMPDIR:-/tmp}/oj.XXXXXX")
	port=$(free_port)
	env -u ONEJOB_STACK --default-signal=INT "$TOP/run" --dir "$dir" --port "$port" --workers 2 >"$dir/said" 2>&1 3>&- &
	poller=$!
	wait_for 90 grep -q '^Ctrl-C stops it' "$dir/said" || { cat "$dir/said" >&2; return 1; }
	for step in 'one job: ' 'once$' '409 /problems/idempotency-key-reused$' 'the job is unknown, not failed' '409 /problems/attempt-in-doubt$' \
		'releases the attempt to the laser' 'succeeded, completed by attempt' '409 /problems/attempt-lost$' "the laser's result as it was$"; do
		has 'a step' "$step" "$(cat "$dir/said")"
	done
	has 'the address' "^onejob answers at http://127.0.0.1:$port " "$(cat "$dir/said")"
	is 'the parts up' "$(pids "$dir" | wc -w)" 5
	is 'the other stack answers' "$(curl -sS -o /dev/null -w '%{http_code}' "$ONEJOB_URL/readyz")" 200
	kill -INT $poller
	ended $poller 60
	is 'status' "$code" 0
	is 'what is left of it' "$(find "$dir" -maxdepth 1 -name '*.pid')" ''
	is 'the other stack answers' "$(curl -sS -o /dev/null -w '%{http_code}' "$ONEJOB_URL/readyz")" 200
	rm -rf "$dir"
}

# In a folder of its own; $poller is its process, $dir/said what it says. The build is named from where it is started.
foreground() { # [what it has said last]
	dir=$(mktemp -d "${TMPDIR:-/tmp}/oj.XXXXXX")
	env -u ONEJOB_STACK -C "$ONEJOB_BUILD/.." ONEJOB_BUILD="$(basename "$ONEJOB_BUILD")" --default-signal=INT "$TOP/run" --dir "$dir" --port "$(free_port)" >"$dir/said" 2>&1 3>&- &
	poller=$!
	wait_for 90 grep -qs "^${1-Ctrl-C stops it}" "$dir/said" || { cat "$dir/said" >&2; return 1; }
}

@test "without --detach it ends, and all of it, when a part has ended, and says which and why" {
	local dir part

	for part in api nginx; do
		foreground 'onejob answers'
		kill -9 "$(cat "$dir/$part.pid")"
		ended $poller 60
		is 'status' "$code" 1
		has 'why' "^run: $part has ended" "$(cat "$dir/said")"
		is 'what is left of it' "$(find "$dir" -maxdepth 1 -name '*.pid')" ''
		rm -rf "$dir"
	done
}

@test "what --detach has taken over stays when the one that had it is gone" {
	local dir before

	foreground
	before=$(pids "$dir")
	run -0 env -u ONEJOB_STACK "$TOP/run" --detach --dir "$dir" 3>&-
	has 'told here, too' '^Taken over' "$output"
	ended $poller 60
	is 'status' "$code" 0
	has 'why' 'taken the stack over; it stays up' "$(cat "$dir/said")"
	is 'the processes' "$(pids "$dir")" "$before"
	run -0 env -u ONEJOB_STACK "$TOP/run" --stop --dir "$dir" 3>&-
	is 'what is left of it' "$(find "$dir" -maxdepth 1 -name '*.pid')" ''
	rm -rf "$dir"
}

@test "--stop ends what runs where the folder was removed, and doesn't say of a folder it can't enter that nothing runs there" {
	local dir parts pid

	foreground
	run -0 env -u ONEJOB_STACK "$TOP/run" --detach --dir "$dir" 3>&-
	parts=$(pids "$dir")
	rm -rf "$dir"
	run -0 env -u ONEJOB_STACK "$TOP/run" --stop --dir "$dir" 3>&-
	for pid in $parts; do	# they are children of the first ./run, which may still have to look at their ends
		wait_for 20 gone "$pid"
	done
	rm -rf "$dir"
	[ "$(id -u)" != 0 ] || {
		mkdir -m 700 "$BATS_TEST_TMPDIR/closed"
		run -1 setpriv --reuid=nobody --regid=nogroup --clear-groups "$TOP/run" --stop --dir "$BATS_TEST_TMPDIR/closed/var"
		has 'why' "can't be entered by nobody" "$output"
	}
}

@test "settings for a stack that is up are said to be in force later" {
	ONEJOB_POLL_MS=51 run -0 "$TOP/run" --detach --dir "$STACK" 3>&-
	has 'when' "^What is up keeps its settings until './run --stop --dir $STACK'" "$output"
	ONEJOB_POLL_MS=50 run -0 "$TOP/run" --detach --dir "$STACK" 3>&-
	run -0 "$TOP/run" --detach --dir "$STACK" 3>&-
	no grep 'keeps its settings' <<<"$output"
	ONEJOB_POLL_MS=soon run -1 "$TOP/run" --detach --dir "$STACK" 3>&-
	no grep 'keeps its settings' <<<"$output"
}

@test "a second start in the same folder, also two at once, leaves every process as it was" {
	local before

	before=$(pids "$STACK")
	"$TOP/run" --detach --dir "$STACK" >/dev/null 2>&1 3>&- &
	run -0 "$TOP/run" --detach --dir "$STACK" 3>&-
	wait $!
	is 'the processes' "$(pids "$STACK")" "$before"
	no grep -E '^Start' <<<"$output"
}

@test "whatever part is killed with -9, a start brings it back" {
	local part

	for part in printshop nginx poller-1 api mariadbd; do
		kill -9 "$(cat "$STACK/$part.pid")"
		stack_start
		has 'what was down' "^Started again, for it was down: $part\$" "$(cat "$STACK/run.out")"
		create "after-$part" '{"provider":"inkjet","input":1}'
		is "created without $part" "$status" 201
		wait_job "$(field .id)" succeeded
	done
}

@test "a start that fails leaves the options and settings of the next one as they were, and says which setting can't be used" {
	local dir=$BATS_TEST_TMPDIR/var was=$'port=1\nworkers=3\npollers=1 ONEJOB_POLL_MS=77'

	export ONEJOB_BUILT=yes
	ONEJOB_POLL_MS=78 run -1 "$TOP/run" --detach --dir "$dir" --port="$PORT"
	has 'why' "port $PORT is in use" "$output"
	run -0 "$TOP/run" --stop --dir "$dir"
	has 'nothing was started' '^Nothing runs in' "$output"
	ONEJOB_CALLBACK_URL=http://localhost ONEJOB_CALLBACK_KEYS=/nowhere run -1 "$TOP/run" --detach --dir "$dir" --port "$(free_port)"
	has 'what of the keys' "ONEJOB_CALLBACK_KEYS can't be used" "$output"
	ONEJOB_POL_MS=9 ONEJOB_THREAD=2 ONEJOB_IN_FLIGHT=9999 run -1 bash -c 'ulimit -n 1000; exec "$@"' - "$TOP/run" --detach --dir "$dir-too" --port "$(free_port)" 3>&-
	has 'what is misspelt' '^A name may be misspelt: nothing reads .*ONEJOB_POL_MS, ONEJOB_THREAD\.$' "$output"
	has 'what of the poller' 'onejob-poller does not start' "$output"
	has 'and why' 'descriptors' "$output"
	printf '%s\n' "${was% *}" >"$dir/settings"
	printf '%s\n' "${was#* }" >"$dir/environment"
	ONEJOB_POLL_MS=78 run -1 "$TOP/run" --detach --dir "$dir" --port "$PORT"
	is 'after a port in use' "$(cat "$dir/settings") $(cat "$dir/environment")" "$was"
	ONEJOB_MAX_BODY=abc ONEJOB_THREADS=65 run -1 "$TOP/run" --detach --dir "$dir" --port "$(free_port)" --workers 4
	has 'why' 'name=ONEJOB_MAX_BODY value="abc" min=1024' "$output"
	has 'why' 'name=ONEJOB_THREADS value="65" min=1 max=64' "$output"
	is 'after a setting that is none' "$(cat "$dir/settings") $(cat "$dir/environment")" "$was"
	no test -e "$dir/data"
}

@test "a shell that has read DIR/env sees the stack's settings, not the defaults" {
	env -u ONEJOB_POLL_MS -u ONEJOB_GRACE_SECONDS sh -c '. "$1/env"; onejob doctor' - "$STACK" >"$BATS_TEST_TMPDIR/said"
	has 'kept' '^ONEJOB_POLL_MS=50 ' "$(cat "$BATS_TEST_TMPDIR/said")"
	has 'kept' '^ONEJOB_GRACE_SECONDS=1 ' "$(cat "$BATS_TEST_TMPDIR/said")"
}

@test "the programs have rights to rows only; a migration wants CREATE or ALTER besides, and its error names which" {
	local newest

	is 'granted' "$(sql -e 'SHOW GRANTS FOR onejob@localhost' | sed -nE 's/^GRANT (.*) ON (.*) TO .*/\2 \1/p')" \
		$'*.* USAGE\n`onejob`.* SELECT, INSERT, UPDATE, DELETE'
	is 'granted to migrate' "$(sql -e 'SHOW GRANTS FOR onejob_migrate@localhost' | sed -nE 's/^GRANT (.*) ON (.*) TO .*/\2 \1/p')" \
		$'*.* USAGE\n`onejob`.* SELECT, INSERT, UPDATE, CREATE, ALTER'
	run -0 onejob doctor
	newest=$(sql -e 'SELECT MAX(number) FROM schema_migrations')
	sql -e "UPDATE schema_migrations SET applied_at = NULL WHERE number = $newest"
	run -3 onejob migrate
	has 'the right' '(CREATE|ALTER) command denied' "$output"
	ONEJOB_DEFAULTS_FILE=$STACK/migrate.cnf run -0 onejob migrate
	has 'the schema' "^the schema is at $newest$" "$output"
}

# Computed columns may be made anew, all in one statement: what is dropped in such a migration and what is added are the same.
made_anew() { # FILE
	diff <(grep -oE 'DROP (COLUMN|KEY) [a-z_]+' "$1" | sed 's/^DROP //' | sort) \
		<(grep -oE 'ADD (COLUMN [a-z_]+ .* GENERATED ALWAYS|(UNIQUE )?KEY [a-z_]+)' "$1" | sed -E 's/^ADD (UNIQUE )?//' | cut -d' ' -f1-2 | sort) || true
}

# What doc/upgrade.md promises of each migration behind the first schema.
@test "upgrade: no migration takes away a column or a table, or adds what an old program would have to fill in" {
	local file bad=''

	for file in "$TOP"/sql/0*.sql; do
		case ${file##*/} in
		000[1-7]*) continue ;;	# the first schema
		*_stored.sql) bad+=$(made_anew "$file"); continue ;;
		esac
		bad+=$(sed -E "s/--.*//; s/'([^']|'')*'/''/g" "$file" | awk -v file="${file##*/}" '
			/^[ \t]*(CREATE TABLE|\))/ { made = /CREATE/ ; next }
			made || /^[ \t]*(ALTER TABLE [a-z_]+)?[ \t]*$/ { next }
			/^[ \t]*(ADD|DROP) (KEY|INDEX) / { next }
			/^[ \t]*ADD COLUMN .*(DEFAULT| AS )/ { next }
			/^[ \t]*ADD COLUMN / && !/NOT NULL/ { next }
			{ print file ": " $0 }')
	done
	is 'what old programs would trip over' "$bad" ''
}

clicks() { # FILE: creates until FILE.stop is there, a status a line
	local n=0

	until [ -e "$1.stop" ]; do
		n=$((n + 1))
		create "upgrade-$n" '{"provider":"inkjet","input":1}'
		echo "$status" >>"$1"
	done
}

lines_more() { [ "$(wc -l <"$1")" -ge "$2" ]; }

goes_on() { wait_for 60 lines_more "$1" $(($(wc -l <"$1") + 20)); }	# FILE: twenty answers more

worker_count() { [ "$(workers | wc -l)" = "$1" ]; }
none_left() { [ "$(sql -e "SELECT COUNT(*) FROM jobs WHERE idempotency_key LIKE 'upgrade-%' AND state <> 'succeeded'")" = 0 ]; }

# The newer schema is what the migrate of a program to come would make of this one.
@test "upgrade: a newer schema comes under load, then every program is replaced: each create is answered 201, each job done once" {
	local codes=$BATS_TEST_TMPDIR/codes old new pid pids

	no_stack_poller
	own_poller old ONEJOB_GRACE_SECONDS=60
	old=$poller
	: >"$codes"
	clicks "$codes" 3>&- &
	CLICKER=$!
	goes_on "$codes"
	sql -e "ALTER TABLE jobs ADD COLUMN later INT NULL; ALTER TABLE attempts ADD COLUMN later VARBINARY(9) NOT NULL DEFAULT '';
		CREATE TABLE later (a INT); INSERT INTO schema_migrations VALUES (9999, 'later', REPEAT('x', 32), NOW(6))"
	goes_on "$codes"
	is 'an old program on it' "$(curl -sS "$ONEJOB_URL/readyz")" ready
	run -1 onejob migrate
	has 'refused' 'use the newer program' "$output"
	mapfile -t pids < <(workers)
	kill -TERM "${pids[@]}"	# all at once, as the page has it
	for pid in "${pids[@]}"; do
		wait_for 60 gone "$pid"
	done
	wait_for 60 worker_count 2
	goes_on "$codes"
	own_poller new ONEJOB_GRACE_SECONDS=60
	new=$poller
	wait_for 60 registered "$new"
	kill -TERM "$old"
	ended "$old" 90
	is 'the old poller' "$code" 0
	kill -HUP "$(cat "$STACK/nginx.pid")"
	goes_on "$codes"
	touch "$codes.stop"
	wait "$CLICKER"
	is 'statuses' "$(sort -u "$codes")" 201
	wait_for 60 none_left
	is 'jobs' "$(sql -e "SELECT COUNT(*) FROM jobs WHERE idempotency_key LIKE 'upgrade-%'")" "$(wc -l <"$codes")"
	sent_at_most_once
	kill -TERM "$new"
	ended "$new" 90
	sql -e 'ALTER TABLE jobs DROP COLUMN later; ALTER TABLE attempts DROP COLUMN later; DROP TABLE later; DELETE FROM schema_migrations WHERE number = 9999'
	stack_start
}

@test "upgrade: on an older schema programs say so and start nothing; what the page has people type brings it up, and a waiting poller goes on" {
	local newest id waiting

	newest=$(sql -e 'SELECT MAX(number) FROM schema_migrations')
	no_stack_poller
	create upgrade-waits '{"provider":"inkjet","input":1}'
	id=$(field .id)
	sql -e "UPDATE schema_migrations SET applied_at = NULL WHERE number = $newest"
	raw GET /readyz
	refused 503 unavailable
	has 'why' 'onejob migrate' "$(field .detail)"
	run onejob job list
	no test "$status" = 0
	has 'the command, too' 'onejob migrate' "$output"
	own_poller early
	waiting=$poller
	wait_for 60 grep -q 'poller.start.*onejob migrate' "$STACK/log/early.log"
	job_is "$id" queued
	# a program that is installed is one that a worker, or cron's next poller, may be started from: so it comes second
	is 'the order' "$(grep -oE '^ .*onejob migrate$|make .*install$|restart .*' "$TOP/doc/upgrade.md" | sed 's/.*build.onejob //' | tr '\n' ' ')" \
		"migrate make -C build install restart 'onejob-api@*' restart 'onejob-poller@*' "
	mkdir -p "$BATS_TEST_TMPDIR/share" "$BATS_TEST_TMPDIR/etc"
	cp "$TOP"/nginx/* "$BATS_TEST_TMPDIR/share"
	echo mine | tee "$BATS_TEST_TMPDIR"/etc/{limits,origins,pass}.conf
	sed -E -e 's/^   (    |$)/\1/' -e "s,/etc/onejob/migrate.cnf,$STACK/migrate.cnf," -e "s,https://jobs.example.org,$ONEJOB_URL," \
		-e "s,/etc/onejob/my.cnf,$STACK/my.cnf," -e "s,build/onejob,$ONEJOB_BUILD/onejob," \
		-e "s,make -C build install,make -C $ONEJOB_BUILD install DESTDIR=$BATS_TEST_TMPDIR prefix=/new," \
		-e '/^ +(systemctl|pkill) /d' \
		-e "s,/usr/local/share/onejob/nginx,$BATS_TEST_TMPDIR/share," -e "s,/etc/nginx/onejob,$BATS_TEST_TMPDIR/etc," \
		"$TOP/doc/upgrade.md" >"$BATS_TEST_TMPDIR/page"
	# what asks systemd, or goes by the programs' names alone, is typed on a machine of its own: tests/deb/package.bats
	# the first look is for before an upgrade, and here it is under way: it must not be well
	sed -i '0,/^    oj doctor && / s/^    oj doctor && /    oj doctor || /' "$BATS_TEST_TMPDIR/page"
	# and between the migration and the last look the poller has had its time to wake up
	awk '/^    oj doctor &&/ { print "    timeout 60 sh -c \"until onejob doctor >/dev/null 2>&1; do sleep 0.1; done\"" } { print }' \
		"$BATS_TEST_TMPDIR/page" >"$BATS_TEST_TMPDIR/patient"
	script_of "$BATS_TEST_TMPDIR/patient" >"$BATS_TEST_TMPDIR/script"
	is 'commands of it' "$(grep -cE '^(ONEJOB_[A-Z_]*=[^ ]* [^ ]*/onejob|make|oj|curl|find) ' "$BATS_TEST_TMPDIR/script")" 6
	bash "$BATS_TEST_TMPDIR/script" 3>&-
	is 'what it installed' "$("$BATS_TEST_TMPDIR/new/bin/onejob" --version)" "$(onejob --version)"
	is "nginx's files" "$(cd "$BATS_TEST_TMPDIR/etc" && ls && grep -lx mine -- *)" "$(cd "$TOP/nginx" && ls; printf '%s\n' limits.conf origins.conf)"
	wait_job "$id" succeeded 60
	kill -TERM "$waiting"
	ended "$waiting" 60
	stack_start
}

older() { sql <<<"USE older; $1"; }

# The database as it was before migration N, in a schema of its own on the stack's server.
older_database() { # N
	local file number

	sql -e 'DROP DATABASE IF EXISTS older; CREATE DATABASE older'
	printf '[onejob]\nsocket=%s\nuser=%s\ndatabase=older\n' "$STACK/mariadbd.sock" "$(id -un)" >"$BATS_TEST_TMPDIR/older.cnf"
	for file in "$TOP"/sql/0*.sql; do
		number=$((10#$(basename "$file" | cut -c1-4)))
		[ $number -lt "$1" ] || break
		older "$(cat "$file")"
		older "INSERT INTO schema_migrations VALUES ($number, '$(basename "$file" .sql)', UNHEX('$(sha256sum <"$file" | cut -d' ' -f1)'), NOW(6))"
	done
	older "INSERT INTO jobs (id, owner, idempotency_key, state, max_attempts, attempts_allowed, run_after, created_at, updated_at)
			SELECT UNHEX(LPAD(HEX(seq), 32, '0')), 'ann', seq, 'queued', 1, 1, NOW(6), NOW(6), NOW(6) FROM seq_1_to_1000;
		INSERT INTO attempts (id, job_id, number, provider, provider_version, generation, state, version_read, started_at)
			SELECT id, id, 1, 'press', 1, 1, 'unknown', 0, NOW(6) FROM jobs;
		INSERT INTO certificates (id, contract, contract_version, provider, provider_version, rule_version, subject, passed, rounds, report, issued_at, expires_at)
			SELECT id, idempotency_key, 1, 'press', 1, 1, REPEAT('s', 32), 1, 1, '{}', NOW(6), NOW(6) FROM jobs"
}

# Whoever has read the table keeps the copy from taking its place, until the server dies.
hold() { # TABLE
	older "START TRANSACTION; SELECT COUNT(*) FROM $1; DO SLEEP(600)" >/dev/null 2>&1 3>&- &
	wait_for 60 seen "info LIKE 'DO SLEEP(600)%'"
}

seen() { [ "$(sql -e "SELECT COUNT(*) FROM information_schema.processlist WHERE $1")" = 1 ]; }	# CONDITION

shape() { # DATABASE
	local table

	for table in $(sql -e "SELECT table_name FROM information_schema.tables WHERE table_schema = '$1' ORDER BY 1"); do
		sql -e "SHOW CREATE TABLE $1.$table"
	done
}

@test "upgrade: a server killed while it copies a table leaves no half of it, and the next migrate finishes" {
	local row

	for row in '27 jobs' '28 attempts' '29 certificates'; do
		older_database "${row% *}"
		hold "${row#* }"
		ONEJOB_DEFAULTS_FILE=$BATS_TEST_TMPDIR/older.cnf onejob migrate >"$BATS_TEST_TMPDIR/said" 2>&1 3>&- &
		poller=$!
		wait_for 60 seen "state = 'Waiting for table metadata lock' AND info LIKE '%ALTER TABLE ${row#* }%'"
		is 'a copy is there' "$(find "$STACK/data/older" -name '#sql*.ibd' | wc -l)" 1
		kill -9 "$(cat "$STACK/mariadbd.pid")"
		ended $poller 60
		is 'status' "$code" 3
		has 'what to do' "^onejob: 00${row% *}_.*answer was lost .*2013.* Run .onejob migrate. again" "$(cat "$BATS_TEST_TMPDIR/said")"
		stack_start
		ONEJOB_DEFAULTS_FILE=$BATS_TEST_TMPDIR/older.cnf run -0 onejob migrate
		is 'what it had to do' "$(grep -c '^applied' <<<"$output")" $((30 - ${row% *}))
		is 'the schema' "$(shape older)" "$(shape onejob)"
		is 'rows' "$(older "SELECT COUNT(*) FROM ${row#* }")" 1000
		is 'left behind' "$(find "$STACK/data/older" -name '#sql*')" ''
	done
	sql -e 'DROP DATABASE older'
}

@test "upgrade: a migration that can't be done says which, why and what to do, and goes on when that is out of the way" {
	export ONEJOB_DEFAULTS_FILE=$BATS_TEST_TMPDIR/older.cnf
	older_database 26
	older 'ALTER TABLE providers ADD COLUMN holds DATE'
	run -3 onejob migrate
	has 'what others made' '^onejob: 0026_providers_holds: nothing was done: .* there already, by another hand .*Duplicate column' "$output"
	older 'ALTER TABLE providers DROP COLUMN holds'
	hold jobs
	run -3 onejob migrate
	has 'what was done' '^applied 0026' "$output"
	has 'what is held' '^onejob: 0027_jobs_stored: nothing was done: a transaction .* for 10 seconds .*Lock wait timeout.* run .onejob migrate. again' "$output"
	sql -e "KILL $(sql -e "SELECT id FROM information_schema.processlist WHERE info LIKE 'DO SLEEP(600)%'")"
	run -0 onejob migrate
	is 'the schema' "$(shape older)" "$(shape onejob)"
	sql -e 'DROP DATABASE older'
}

# killed_while FILE: a start is killed when the file is there, which has the number of a process it waits for; --stop ends that.
killed_while() {
	HUNG=$1
	local dir=$BATS_TEST_TMPDIR/var starting

	"$TOP/run" --detach --dir "$dir" --port "$(free_port)" >/dev/null 2>&1 3>&- &
	starting=$!
	wait_for 60 test -s "$1"
	kill -9 $starting
	wait $starting || true
	kill -0 "$(cat "$1")"
	run -0 timeout 60 "$TOP/run" --stop --dir "$dir"
	has 'it says so' '^Stopping what runs' "$output"
	no kill -0 "$(cat "$1")"
	run -0 "$TOP/run" --stop --dir "$dir"
	has 'nothing is left' '^Nothing runs in' "$output"
}

@test "what a start that was killed with -9 had begun, --stop ends at once, and no later start is kept away" {
	ONEJOB_BUILD=$BATS_TEST_TMPDIR/build
	mkdir "$ONEJOB_BUILD"
	printf 'all:\n\techo $$$$ >building; exec sleep 600\n' >"$ONEJOB_BUILD/Makefile"
	killed_while "$ONEJOB_BUILD/building"
	flock -w 60 "$TOP" true
	printf 'all:\n' >"$ONEJOB_BUILD/Makefile"
	printf '#!/bin/sh\necho $$ >"${0%%/*}/installing"; exec sleep 600\n' >"$ONEJOB_BUILD/mariadb-install-db"
	chmod +x "$ONEJOB_BUILD/mariadb-install-db"
	killed_while "$ONEJOB_BUILD/installing"
	flock -w 60 "$ONEJOB_BUILD/data.lock" true
}
