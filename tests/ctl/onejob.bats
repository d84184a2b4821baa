#!/usr/bin/env bats
# The operator's command on a stack of its own.

load ../e2e/stack

setup_file() {
	local name

	stack_up
	for name in ONEJOB_DEFAULTS_FILE ONEJOB_URL ONEJOB_TOKEN PRINTSHOP_URL; do
		[ -n "${!name-}" ] || { echo "DIR/env doesn't set $name" >&2; return 1; }
	done
	export MINE=bats-$$-$RANDOM
	printf '{"url": "%s/%s/reset", "retry": {"base_ms": 86400000, "max_ms": 86400000}}' "$PRINTSHOP_URL" "$MINE" |
		onejob provider put "$MINE" -
}

teardown_file() {
	stack_down
}

has() { # PATTERN: the last output has it
	grep -qE -- "$1" <<<"$output" || { echo "no '$1' in: $output"; return 1; }
}

lacks() { # TEXT: the last output doesn't have it
	if grep -qF -- "$1" <<<"$output"; then
		echo "'$1' in: $output"
		return 1
	fi
}

new_job() { # KEY
	curl -sS -m 10 -H "Authorization: Bearer $ONEJOB_TOKEN" -H "Idempotency-Key: \"$MINE-$1\"" \
		-H 'Content-Type: application/json' -d "{\"provider\": \"$MINE\", \"input\": {\"n\": 1.0}}" \
		"$ONEJOB_URL/v1/jobs" | jq -er .id
}

state_of() { # JOB
	onejob job show "$1" --json | jq -r .state
}

# new_doubt KEY -> JOB, ATTEMPT: its printer resets every connection, so nobody can tell.
new_doubt() {
	local deadline=$((SECONDS + 20))

	JOB=$(new_job "$1") || { echo "the job was not created"; return 1; }
	until [ "$(state_of "$JOB")" = unknown ]; do
		[ "$SECONDS" -lt "$deadline" ] || { onejob job show "$JOB"; return 1; }
		read -r -t 0.1 <> <(:) || true
	done
	ATTEMPT=$(onejob job show "$JOB" --json | jq -r '.attempts[0].id')
}

@test "a command line that can't be meant is 2 and says why on standard error" {
	for line in '' 'frob' 'job' 'job frob' 'job list --limit 0' 'job list --limit 201' 'job list --state frob' \
		'job show' 'job show 12' 'attempt list --unknown --state failed' 'token create' 'purge' \
		'purge --payloads-after 30' 'provider put UPPER -' 'race list --before 12'; do
		# shellcheck disable=SC2086 # words
		run -2 --separate-stderr onejob $line
		[ -z "$output" ] || { echo "'$line' printed: $output"; return 1; }
		[ -n "$stderr" ] || { echo "'$line' gave no reason"; return 1; }
	done
}

@test "help is 0, on standard output, on every level, with an example" {
	for line in '--help' 'job --help' 'job list --help' 'doctor --help' 'attempt settle --help'; do
		# shellcheck disable=SC2086
		run -0 --separate-stderr onejob $line
		has '^example: onejob '
		[ -z "$stderr" ]
	done
	run -0 onejob --version
	has '^onejob '
}

@test "a database that can't be reached is 3, and its password isn't shown" {
	printf '[onejob]\nsocket=/nowhere\nuser=nobody\npassword=hush-hush\ndatabase=none\n' >"$BATS_TEST_TMPDIR/my.cnf"
	export ONEJOB_DEFAULTS_FILE=$BATS_TEST_TMPDIR/my.cnf
	run -3 onejob job list
	lacks hush-hush
	run -1 onejob doctor
	has '^bad +database .*group \[onejob\]'
	lacks hush-hush
}

@test "migrate again has nothing to do" {
	run -0 onejob migrate
	has '^the schema is at [0-9]+$'
	lacks applied
}

