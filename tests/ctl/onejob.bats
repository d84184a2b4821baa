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
		'purge --payloads-after 30' 'provider put UPPER -' 'race list --before 12' \
		'contract put UPPER -' 'contract certify' 'contract certify x --within 1d' 'contract certify --renew --within 1' \
		'contract certify x --renew --route y' 'contract certify x --route y --route y' 'contract certificates x y'; do
		# shellcheck disable=SC2086 # words
		run -2 --separate-stderr onejob $line
		[ -z "$output" ] || { echo "'$line' printed: $output"; return 1; }
		[[ $stderr =~ usage:[[:space:]]+onejob ]] || { echo "'$line' didn't tell how: $stderr"; return 1; }
	done
}

@test "help is 0, on standard output, on every level, with an example" {
	for line in '--help' 'job --help' 'job list --help' 'doctor --help' 'attempt settle --help' \
		'contract --help' 'contract certify --help'; do
		# shellcheck disable=SC2086
		run -0 --separate-stderr onejob $line
		has '^example: onejob '
		[ -z "$stderr" ]
	done
	run -0 onejob job list --help
	has '^STATE is one of queued, running, unknown, '
	run -0 onejob attempt list --help
	has '^STATE is one of starting, running, unknown, released, '
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

# An account that lacks a right on the whole database, and one that may only read.
@test "whoever lacks a right is told which are wanted, and which account the schema is made with; the doctor says the same" {
	local how='ONEJOB_DEFAULTS_FILE=/[a-z/]*/onejob/migrate.cnf onejob migrate'

	sql -e "CREATE USER stranger@localhost IDENTIFIED BY '...'; CREATE USER reader@localhost IDENTIFIED BY '...';
		GRANT SELECT ON onejob.* TO reader@localhost"
	for name in stranger reader; do
		sed "s/^user=.*/user=$name/; s/^password=.*/password=.../" "$ONEJOB_DEFAULTS_FILE" >"$BATS_TEST_TMPDIR/$name.cnf"
	done
	ONEJOB_DEFAULTS_FILE=$BATS_TEST_TMPDIR/stranger.cnf run -3 onejob job list
	has "^onejob: the account in .*/stranger.cnf lacks a right. .*SELECT, INSERT, UPDATE and DELETE .*$how"
	ONEJOB_DEFAULTS_FILE=$BATS_TEST_TMPDIR/stranger.cnf run -1 onejob doctor
	has '^bad +database .* 1044 .*grant this user'
	ONEJOB_DEFAULTS_FILE=$BATS_TEST_TMPDIR/reader.cnf run -3 onejob token create --owner "$MINE"
	has 'denied'
	has "^onejob: the account in .*/reader.cnf lacks a right"
	sql -e 'DROP USER stranger@localhost, reader@localhost'
	newest=$(sql -e 'SELECT MAX(number) FROM schema_migrations')
	sql -e "UPDATE schema_migrations SET applied_at = NULL WHERE number = $newest"
	run -3 onejob migrate
	has "^onejob: the account in .* lacks a right.* CREATE and ALTER: $how"
	run -1 onejob doctor
	has "^bad +schema .*by an account that may CREATE and ALTER: $how"
	sql -e "UPDATE schema_migrations SET applied_at = NOW(6) WHERE number = $newest"
	run -0 onejob doctor
	lacks 'lacks a right'
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

# contract_of NAME CHECK [MEMBERS]: two routes to printers of their own, one fixture with that check, two rounds.
contract_of() {
	local route

	for route in "$1-a" "$1-b"; do
		printf '{"url": "%s/%s", "retry": {"base_ms": 1, "max_ms": 1}}' "$PRINTSHOP_URL" "$route" | onejob provider put "$route" - >/dev/null
	done
	printf '{"side_effects": false, "routes": [{"provider": "%s-a"}, {"provider": "%s-b"}], "certify": {"rounds": 2},
		"fixtures": [{"name": "one sheet", "input": {"n": 1}, "checks": [%s]}]%s}' "$1" "$1" "$2" "${3:+, $3}"
}

@test "putting a contract tells created, unchanged and changed apart, and that its later route proves nothing yet" {
	local name=$MINE-put

	contract_of "$name" '{"pointer": "/copies", "min": 1.00}' >"$BATS_TEST_TMPDIR/contract"
	run -0 onejob contract put "$name" "$BATS_TEST_TMPDIR/contract"
	has '^.* created, version 1$'
	has "^1 of its later routes has no valid certificate, .*: onejob contract certify $name\$"
	run -0 onejob contract put "$name" "$BATS_TEST_TMPDIR/contract"
	has '^.* unchanged, version 1$'
	contract_of "$name" '{"pointer": "/copies", "min": 1.00}' '"checks": [{"pointer": "/sheet", "min": 1}]' >"$BATS_TEST_TMPDIR/contract"
	run -0 onejob contract put "$name" "$BATS_TEST_TMPDIR/contract"
	has '^.* changed, version 2$'
	run -0 onejob contract show "$name"
	has "^2 +$name-b +not_certified"
	run -0 --separate-stderr onejob contract show "$name" --json
	has '"min": ?1\.00'
	run -0 --separate-stderr onejob contract list --json
	[ "$(jq -r --arg n "$name" '.contracts[] | select(.name == $n) | [.version, .certified, .routes] | @tsv' <<<"$output")" = \
		"2	0 of 1	$name-a, $name-b" ]
	run -0 onejob doctor
	has "^warn +routes never certified .*$name-b of $name.*onejob contract certify "
	run -1 onejob provider delete "$name-b"
	has "$name-b is in use: .* a contract's route names it"
	run -0 onejob contract delete "$name"
	run -0 onejob provider delete "$name-b"
	run -1 onejob contract show "$name"
	run -1 onejob contract delete "$name"
	run -1 onejob contract certificates "$name"
	run -1 onejob contract certify "$name"
}

@test "a flawed contract changes nothing and each flaw has its pointer, an unknown provider too" {
	run -1 --separate-stderr onejob contract put "$MINE-bad" - <<<'{"routes": [{"provider": "x", "bogus": 1}], "checks": {}, "result_schema": {"typo": 1}}'
	output=$stderr
	has '^/routes/0/bogus: '
	has '^/checks: '
	has '^/result_schema/typo: '
	run -1 --separate-stderr onejob contract put "$MINE-bad" - <<<'{"routes": [{"provider": "inkjet"}, {"provider": "no-such-one"}]}'
	output=$stderr
	has "/routes/1/provider: there is no provider 'no-such-one'"
	run -1 onejob contract put "$MINE-bad" - <<<'{"routes": [], "routes": []}'
	has 'at byte 15, '
	# shellcheck disable=SC2016
	run -1 bash -c 'head -c 1048577 /dev/zero | onejob contract put "$MINE-bad" -'
	has 'more than 1048576 bytes'
	run -1 onejob contract show "$MINE-bad"
}

@test "a certification says of each route whether it passed, and of a failure where and why" {
	local name=$MINE-cert

	contract_of "$name" '{"pointer": "/copies", "min": 1}, {"pointer": "/printer", "equals": "'"$name"'-a"}' | onejob contract put "$name" -
	run -1 --separate-stderr onejob contract certify "$name"
	has "^  $name-a: passed, 2 of 2; valid until 20"
	has "^  $name-b: FAILED, 0 of 2 passed\$"
	has '^    round 1, one sheet: '
	has '^    round 2, one sheet: '
	[ -z "$stderr" ]
	run -0 onejob contract certificates "$name"
	has "^$name +1 $name-a +valid +2 20"
	has "^$name +1 $name-b +failed +2 20"
	run -0 onejob doctor
	has "^warn +void certificates .*$name-b of $name \(failed\)"
	contract_of "$name" '{"pointer": "/copies", "min": 1}' | onejob contract put "$name" -
	run -0 --separate-stderr onejob contract certify "$name" --route "$name-b" --json
	[ "$(jq -r '.certificates[] | [.provider, .contract_version, .passed, .valid, .why, (.report | length)] | map(tostring) | join(" ")' \
		<<<"$output")" = "$name-b 2 true true null 2" ]
	run -1 onejob contract certify "$name" --route "$MINE-none"
	has 'has no route of the provider'
	run -0 onejob contract put "$name" - <<<"$(onejob contract show "$name" --json | jq '.definition')"
	lacks 'later routes'
}

@test "on a terminal a certification shows how far it is, and leaves no trace of that" {
	local name=$MINE-tty

	command -v script >/dev/null || skip 'no script(1)'
	contract_of "$name" '{"pointer": "/copies", "min": 1}' | onejob contract put "$name" -
	run -0 script -qec "onejob contract certify $name" /dev/null
	has $'\rcertifying: [0-9]+ of [0-9]+ fixtures, [0-9] of 2 routes\e'
	has $'\r\e\\[K'"$name, version 1"
}

@test "a contract with side effects is certified only where they are meant, and without fixtures never" {
	local name=$MINE-effect

	contract_of "$name" '{"pointer": "/copies", "min": 1}' | jq '.side_effects = true' | onejob contract put "$name" -
	run -1 onejob contract certify "$name"
	has '--side-effects'
	run -0 onejob contract certificates "$name" --json
	[ "$(jq -c . <<<"$output")" = '{"certificates":[]}' ]
	run -0 onejob contract certify "$name" --side-effects
	onejob contract show "$name" --json | jq '.definition | .fixtures = []' | onejob contract put "$name" -
	run -1 onejob contract certify "$name" --side-effects
	has 'nothing to certify by'
	run -0 onejob contract delete "$name"
}

@test "renewing proves again what is about to expire, and nothing else" {
	local name=$MINE-renew id

	contract_of "$name" '{"pointer": "/copies", "min": 1}' | jq '.certify.max_age_s = 7200' | onejob contract put "$name" -
	run -0 onejob contract certify "$name" --route "$name-b"
	id=$(onejob contract certificates "$name" --json | jq -r '.certificates[0].id')
	run -0 onejob contract certify --renew "$name" --within 1h
	has '^no certificate runs out within 1h, so there is nothing to renew$'
	run -0 onejob doctor
	has "^warn +certificates that expire soon .*$name-b of $name"
	run -0 onejob contract certify --renew "$name" --within 12h
	has "^  $name-b: passed, 2 of 2"
	lacks "$name-a:"
	[ "$(onejob contract certificates "$name" --json | jq -r '.certificates[0].id')" != "$id" ]
	run -0 --separate-stderr onejob contract certify --renew "$name" --within 12h --no-wait --json
	[ "$(jq -c '.asked[] | [.contract, .version, .provider]' <<<"$output")" = "[\"$name\",1,\"$name-b\"]" ]
}

@test "a job shows its contract, the certificate that let it fail over, and which routes were passed over and why" {
	local name=$MINE-over job certificate deadline=$((SECONDS + 30))

	contract_of "$name" '{"pointer": "/copies", "min": 1}' >"$BATS_TEST_TMPDIR/contract"
	printf '{"url": "%s/%s-c"}' "$PRINTSHOP_URL" "$name" | onejob provider put "$name-c" -
	jq --arg c "$name-c" '.routes = [.routes[0], {"provider": $c}, .routes[1]]' "$BATS_TEST_TMPDIR/contract" | onejob contract put "$name" -
	run -0 onejob contract certify "$name" --route "$name-b"
	certificate=$(onejob contract certificates "$name" --json | jq -r '.certificates[0].id')
	curl -sS -m 10 -X PUT "$PRINTSHOP_URL/shop/mode?printer=$name-a&mode=status%3D400"
	job=$(curl -sS -m 10 -H "Authorization: Bearer $ONEJOB_TOKEN" -H "Idempotency-Key: \"$name\"" \
		-H 'Content-Type: application/json' -d "{\"contract\": \"$name\", \"input\": {}}" "$ONEJOB_URL/v1/jobs" | jq -er .id)
	until [ "$(state_of "$job")" = succeeded ]; do
		[ "$SECONDS" -lt "$deadline" ] || { onejob job show "$job"; return 1; }
		read -r -t 0.1 <> <(:) || true
	done
	run -0 onejob job show "$job"
	has "^contract +$name, version 1\$"
	has "^passed by +$name-c after attempt 1: not_certified\$"
	has "^ *2 .* $name-b +succeeded .*$certificate"
}

@test "an unknown attempt is listed with commands that settle it, and a result said by hand is kept to the digit" {
	new_doubt by-hand
	run -0 onejob attempt list --unknown
	has "^attempt $ATTEMPT\$"
	has "^  started [0-9a-z ]+ ago, provider [a-z0-9-]+, phase [a-z_]+, reason [a-z_]+, job $JOB\$"
	has "^  its provider isn't asked about it\$"
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
	run -0 --separate-stderr onejob webhook list
	[ -z "$output" ]
	[ "$stderr" = 'onejob: no webhooks' ]
}

@test "purge counts what it emptied and keeps what is younger" {
	run -0 --separate-stderr onejob purge --payloads-after 36500d --keys-after 36500d --json
	[ "$(jq -c . <<<"$output")" = '{"payloads":0,"rows":0,"reports":0}' ]
	run -2 onejob purge --payloads-after 30d --keys-after 1d
}

@test "the doctor finds the stack well, and knows what it looks at" {
	run -0 --separate-stderr onejob doctor --json
	for what in settings 'client library' database versions schema rights clock 'strict mode' 'flush at commit' pollers; do
		[ "$(jq -r --arg w "$what" '.findings[] | select(.what == $w) | .health' <<<"$output")" = ok ] ||
			{ echo "$what: $output"; return 1; }
	done
	run -0 onejob doctor
	has '^ok +pollers +[0-9]+ alive'
	has '^ok +client library +lib(mariadb|mysqlclient) [0-9]+(\.[0-9]+)+, compiled for lib'
}

@test "the doctor tells of settings out of bounds and of a socket where nobody listens" {
	ONEJOB_LEASE_SECONDS=5m run -1 onejob doctor
	has '^bad +settings'
	ONEJOB_API_SOCKET=/nowhere/api.sock run -1 onejob doctor
	has '^bad +API socket .*there is no such socket'
	ONEJOB_THREDS=4 run -0 onejob doctor
	has '^warn +unknown settings +nothing reads .*ONEJOB_THREDS'
	run -0 onejob doctor
	has "^ok +API socket .*api\.sock accepts; it is $(id -un):$(id -gn), mode 0660( |\$)"
}

@test "the doctor and the poller's log name what keeps a request from being sent: a callback URL that isn't set up" {
	onejob provider put "$MINE-back" - <<<"{\"url\": \"$PRINTSHOP_URL/$MINE/tick\", \"headers\": {\"X-Callback\": \"{{callback_url}}\"}}"
	onejob contract put "$MINE-tell" - <<<"{\"routes\": [{\"provider\": \"$MINE\", \"request\": [\"<{{callback_url}}>\"]}]}"
	run -0 onejob doctor
	has "^warn +callback URL +not set here, and .* provider $MINE-back, contract $MINE-tell: "
	job=$(MINE=$MINE-back new_job back)
	wait_for 20 grep -qE " attempt job=$job .*reason=never_sent .*detail=\".*: a header names \{\{callback_url\}\}, " "$STACK/log/poller-1.log"
	onejob job cancel "$job"
	onejob contract delete "$MINE-tell"
	run -0 onejob doctor
	has "^warn +callback URL +.* by provider $MINE-back: "
	ONEJOB_CALLBACK_URL=https://a.example run -1 onejob doctor
	lacks 'callback URL'
	wait_for 20 onejob provider delete "$MINE-back"
	run -0 onejob doctor
	lacks 'callback URL'
}

@test "what changes something says so as JSON too" {
	local id

	json() { run -0 --separate-stderr onejob "$@" --json; jq -e . <<<"$output" >/dev/null || { echo "no JSON: $output"; return 1; }; }
	json migrate
	[ "$(jq -c '[.applied, .schema > 0]' <<<"$output")" = '[[],true]' ]
	json provider put "$MINE-json" - <<<"{\"url\": \"$PRINTSHOP_URL/tick\"}"
	[ "$(jq -r '.name, .version, .definition.method' <<<"$output")" = "$MINE-json"$'\n1\nPOST' ]
	json contract put "$MINE-json" - <<<"{\"routes\": [{\"provider\": \"inkjet\"}, {\"provider\": \"$MINE-json\"}]}"
	[ "$(jq -r '.name, .version, .definition.routes[1].provider' <<<"$output")" = "$MINE-json"$'\n1\n'"$MINE-json" ]
	json contract delete "$MINE-json"
	[ "$(jq -c . <<<"$output")" = "{\"name\":\"$MINE-json\",\"done\":\"deleted\"}" ]
	json provider delete "$MINE-json"
	[ "$(jq -r '.name, .done' <<<"$output")" = "$MINE-json"$'\ndeleted' ]
	onejob token create --owner "$MINE-json" >/dev/null
	id=$(onejob token list --json | jq -r --arg o "$MINE-json" '.tokens[] | select(.owner == $o) | .id')
	json token revoke "$id"
	[ "$(jq -r '.id, .done' <<<"$output")" = "$id"$'\nrevoked' ]
	json webhook put "$MINE" --url https://alice.example/hook --secret '${env:NONE}'
	[ "$(jq -r '.owner, .done' <<<"$output")" = "$MINE"$'\ncreated' ]
	json webhook enable "$MINE"
	json webhook delete "$MINE"
	[ "$(jq -r .done <<<"$output")" = deleted ]
	run -2 onejob webhook put "$MINE" --url https://alice.example/hook --secret whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
	has '^onejob: --secret must be .*, never the secret itself$'
	lacks MfKQ
	run -2 onejob webhook put "$MINE" --url http://169.254.169.254/ --secret '${env:NONE}'
	has 'ONEJOB_WEBHOOK_PRIVATE'
}

@test "a schema newer than the programs is worked on with a note, and only migrate refuses" {
	sql -e "INSERT INTO schema_migrations VALUES (9999, 'later', REPEAT('x', 32), NOW(6))"
	run -0 --separate-stderr onejob job list --json
	grep -q 'knows [0-9]* only' <<<"$stderr"
	[ "$(curl -sS -o /dev/null -w '%{http_code}' "$ONEJOB_URL/readyz")" = 200 ]
	run -1 onejob migrate
	run -0 onejob doctor
	has '^warn +schema'
	sql -e 'DELETE FROM schema_migrations WHERE number = 9999'
	run -0 --separate-stderr onejob job list --json
	[ -z "$stderr" ]
}

@test "who settled an attempt, and when, is shown" {
	new_doubt settled-by
	run -0 onejob attempt settle "$ATTEMPT" cancelled
	run -0 --separate-stderr onejob job show "$JOB" --json
	[ "$(jq -r '.attempts[0] | .settled_by, (.settled_at | length > 0)' <<<"$output")" = "$(id -un)"$'\ntrue' ]
	run -0 onejob job show "$JOB"
	has 'SETTLED BY'
	run -0 --separate-stderr onejob attempt list --state cancelled --json
	[ "$(jq -r --arg a "$ATTEMPT" '.attempts[] | select(.id == $a) | [.settled_by, has("detail", "reference", "asked", "last_answer", "next_ask_at")] | map(tostring) | join(" ")' <<<"$output")" = "$(id -un) true true true true true" ]
}

@test "where no poller is alive a certification is asked for, and not waited for without end" {
	local name=$MINE-alone

	contract_of "$name" '{"pointer": "/copies", "min": 1}' | onejob contract put "$name" -
	for pid in "$STACK"/poller-*.pid; do
		kill -TERM "$(<"$pid")"
	done
	run -1 --separate-stderr onejob contract certify "$name"
	[ -z "$output" ]
	[[ $stderr == *'no poller is alive'* ]]
	run -0 onejob contract certify "$name" --no-wait
	has "^  $name-b: asked for\$"
}
