#!/usr/bin/env bats
# shellcheck disable=SC2034,SC2154 # words and variables that stack.bash, front.bash and work.bash share
# What ./run promises beside the stack that all the other files use it for.

load stack
load front
load work

setup_file() {
	export ONEJOB_GRACE_SECONDS=1 ONEJOB_POLL_MS=50
	stack_up --workers 2
}

teardown_file() {
	stack_down
}

teardown() {	# what a test that failed has left
	[ ! -s "${HUNG-}" ] || kill "$(cat "$HUNG")" 2>/dev/null || true
}

pids() { cat "$1"/{mariadbd,nginx,api,poller-1,printshop}.pid; }	# FOLDER

@test "without --detach it shows its steps, says where it answers, stays, and ends its own stack at Ctrl-C" {
	local dir port step

	dir=$(mktemp -d "${TMPDIR:-/tmp}/oj.XXXXXX")
	port=$(free_port)
	env --default-signal=INT "$TOP/run" --dir "$dir" --port "$port" --workers 2 >"$dir/said" 2>&1 3>&- &
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

@test "a second start in the same folder, also two at once, leaves every process as it was" {
	local before

	before=$(pids "$STACK")
	"$TOP/run" --detach --dir "$STACK" >/dev/null 2>&1 3>&- &
	"$TOP/run" --detach --dir "$STACK" >/dev/null 2>&1 3>&-
	wait $!
	is 'the processes' "$(pids "$STACK")" "$before"
}

@test "whatever part is killed with -9, a start brings it back" {
	local part

	for part in printshop nginx poller-1 api mariadbd; do
		kill -9 "$(cat "$STACK/$part.pid")"
		stack_start
		create "after-$part" '{"provider":"inkjet","input":1}'
		is "created without $part" "$status" 201
		wait_job "$(field .id)" succeeded
	done
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