@test "a token is printed alone, works, and is useless once revoked" {
	run -0 --separate-stderr onejob token create --owner "$MINE" --expires-in 15m
	[[ $output =~ ^oj_[A-Za-z0-9_-]{43}$ ]]
	token=$output
	id=$(printf %s "$token" | sha256sum | cut -c 1-12)
	[ "$(curl -sS -m 10 -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $token" "$ONEJOB_URL/v1/jobs")" = 200 ]
	run -0 onejob token list --json
	[ "$(jq -r --arg id "$id" '.tokens[] | select(.id == $id) | .owner + " " + .role' <<<"$output")" = "$MINE user" ]
	lacks "$token"
	run -0 onejob token revoke "$id"
	[ "$(curl -sS -m 10 -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $token" "$ONEJOB_URL/v1/jobs")" = 401 ]
	run -1 onejob token revoke "$id"
}

@test "owners with control bytes, and lengths of nothing, are refused" {
	run -2 onejob token create --owner $'a\e[31mb'
	run -2 onejob token create --owner ''
	run -2 onejob token create --owner "$(printf 'x%.0s' {1..256})"
	for length in 0s 90 d -1d 1w 1.5h '1 d' 99999999d; do
		run -2 onejob token create --owner "$MINE" "--expires-in=$length"
	done
}

@test "a token that nobody got to see is 1 and names the way to revoke it" {
	# shellcheck disable=SC2016 # the inner shell's
	run -1 bash -c 'onejob token create --owner "$MINE" >/dev/full'
	has 'onejob token revoke [0-9a-f]{12}'
	run -0 onejob token revoke "$(grep -oE 'revoke [0-9a-f]{12}' <<<"$output" | head -n 1 | cut -d ' ' -f 2)"
}

@test "putting a provider tells created, unchanged and changed apart" {
	name=$MINE-put
	run -0 onejob provider put "$name" - <<<'{"url": "http://127.0.0.1:9/"}'
	has '^.* created, version 1$'
	run -0 onejob provider put "$name" - <<<'{"enabled": true, "url": "http://127.0.0.1:9/"}'
	has '^.* unchanged, version 1$'
	run -0 onejob provider put "$name" - <<<'{"url": "http://127.0.0.1:9/", "timeout_ms": 7}'
	has '^.* changed, version 2$'
	onejob provider show "$name" --json | jq .definition >"$BATS_TEST_TMPDIR/definition"
	run -0 onejob provider put "$name" "$BATS_TEST_TMPDIR/definition"
	has '^.* unchanged, version 2$'
	run -0 onejob provider delete "$name"
	run -1 onejob provider show "$name"
	run -1 onejob provider delete "$name"
}

@test "a flawed definition changes nothing and each flaw has its pointer" {
	run -1 --separate-stderr onejob provider put "$MINE-bad" - <<<'{"url": "ftp://x", "timeout_ms": 0, "bogus": {"b": 1}}'
	output=$stderr
	has '^/url: '
	has '^/timeout_ms: '
	has '^/bogus: '
	run -1 onejob provider put "$MINE-bad" - <<<'{"url": "http://x/", "url": "http://y/"}'
	has 'at byte 21, '
	# shellcheck disable=SC2016
	run -1 bash -c 'head -c 65537 /dev/zero | onejob provider put "$MINE-bad" -'
	has 'more than 65536 bytes'
	run -1 onejob provider show "$MINE-bad"
}

@test "an unknown attempt is listed with commands that settle it, and a result said by hand is kept to the digit" {
	new_doubt by-hand
	run -0 onejob attempt list --unknown
	has "onejob attempt settle $ATTEMPT succeeded --result FILE"
	has "onejob attempt settle $ATTEMPT released"
	run -0 onejob job show "$JOB"
	has "onejob attempt settle $ATTEMPT failed --error TEXT"
	run -1 onejob attempt settle "$ATTEMPT" succeeded --result - <<<'{"pages": 01}'
	has 'at byte 11, '
	[ "$(state_of "$JOB")" = unknown ]
	run -0 onejob attempt settle "$ATTEMPT" succeeded --result - --note 'seen in the tray' <<<' {"pages": 1.50}'
	run -0 --separate-stderr onejob job show "$JOB" --json
	has '"result":\{"pages": 1.50\}'
	[ "$(jq -r '.state + " " + .attempts[0].note' <<<"$output")" = 'succeeded seen in the tray' ]
	run -1 onejob attempt settle "$ATTEMPT" failed --error 'too late'
	has 'has ended already'
	run -1 onejob job cancel "$JOB"
}

@test "failed, cancelled and released each do what they say" {
	new_doubt failed
	run -0 onejob attempt settle "$ATTEMPT" failed --error 'paper jam'
	[ "$(onejob job show "$JOB" --json | jq -r '.state + " " + .attempts[0].state')" = 'queued failed' ]
	new_doubt cancelled
	run -0 onejob attempt settle "$ATTEMPT" cancelled
	[ "$(onejob job show "$JOB" --json | jq -r '.state + " " + .attempts[0].state')" = 'queued cancelled' ]
	new_doubt released
	run -1 onejob attempt settle "$ATTEMPT" released --provider "$MINE-none"
	run -0 onejob attempt settle "$ATTEMPT" released
	[ "$(onejob job show "$JOB" --json | jq -r '.attempts[0].state')" = released ]
	run -0 onejob attempt settle "$ATTEMPT" released
}

@test "outcomes and options that don't belong together are 2" {
	id=0192f0c1-2345-7abc-8def-0123456789ab
	for line in "$id succeeded" "$id failed" "$id cancelled --error x" "$id failed --error x --result -" \
		"$id succeeded --result - --provider $MINE" "$id done" "12 cancelled" "$id"; do
		# shellcheck disable=SC2086
		run -2 onejob attempt settle $line
	done
	run -1 onejob attempt settle "$id" cancelled
	has 'there is no attempt'
}

@test "a result for a cancelled job is thrown away and listed as a race" {
	new_doubt raced
	run -0 onejob job cancel "$JOB"
	run -0 onejob job cancel "$JOB"
	run -1 onejob attempt settle "$ATTEMPT" succeeded --result - <<<'"a-secret-payload"'
	has 'thrown away'
	run -0 onejob race list --json
	[ "$(jq -r --arg a "$ATTEMPT" '.races[] | select(.attempt_id == $a) | .why' <<<"$output")" = job_cancelled ]
	lacks a-secret-payload
	[ "$(onejob job show "$JOB" --json | jq -r '.state, .result')" = $'cancelled\nnull' ]
}

@test "lists go by pages and filters, and a pipe gets every byte" {
	for i in 1 2 3; do new_job "page-$i" >/dev/null; done
	run -0 --separate-stderr onejob job list --provider "$MINE" --limit 2 --json
	[ "$(jq '.jobs | length' <<<"$output")" = 2 ]
	first=$(jq -r '.jobs[].id' <<<"$output")
	run -0 --separate-stderr onejob job list --provider "$MINE" --limit 2 --json --before "$(jq -r .next_before <<<"$output")"
	lacks "$(head -n 1 <<<"$first")"
	run -0 --separate-stderr onejob job list --provider "$MINE" --limit 1
	has "$MINE-page-3"
	[ "$(grep -c $'\e' <<<"$output")" = 0 ]
	run -0 --separate-stderr onejob job list --owner "$MINE-nobody" --json
	[ "$(jq -c . <<<"$output")" = '{"jobs":[],"next_before":null}' ]
}

@test "purge counts what it emptied and keeps what is younger" {
	run -0 --separate-stderr onejob purge --payloads-after 36500d --keys-after 36500d --json
	[ "$(jq -c . <<<"$output")" = '{"payloads":0,"rows":0}' ]
	run -2 onejob purge --payloads-after 30d --keys-after 1d
}

@test "the doctor finds the stack well, and knows what it looks at" {
	run -0 --separate-stderr onejob doctor --json
	for what in settings database versions schema rights clock 'strict mode' 'flush at commit' pollers; do
		[ "$(jq -r --arg w "$what" '.findings[] | select(.what == $w) | .health' <<<"$output")" = ok ] ||
			{ echo "$what: $output"; return 1; }
	done
	run -0 onejob doctor
	has '^ok +pollers +[0-9]+ alive'
}

@test "the doctor tells of settings out of bounds and of a socket where nobody listens" {
	ONEJOB_LEASE_SECONDS=5m run -1 onejob doctor
	has '^bad +settings'
	ONEJOB_API_SOCKET=/nowhere/api.sock run -1 onejob doctor
	has '^bad +API socket .*there is no such socket'
	run -0 onejob doctor
}
