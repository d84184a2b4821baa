#!/usr/bin/env bats
# shellcheck disable=SC2154 # body, status and headers are set by the words of stack.bash
# The HTTP contract, answer by answer, as a client of nginx sees it.

load stack
load front

setup_file() {
	export ONEJOB_GRACE_SECONDS=1 ONEJOB_POLL_MS=50
	stack_up --workers 4
	provider tick /tick
	provider ok /ok
	provider slow /slow/stall '"timeout_ms":400,"retry":{"base_ms":1,"max_ms":1}'
	provider refuses /refuses/status=400
	provider effect /effect/nonjson
	provider away /away '"enabled":false'
	OTHER_TOKEN=$(onejob token create --owner other)
	export OTHER_TOKEN
}

teardown_file() {
	shop /shop/reset -X POST || true
	stack_down
}

other() { TOKEN=$OTHER_TOKEN api "$@"; }

# fresh KEY [BODY]: a job that waits for ever, as its provider is disabled; $job.
fresh() {
	local waits='{"provider":"away","input":1}'

	create "$1" "${2-$waits}"
	is created "$status" 201
	job=$(field .id)
}

doubt() { # KEY; $job and $attempt
	fresh "$1" '{"provider":"slow","input":1}'
	wait_job "$job" unknown
	attempt=$(field '.attempts[0].id')
}

members() { field 'keys_unsorted | join(" ")'; }

JOB_MEMBERS='id state version owner idempotency_key contract contract_version provider input metadata max_attempts'\
' attempt_count completed_by result error advice in_doubt not_before expires_at deadline_at created_at updated_at purged_at passed_over attempts'

sorted() { tr ' ' '\n' <<<"$1" | sort | tr '\n' ' '; }

@test "create: 201 with Location, ETag and the job, every member of it" {
	create create-201 '{"provider":"away","input":{"n":1.0},"metadata":{"a":"b"},"max_attempts":5,
		"not_before":"2030-01-02T03:04:05+01:00","expires_at":"2031-01-01T00:00:00Z"}'
	is status "$status" 201
	is location "$(header Location)" "/v1/jobs/$(field .id)"
	is etag "$(header ETag)" '"0-0"'
	is 'not a replay' "$(header Idempotent-Replayed)" ''
	is type "$(header Content-Type)" application/json
	is members "$(sorted "$(members)")" "$(sorted "$JOB_MEMBERS")"
	is values "$(field '[.state, .version, .owner, .idempotency_key, .contract, .provider, .max_attempts, .attempt_count,
		.completed_by, .result, .error, .advice, .in_doubt, .not_before, .expires_at, .purged_at, (.attempts | length),
		.metadata.a] | tojson')" '["queued",0,"demo","create-201",null,"away",5,0,null,null,null,"wait",false,'\
'"2030-01-02T02:04:05.000000Z","2031-01-01T00:00:00.000000Z",null,0,"b"]'
	has 'UUIDv7' '^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$' "$(field .id)"
	has 'microseconds' '^20[0-9-]+T[0-9:]+\.[0-9]{6}Z$' "$(field .created_at)"
	grep -qF '"input":{"n":1.0}' <<<"$body"
}

@test "create again: 200 with Idempotent-Replayed and the job as it is now" {
	create create-200 '{"provider":"ok","input":1}'
	job=$(field .id)
	wait_job "$job" succeeded
	create create-200 '{"provider":"ok","input":1}'
	is status "$status" 200
	is replayed "$(header Idempotent-Replayed)" true
	is 'as it is now' "$(field '"\(.id) \(.state)"')" "$job succeeded"
	is etag "$(header ETag)" "$(api GET "/v1/jobs/$job" && header ETag)"
}

# later NAME KEY BODY [TOKEN]: a create on its way; its answer is in $together/NAME, its status in NAME.code.
later() {
	curl -sS --max-time 60 -H "Authorization: Bearer ${4-$ONEJOB_TOKEN}" -H 'Content-Type: application/json' \
		-H "Idempotency-Key: $2" -d "$3" -o "$together/$1" -w '%{http_code}' "$ONEJOB_URL/v1/jobs" >"$together/$1.code" 3>&- &
}

# Connections that nobody has accepted yet have the name of the socket that they came by.
arrived() { [ "$(grep -c " $STACK/api.sock\$" /proc/net/unix)" -ge $(($1 + 1)) ]; }

inserted() { sql -e 'SHOW GLOBAL STATUS LIKE "Com_insert"' | cut -f 2; }

answered() { [ "$(cat "$together"/*.code | wc -c)" -eq $((3 * $1)) ]; }

@test "creates that wait together share a commit, and each has its own answer" {
	local together=$BATS_TEST_TMPDIR/together waits='{"provider":"away","input":1}' pids before code=0 name

	fresh together-repeat
	fresh together-conflict
	mkdir "$together"
	before=$(inserted)
	pids=$(workers)
	# shellcheck disable=SC2086 # words
	kill -STOP $pids
	for name in one two three four repeat; do
		later $name together-$name "$waits"
	done
	later conflict together-conflict '{"provider":"away","input":2}'
	later nowhere together-nowhere '{"provider":"nowhere","input":1}'
	later nobody together-nobody "$waits" nobody
	later broken together-broken '{"provider":'
	wait_for 20 arrived 9 || code=$?
	kill -CONT "${pids%%$'\n'*}"	# one, which finds them all
	wait_for 20 answered 9 || code=$?
	# shellcheck disable=SC2086
	kill -CONT $pids
	wait
	is 'how it went' $code 0
	is 'the answers' "$(cd "$together" && grep -H . ./*.code | paste -sd ' ')" './broken.code:400 ./conflict.code:409 ./four.code:201'\
' ./nobody.code:401 ./nowhere.code:422 ./one.code:201 ./repeat.code:200 ./three.code:201 ./two.code:201'
	# One, for all that are new. Or two, where the first has met the keys that are there.
	has 'the inserts' '^[12]$' $(($(inserted) - before))
	is 'rows' "$(sql -e "SELECT COUNT(*) FROM jobs WHERE idempotency_key LIKE 'together-%'")" 6
	for name in one two three four; do
		is "the job of $name" "$(jq -r .idempotency_key "$together/$name")" together-$name
	done
}

@test "create: a deleted provider and a passed time refuse no honest repeat" {
	provider going /going '"enabled":false'
	fresh repeat-gone '{"provider":"going","input":1,"not_before":"2001-01-01T00:00:00Z"}'
	api POST "/v1/jobs/$job/cancel"
	operator DELETE /v1/providers/going
	is deleted "$status" 204
	create repeat-gone '{"provider":"going","input":1,"not_before":"2001-01-01T00:00:00Z"}'
	is 'the repeat' "$status $(field .id)" "200 $job"
	create repeat-gone-2 '{"provider":"going","input":1}'
	refused 422 invalid-job
	is pointer "$(field '.errors[0].pointer')" /provider
}

# Each row: status, problem, what is sent in place of a good key header, what it is called here.
@test "create: what isn't a key, and what is the same key" {
	local long255 long256

	long255=$(printf 'k%.0s' $(seq 255)) long256=${long255}k
	while IFS='|' read -r want problem header; do
		api POST /v1/jobs -d '{"provider":"away","input":1}' -H "Idempotency-Key$header"
		if [ "$want" = 201 ]; then
			is "status of '$header'" "$status" 201
		else
			refused "$want" "idempotency-key-$problem" || { echo "row: '$header'" >&2; return 1; }
		fi
	done <<-ROWS
		400|missing|:
		400|invalid|;
		400|invalid|: ""
		400|invalid|: " x
		400|invalid|: "x" y
		400|invalid|: "x";a=1
		400|invalid|: "x", "y"
		400|invalid|: x,y
		400|invalid|: x y
		400|invalid|: x"y
		400|invalid|: "J\u00fcrgen"
		400|invalid|: Jürgen
		400|invalid|: "Jürgen"
		400|invalid|: "$long256"
		400|invalid|: $long256
		201||: "$long255"
		201||: "a \\" and a \\\\"
		201||: !#\$%&'()*+-./:;<=>?@[\\]^_\`{|}~
	ROWS
	create 'same key' '{"provider":"away","input":1}'
	is 'quoted with a blank' "$status" 201
	create same-key '{"provider":"away","input":1}'
	job=$(field .id)
	api POST /v1/jobs -d '{"provider":"away","input":1}' -H 'Idempotency-Key: same-key'
	is 'bare' "$status $(field .id)" "200 $job"
	api POST /v1/jobs -d '{"provider":"away","input":1}' -H 'Idempotency-Key: same-key' -H 'Idempotency-Key: same-key'
	refused 400 idempotency-key-invalid
}

@test "create: 400 invalid-json with the offset of what can't be" {
	while IFS='|' read -r offset text; do
		create "bad-json" "$text"
		refused 400 invalid-json
		is "offset in $text" "$(field .offset)" "$offset"
	done <<-'ROWS'
		30|{"provider":"away","input":1} x
		19|{"provider":"away","provider":"ok","input":1}
	ROWS
	create bad-json $'\xef\xbb\xbf{"provider":"away","input":1}'
	refused 400 invalid-json
	create bad-json ''
	refused 400 invalid-json
	create bad-json '{"provider":"away","input":1}'
	is 'the key is not used up' "$status" 201
}

# Each row: the pointers that are named, the body.
@test "create: 422 names each wrong member with a pointer" {
	while IFS='|' read -r want text; do
		create invalid-job "$text"
		refused 422 invalid-job
		is "pointers of $text" "$(field '[.errors[].pointer] | sort | join(" ")')" "$want"
		is 'details' "$(field '[.errors[].detail | select(. == "")] | length')" 0
	done <<-'ROWS'
		/input|{"provider":"away"}
		|{"input":1}
		/provider|{"provider":"away","contract":"c","input":1}
		/provider|{"provider":"no-such-one","input":1}
		/contract|{"contract":"no-such-one","input":1}
		/provider|{"provider":7,"input":1}
		/colour|{"provider":"away","input":1,"colour":"red"}
		/a~1b~0c|{"provider":"away","input":1,"a/b~c":1}
		/max_attempts|{"provider":"away","input":1,"max_attempts":0}
		/max_attempts|{"provider":"away","input":1,"max_attempts":101}
		/max_attempts|{"provider":"away","input":1,"max_attempts":1.5}
		/not_before|{"provider":"away","input":1,"not_before":"tomorrow"}
		/deadline_at /expires_at|{"provider":"away","input":1,"expires_at":1,"deadline_at":"2030-13-01T00:00:00Z"}
		/metadata|{"provider":"away","input":1,"metadata":[]}
		/metadata/a|{"provider":"away","input":1,"metadata":{"a":1}}
		|[]
		|null
	ROWS
	create invalid-job '{"provider":"away","input":null}'
	is 'the key is not used up, and null is an input' "$status" 201
}

@test "the order of refusals: what comes first decides" {
	local big=$BATS_TEST_TMPDIR/big token

	head -c 1048577 /dev/zero | tr '\0' ' ' >"$big"
	while IFS='|' read -r want problem who method path args; do
		case $who in
		nobody) token=unknown ;;
		user) token=$ONEJOB_TOKEN ;;
		operator) token=$ONEJOB_OPERATOR_TOKEN ;;
		esac
		[[ $args == *Content-Type* ]] || args+=' -H "Content-Type: application/json"'
		eval "set -- $args"
		raw "$method" "$path" -H "Authorization: Bearer $token" "$@"
		refused "$want" "$problem" || { echo "row: $who $method $path $args" >&2; return 1; }
		case $want in
		401) has 'WWW-Authenticate' '^Bearer' "$(header WWW-Authenticate)" ;;
		405) has 'Allow' '[A-Z]' "$(header Allow)" ;;
		esac
	done <<-'ROWS'
		401|unauthorized|nobody|GET|/v1/nowhere|
		401|unauthorized|nobody|DELETE|/v1/jobs|
		401|unauthorized|nobody|GET|/v1/races|
		401|unauthorized|nobody|POST|/v1/jobs|--data-binary "@$big"
		401|unauthorized|nobody|POST|/v1/jobs|-d 1
		401|unauthorized|nobody|POST|/v1/jobs|-d "{" -H "Idempotency-Key: x"
		404|not-found|user|GET|/v1/nowhere|
		404|not-found|user|POST|/v1/nowhere|--data-binary "@$big"
		404|not-found|user|POST|/v1/jobs/12/cancel|
		404|not-found|user|GET|/|
		405|method-not-allowed|user|DELETE|/v1/jobs|
		405|method-not-allowed|user|PUT|/v1/jobs|--data-binary "@$big"
		405|method-not-allowed|user|POST|/v1/races|
		403|operator-only|user|GET|/v1/races|
		403|operator-only|user|GET|/v1/attempts?colour=red|
		403|operator-only|user|GET|/v1/providers/no-such-one|
		403|operator-only|user|PUT|/v1/providers/no-such-one|--data-binary "@$big"
		403|operator-only|user|GET|/v1/contracts/no-such-one|
		403|operator-only|user|PUT|/v1/contracts/no-such-one|--data-binary "@$big"
		403|operator-only|user|POST|/v1/contracts/no-such-one/certify|-d "{"
		403|operator-only|user|GET|/v1/certificates?colour=red|
		403|operator-only|user|POST|/v1/attempts/01900000-0000-7000-8000-000000000000/settle|-d "{"
		413|body-too-large|user|POST|/v1/jobs|--data-binary "@$big"
		413|body-too-large|user|POST|/v1/jobs|--data-binary "@$big" -H "Idempotency-Key: x,y" -H "Content-Type: text/plain"
		413|body-too-large|operator|PUT|/v1/providers/no-such-one|--data-binary "@$big"
		413|body-too-large|operator|PUT|/v1/contracts/no-such-one|--data-binary "@$big"
		400|invalid-json|operator|PUT|/v1/contracts/no-such-one|-d "{"
		400|invalid-json|operator|POST|/v1/contracts/no-such-one/certify|-d "{"
		422|invalid-request|operator|POST|/v1/contracts/no-such-one/certify|-d "[]"
		404|not-found|operator|POST|/v1/contracts/no-such-one/certify|-d "{}"
		400|idempotency-key-missing|user|POST|/v1/jobs|-d "{" -H "Content-Type: text/plain"
		400|idempotency-key-invalid|user|POST|/v1/jobs|-d "{" -H "Content-Type: text/plain" -H "Idempotency-Key: x,y"
		415|unsupported-media-type|user|POST|/v1/jobs|-d "{" -H "Content-Type: text/plain" -H "Idempotency-Key: x"
		415|unsupported-media-type|user|POST|/v1/jobs|-d "{" -H "Content-Type: application/jsonp" -H "Idempotency-Key: x"
		415|unsupported-media-type|user|POST|/v1/jobs|-d "{" -H "Content-Type:" -H "Idempotency-Key: x"
		400|invalid-json|user|POST|/v1/jobs|-d "{" -H "Idempotency-Key: x"
		422|invalid-job|user|POST|/v1/jobs|-d "{}" -H "Idempotency-Key: x"
		400|invalid-query|user|GET|/v1/jobs?colour=red|
		404|not-found|user|GET|/v1/jobs/01900000-0000-7000-8000-000000000000|
	ROWS
}

@test "401: no token, another scheme, an unknown, a revoked and an expired one, two of them" {
	local revoked old

	revoked=$(onejob token create --owner gone)
	onejob token revoke "$(onejob token list --json | jq -r '.tokens[] | select(.owner == "gone") | .id')"
	old=$(onejob token create --owner old --expires-in 1d)
	sql -e "UPDATE tokens SET expires_at = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND WHERE owner = 'old'"
	for args in '' '-H "Authorization: Basic ZGVtbzp4"' '-H "Authorization: Bearer"' '-H "Authorization: Bearer nonsense"' \
		"-H 'Authorization: Bearer $revoked'" "-H 'Authorization: Bearer $old'"; do
		eval "set -- $args"
		raw GET /v1/jobs "$@"
		refused 401 unauthorized
		has "challenge for $args" '^Bearer realm=' "$(header WWW-Authenticate)"
	done
	raw GET /v1/jobs -H "Authorization: Bearer $ONEJOB_TOKEN" -H "Authorization: Bearer $ONEJOB_TOKEN"
	[ "$status" = 400 ] || refused 401 unauthorized	# some versions of nginx refuse a doubled one by themselves
}

@test "405: Allow lists what the path takes, and HEAD goes with every GET" {
	while read -r path want; do
		operator PATCH "$path"
		refused 405 method-not-allowed
		is "Allow of $path" "$(header Allow | tr -d , | tr ' ' '\n' | sort | tr '\n' ' ')" "$want "
	done <<-'ROWS'
		/v1/jobs GET HEAD POST
		/v1/jobs/cancel POST
		/v1/jobs/01900000-0000-7000-8000-000000000000 GET HEAD
		/v1/jobs/01900000-0000-7000-8000-000000000000/attempts POST
		/v1/jobs/01900000-0000-7000-8000-000000000000/cancel POST
		/v1/attempts GET HEAD
		/v1/attempts/01900000-0000-7000-8000-000000000000/settle POST
		/v1/races GET HEAD
		/v1/providers/ok DELETE GET HEAD PUT
		/v1/contracts GET HEAD
		/v1/contracts/c1 DELETE GET HEAD PUT
		/v1/contracts/c1/certify POST
		/v1/certificates GET HEAD
		/healthz GET HEAD
		/readyz GET HEAD
	ROWS
	operator TRACE /v1/jobs	# refused by nginx itself
	refused 405 method-not-allowed
	has Allow 'GET, HEAD, POST, PUT, DELETE' "$(header Allow)"
}

@test "read: ETag, 304, HEAD, and every change that shows changes the ETag" {
	local etag

	fresh read
	api GET "/v1/jobs/$job"
	is read "$status $(header ETag) $(header Cache-Control)" '200 "0-0" no-store'
	etag=$(header ETag)
	for value in "$etag" '*' "W/$etag" "\"7-7\", $etag"; do
		api GET "/v1/jobs/$job" -H "If-None-Match: $value"
		is "304 for $value" "$status $body" '304 '
		is "its ETag" "$(header ETag)" "$etag"
	done
	api GET "/v1/jobs/$job" -H 'If-None-Match: "0-1"'
	is 'another tag' "$status" 200
	api GET "/v1/jobs/$job" -I
	is HEAD "$status $(header ETag)" "200 $etag"
	is 'length of HEAD' "$(header Content-Length)" "$(api GET "/v1/jobs/$job" && printf %s "$body" | wc -c)"
	api POST "/v1/jobs/$job/attempts" -d '{"provider":"ok"}'
	is asked "$status" 202
	no test "$(header ETag)" = "$etag"
	wait_job "$job" succeeded
	api GET "/v1/jobs/$job"
	has 'version 1' '^"1-[0-9]+"$' "$(header ETag)"
	is 'version' "$(field .version)" 1
}

@test "read: Retry-After hints when to ask again, until the job is settled" {
	doubt hints
	api GET "/v1/jobs/$job"
	has unknown '^[1-9][0-9]*$' "$(header Retry-After)"
	fresh hints-2
	api GET "/v1/jobs/$job"
	has queued '^[1-9][0-9]*$' "$(header Retry-After)"
	api GET "/v1/jobs/$job" -H "If-None-Match: $(header ETag)"
	has '304' '^[1-9][0-9]*$' "$(header Retry-After)"
	api POST "/v1/jobs/$job/cancel"
	api GET "/v1/jobs/$job"
	is settled "$(header Retry-After)" ''
}

@test "roles: another owner's job is 404 whatever is asked, and operators see all" {
	doubt private
	for ask in "GET /v1/jobs/$job" "POST /v1/jobs/$job/cancel" "POST /v1/jobs/$job/attempts"; do
		# shellcheck disable=SC2086 # two words
		other $ask
		refused 404 not-found
		no grep -q "$job" <<<"$body"
	done
	other GET '/v1/jobs?limit=200'
	is 'their list' "$status $(field '.jobs | length')" '200 0'
	other GET '/v1/jobs?owner=demo'
	refused 400 invalid-query
	operator GET "/v1/jobs/$job"
	is 'the operator' "$status $(field .owner)" '200 demo'
	other POST "/v1/attempts/$attempt/settle" -d '{"outcome":"released"}'
	refused 403 operator-only
	api POST "/v1/attempts/$attempt/settle" -d '{"outcome":"released"}'
	refused 403 operator-only
	job_is "$job" unknown
}

@test "cancel: 200, again 200 the same, after success 409, a failed job can be cancelled" {
	local first

	fresh cancel
	api POST "/v1/jobs/$job/cancel"
	is cancel "$status $(field .state) $(field .version) $(field .advice)" '200 cancelled 1 done'
	first=$body
	api POST "/v1/jobs/$job/cancel" -d '{}'
	is again "$status $body" "200 $first"
	api POST "/v1/jobs/$job/cancel" -d '{"a":1}'
	refused 422 invalid-request
	create cancel-done '{"provider":"ok","input":1}'
	job=$(field .id)
	wait_job "$job" succeeded
	api POST "/v1/jobs/$job/cancel"
	refused 409 job-settled
	create cancel-failed '{"provider":"refuses","input":1}'
	job=$(field .id)
	wait_job "$job" failed
	is 'why' "$(field '"\(.error.reason) \(.advice) \(.version)"')" 'refused new_attempt 1'
	is 'error of the attempt' "$(field '.error.attempt_id == .attempts[0].id')" true
	api POST "/v1/jobs/$job/cancel"
	is 'a failed one' "$status $(field .state)" '200 cancelled'
}

@test "cancel by key: the job of the key, or a tombstone that a late create finds" {
	local first

	fresh cancel-key
	api POST /v1/jobs/cancel -H 'Idempotency-Key: "cancel-key"'
	is 'the job' "$status $(field .id) $(field .state)" "200 $job cancelled"
	create cancel-key '{"provider":"away","input":1}'
	is 'its create again' "$status $(field .state)" '200 cancelled'
	api POST /v1/jobs/cancel -H 'Idempotency-Key: "tombstone"'
	is 'a tombstone' "$status $(field .state) $(field .input) $(field .provider)" '201 cancelled null null'
	is 'its place' "$(header Location)" "/v1/jobs/$(field .id)"
	first=$(field .id)
	api POST /v1/jobs/cancel -H 'Idempotency-Key: "tombstone"'
	is 'again' "$status $(field .id)" "200 $first"
	create tombstone '{"provider":"ok","input":1}'
	refused 409 intent-cancelled
	is 'no more jobs of the key' "$(sql -e "SELECT COUNT(*) FROM jobs WHERE idempotency_key = 'tombstone'")" 1
	other POST /v1/jobs/cancel -H 'Idempotency-Key: "cancel-key"'
	is "another owner's key" "$status $(field .owner)" '201 other'
	api POST /v1/jobs/cancel
	refused 400 idempotency-key-missing
	create cancel-key-done '{"provider":"ok","input":1}'
	wait_job "$(field .id)" succeeded
	api POST /v1/jobs/cancel -H 'Idempotency-Key: cancel-key-done'
	refused 409 job-settled
}

@test "attempts: 202 for a queued, a failed and an unknown-provider job, and who may ask after an effect" {
	fresh ask-queued
	api POST "/v1/jobs/$job/attempts"
	is 'no body, queued' "$status $(field .state)" '202 queued'
	api POST "/v1/jobs/$job/attempts" -d '{}'
	is '{} changes nothing' "$status $(header ETag)" '202 "0-0"'
	for name in no-such-one away; do
		api POST "/v1/jobs/$job/attempts" -d "{\"provider\":\"$name\"}"
		refused 422 invalid-request
		is pointer "$(field '.errors[0].pointer')" /provider
	done
	api POST "/v1/jobs/$job/attempts" -d '{"providr":"ok"}'
	refused 422 invalid-request
	is pointer "$(field '.errors[0].pointer')" /providr
	api POST "/v1/jobs/$job/attempts" -d '{"provider":"ok"}'
	is 'a named one' "$status" 202
	wait_job "$job" succeeded
	is 'the intent is what it was' "$(field '"\(.provider) \(.attempts[0].provider)"')" 'away ok'
	api POST "/v1/jobs/$job/attempts"
	refused 409 job-settled
	create ask-failed '{"provider":"refuses","input":1}'
	job=$(field .id)
	wait_job "$job" failed
	api POST "/v1/jobs/$job/attempts" -d '{"provider":"ok"}'
	is 'failed' "$status $(field .id) $(field .state)" "202 $job queued"
	wait_job "$job" succeeded
	create ask-effect '{"provider":"effect","input":1}'
	job=$(field .id)
	wait_job "$job" failed
	is 'why' "$(field '"\(.error.reason) \(.advice)"')" 'contract_violation ask_operator'
	api POST "/v1/jobs/$job/attempts" -d '{"provider":"ok"}'
	refused 409 effect-done
	operator POST "/v1/jobs/$job/attempts" -d '{"provider":"ok"}'
	is 'the operator may' "$status" 202
	wait_job "$job" succeeded
}

@test "If-Match: stale is 412 before the state is looked at, on attempts, cancel and settle" {
	local ask

	doubt if-match
	for ask in "/v1/jobs/$job/attempts" "/v1/jobs/$job/cancel" "/v1/attempts/$attempt/settle"; do
		operator POST "$ask" -d '{}' -H 'If-Match: "9-9"'
		[ "$ask" != "/v1/attempts/$attempt/settle" ] ||
			operator POST "$ask" -d '{"outcome":"released"}' -H 'If-Match: "9-9"'
		refused 412 stale
		is 'the ETag to go on with' "$(header ETag)" "$(operator GET "/v1/jobs/$job" && header ETag)"
	done
	job_is "$job" unknown
	operator GET "/v1/jobs/$job"
	operator POST "/v1/attempts/$attempt/settle" -d '{"outcome":"succeeded","result":1}' -H "If-Match: \"9-9\", $(header ETag)"
	is settled "$status $(field .state)" '200 succeeded'
	operator POST "/v1/jobs/$job/cancel" -H 'If-Match: "9-9"'
	refused 412 stale
	operator POST "/v1/jobs/$job/cancel" -H 'If-Match: *'
	refused 409 job-settled
	operator POST "/v1/jobs/$job/cancel" -H 'If-Match: nonsense'
	refused 400 invalid-if-match
}

@test "settle: every answer" {
	doubt settle
	while IFS='|' read -r want text; do
		operator POST "/v1/attempts/$attempt/settle" -d "$text"
		refused 422 invalid-request
		is "pointers of $text" "$(field '[.errors[].pointer] | sort | join(" ")')" "$want"
	done <<-'ROWS'
		/outcome|{}
		/outcome|{"outcome":"won"}
		/result|{"outcome":"succeeded"}
		/result|{"outcome":"failed","result":1}
		/provider|{"outcome":"succeeded","result":1,"provider":"ok"}
		/provider|{"outcome":"released","provider":"no-such-one"}
		/provider|{"outcome":"released","provider":"away"}
		/colour|{"outcome":"released","colour":"red"}
		|[]
	ROWS
	operator POST "/v1/attempts/01900000-0000-7000-8000-000000000000/settle" -d '{"outcome":"released"}'
	refused 404 not-found
	operator POST "/v1/attempts/$attempt/settle"
	is 'no body' "$status" 400
	job_is "$job" unknown
	operator POST "/v1/attempts/$attempt/settle" -d '{"outcome":"failed","error":"out of paper","note":"I looked","provider":"ok"}'
	is 'settled' "$status $(field .state)" '200 queued'
	wait_job "$job" succeeded
	is 'kept' "$(field '.attempts[0] | "\(.state) \(.reason) \(.note)"')" 'failed operator I looked'
	operator POST "/v1/attempts/$attempt/settle" -d '{"outcome":"cancelled"}'
	refused 409 attempt-settled
}

@test "settle: a starting attempt is its poller's, but for a result" {
	provider holds /holds/stall '"timeout_ms":60000'
	fresh settle-starting '{"provider":"holds","input":1}'
	shop '/shop/wait?printer=holds&requests=1&timeout_ms=20000' -f -o /dev/null
	wait_job "$job" running
	attempt=$(field '.attempts[0].id')
	is 'the attempt' "$(field '.attempts[0].state')" starting
	for outcome in failed cancelled released; do
		operator POST "/v1/attempts/$attempt/settle" -d "{\"outcome\":\"$outcome\"}"
		refused 409 attempt-in-doubt
	done
	operator POST "/v1/attempts/$attempt/settle" -d '{"outcome":"succeeded","result":"seen in the tray"}'
	is 'a result' "$status $(field .state) $(field .result)" '200 succeeded seen in the tray'
	shop '/shop/release?printer=holds' -X POST -f -o /dev/null
	wait_for 15 race_of "$job"
	is 'what came later' "$(field .why)" contradiction
	api GET "/v1/jobs/$job"
	is 'the job' "$(field .result)" 'seen in the tray'
}

race_of() { operator GET '/v1/races'; body=$(jq -ce --arg id "$1" '.races[] | select(.job_id == $id)' <<<"$body"); }

@test "lists: pages through 120 jobs while new ones arrive, every job once and newest first" {
	local cursor='' seen=$BATS_TEST_TMPDIR/seen made=$BATS_TEST_TMPDIR/made pages=0 i

	TOKEN=$(onejob token create --owner lister)
	for ((i = 0; i < 120; i++)); do
		[ $i -eq 0 ] || echo next
		printf 'url="%s/v1/jobs"\nheader="Authorization: Bearer %s"\nheader="Content-Type: application/json"\n' "$ONEJOB_URL" "$TOKEN"
		printf 'header="Idempotency-Key: list-%d"\ndata="{\\"provider\\":\\"away\\",\\"input\\":%d}"\nsilent\n' "$i" "$i"
	done >"$BATS_TEST_TMPDIR/many"
	curl -K "$BATS_TEST_TMPDIR/many" | jq -r .id >"$made"
	is 'made' "$(sort -u "$made" | wc -l)" 120
	while :; do
		api GET "/v1/jobs?limit=50&state=queued&provider=away${cursor:+&cursor=$cursor}"
		is 'a page' "$status" 200
		pages=$((pages + 1))
		field '.jobs[].id' >>"$seen"
		is 'left out' "$(field '[.jobs[] | has("input") or has("result") or has("attempts")] | any')" false
		cursor=$(field '.next_cursor // ""')
		[ -n "$cursor" ] || break
		create "list-new-$pages" '{"provider":"away","input":"new"}'
		is 'a new one' "$status" 201
		[ $pages -lt 9 ]
	done
	is pages "$pages" 3
	is 'every job once, newest first' "$(cat "$seen")" "$(sort -r "$made")"
	is 'by the millisecond' "$(cut -c 1-13 "$seen")" "$(tac "$made" | cut -c 1-13)"
	api GET '/v1/jobs?limit=200'
	is 'now' "$(field '.jobs | length') $(field .next_cursor)" '122 null'
	api GET '/v1/jobs'
	is 'by default' "$(field '.jobs | length')" 50
	api GET '/v1/jobs?state=failed'
	is 'none is failed' "$(field '.jobs | length')" 0
}

@test "lists: what a query may not say is 400" {
	for query in limit=0 limit=201 limit=x limit= limit=1\&limit=2 cursor=x state=lost provider=No+name colour=red state; do
		api GET "/v1/jobs?$query"
		refused 400 invalid-query
	done
	for path in /v1/attempts?state=lost /v1/attempts?limit=0 /v1/races?state=unknown /v1/races?cursor=zz /v1/providers?limit=201 \
		/v1/contracts?cursor=1 /v1/certificates?valid=yes /v1/certificates?contract=No+name; do
		operator GET "$path"
		refused 400 invalid-query
	done
}

@test "lists: attempts by state and races, page by page" {
	local cursor=''

	doubt list-1; local one=$attempt
	doubt list-2; local two=$attempt
	operator GET '/v1/attempts?state=unknown&limit=200'
	is 'both, newest first' "$(jq -r --arg one "$one" --arg two "$two" '[.attempts[].id | select(. == $one or . == $two)] | join(" ")' <<<"$body")" "$two $one"
	is 'all are unknown' "$(field '[.attempts[].state] | unique | join(" ")')" unknown
	is 'their job' "$(jq -r --arg id "$two" '.attempts[] | select(.id == $id) | .job_id' <<<"$body")" "$job"
	for id in "$one" "$two"; do
		job=$(operator GET '/v1/attempts?state=unknown&limit=200' && jq -r --arg id "$id" '.attempts[] | select(.id == $id) | .job_id' <<<"$body")
		operator POST "/v1/attempts/$id/settle" -d '{"outcome":"succeeded","result":1}'
		operator POST "/v1/attempts/$id/settle" -d '{"outcome":"succeeded","result":1}'
		is 'its own repeat' "$status $(field .type)" '409 /problems/attempt-settled'
		no race_of "$job"
		operator POST "/v1/attempts/$id/settle" -d '{"outcome":"succeeded","result":2}'
		refused 409 attempt-settled	# and a race, a contradiction
	done
	operator GET '/v1/races?limit=1'
	is 'the newest' "$(field '.races[0] | "\(.attempt_id) \(.why) \(.bytes)"')" "$two contradiction 1"
	cursor=$(field .next_cursor)
	operator GET "/v1/races?limit=1&cursor=$cursor"
	is 'the one before' "$(field '.races[0].attempt_id')" "$one"
}

@test "providers: 201 new, 200 changed, read, 422 with pointers, 409 in use, 204, 404" {
	local put='{"url":"http://127.0.0.1:9/x","headers":{"Authorization":"Bearer ${env:NO_SUCH_SECRET}"},"enabled":false}'

	operator PUT /v1/providers/p1 -d "$put"
	is new "$status $(field '"\(.name) \(.version) \(.url)"')" '201 p1 1 http://127.0.0.1:9/x'
	operator PUT /v1/providers/p1 -d "${put/false/true}"
	is changed "$status $(field '"\(.version) \(.enabled)"')" '200 2 true'
	operator GET /v1/providers/p1
	is 'secrets by their names' "$(field .headers.Authorization)" 'Bearer ${env:NO_SUCH_SECRET}'
	is 'the defaults' "$(field '"\(.method) \(.connect_timeout_ms) \(.timeout_ms) \(.max_in_flight) \(.max_result_bytes)"')" \
		'POST 5000 30000 64 1048576'
	is 'more defaults' "$(field '"\(.idempotency.header) \(.idempotency.honoured) \(.side_effects) \(.retry.base_ms) \(.retry.max_ms)"')" \
		'Idempotency-Key false true 1000 300000'
	operator GET /v1/providers
	has 'in the list' '"name":"p1"' "$body"
	while IFS='|' read -r want text; do
		operator PUT /v1/providers/p2 -d "$text"
		refused 422 invalid-provider
		is "pointers of $text" "$(field '[.errors[].pointer] | sort | join(" ")')" "$want"
	done <<-'ROWS'
		/url|{}
		/url|{"url":"ftp://a"}
		/url|{"url":"http://user:pw@a/"}
		/colour|{"url":"http://a","colour":1}
		/timeout_ms|{"url":"http://a","timeout_ms":"1"}
		/headers/Authorization|{"url":"http://a","headers":{"Authorization":"${env:lower case}"}}
		/outcomes/500|{"url":"http://a","outcomes":{"500":"maybe"}}
		/retry/base_ms|{"url":"http://a","retry":{"base_ms":-1}}
	ROWS
	operator GET /v1/providers/p2
	refused 404 not-found
	operator PUT /v1/providers/No%20name -d "$put"
	[ "$status" = 404 ] || refused 422 invalid-provider
	fresh in-use '{"provider":"away","input":1}'
	operator DELETE /v1/providers/away
	refused 409 provider-in-use
	doubt in-use-2
	operator DELETE /v1/providers/slow
	refused 409 provider-in-use
	operator PUT /v1/contracts/names-p1 -d '{"routes":[{"provider":"p1"}]}'
	operator DELETE /v1/providers/p1
	refused 409 provider-in-use
	has 'by what' "a contract's route names p1" "$(field .detail)"
	operator DELETE /v1/contracts/names-p1
	operator DELETE /v1/providers/p1
	is deleted "$status $body" '204 '
	operator DELETE /v1/providers/p1
	refused 404 not-found
}

all_certified() { # CONTRACT N: of its routes have a verdict
	operator GET "/v1/certificates?contract=$1"
	[ "$(field '.certificates | length')" = "$2" ]
}

@test "contracts: 201 new, 200 changed, digits kept, 422 with pointers, 204, 404; jobs of a deleted one keep their version" {
	local put='{"routes":[{"provider":"ok"},{"provider":"tick"}],"checks":[{"pointer":"/copies","min":1.00}]}'

	operator PUT /v1/contracts/c1 -d "$put"
	is new "$status $(field '"\(.name) \(.version) \(.side_effects) \(.certify.rounds)"')" '201 c1 1 true 3'
	has 'its digits' '"min": ?1\.00' "$body"
	is 'the members of the row' "$(field 'keys_unsorted | [.[0], .[1], .[-2], .[-1]] | join(" ")')" 'name version created_at updated_at'
	operator PUT /v1/contracts/c1 -d "$put"
	is 'the same again' "$status $(field .version)" '200 1'
	operator PUT /v1/contracts/c1 -d "${put/1.00/1.000}"
	is changed "$status $(field .version)" '200 2'
	operator GET /v1/contracts/c1
	has 'as it was put' '"min": ?1\.000' "$body"
	operator GET /v1/contracts
	has 'in the list' '"name":"c1"' "$body"
	while IFS='|' read -r want text; do
		operator PUT /v1/contracts/c2 -d "$text"
		refused 422 invalid-contract
		is "pointers of $text" "$(field '[.errors[].pointer] | sort | join(" ")')" "$want"
	done <<-'ROWS'
		/routes|{}
		/colour|{"routes":[{"provider":"ok"}],"colour":1}
		/routes/1/provider|{"routes":[{"provider":"ok"},{"provider":"no-such-one"}]}
		/routes/1/provider|{"routes":[{"provider":"ok"},{"provider":"ok"}]}
		/on_failure/contract_violation|{"routes":[{"provider":"ok"}],"on_failure":{"contract_violation":"next_route"}}
	ROWS
	operator GET /v1/contracts/c2
	refused 404 not-found
	create contract-1 '{"contract":"c1","input":1,"not_before":"2100-01-01T00:00:00Z"}'
	is 'its version' "$status $(field '"\(.contract) \(.contract_version)"')" '201 c1 2'
	job=$(field .id)
	operator DELETE /v1/contracts/c1
	is deleted "$status $body" '204 '
	operator DELETE /v1/contracts/c1
	refused 404 not-found
	api GET "/v1/jobs/$job"
	is 'its version still' "$(field .contract_version)" 2
	create contract-2 '{"contract":"c1","input":1}'
	refused 422 invalid-job
	is pointer "$(field '.errors[0].pointer')" /contract
	operator PUT /v1/contracts/c1 -d "$put"
	is 'a version is never given twice' "$status $(field .version)" '201 3'
}

@test "certify: 202, 409 without fixtures or with effects nobody meant, 422 for what is no route; certificates by verdict" {
	local put='{"side_effects":false,"routes":[{"provider":"ok"},{"provider":"tick"}],"certify":{"rounds":1},
		"fixtures":[{"name":"f","input":1,"checks":[{"pointer":"/printer","equals":"ok"}]}]}'

	operator POST /v1/contracts/proven/certify
	refused 404 not-found
	operator PUT /v1/contracts/proven -d '{"routes":[{"provider":"ok"},{"provider":"tick"}]}'
	operator POST /v1/contracts/proven/certify
	refused 409 no-fixtures
	operator PUT /v1/contracts/proven -d "${put/false/true}"
	operator POST /v1/contracts/proven/certify -d '{"routes":["tick"]}'
	refused 409 side-effects
	operator PUT /v1/contracts/proven -d "$put"
	operator POST /v1/contracts/proven/certify -d '{"routes":["tick","away"]}'
	refused 422 invalid-request
	is pointer "$(field '.errors[0].pointer')" /routes/1
	operator POST /v1/contracts/proven/certify -d '{}'
	is asked "$status $(field '[.contract, .version, .routes] | tojson')" '202 ["proven",3,["ok","tick"]]'
	wait_for 15 all_certified proven 2
	is members "$(field '.certificates[0] | keys_unsorted | join(" ")')" \
		'id contract contract_version provider passed valid why rounds issued_at expires_at report'
	operator GET '/v1/certificates?contract=proven&valid=true'
	is valid "$(field '[.certificates[] | .provider, .passed, .valid, .why] | tojson')" '["ok",true,true,null]'
	operator GET '/v1/certificates?contract=proven&valid=false'
	is failed "$(field '[.certificates[] | .provider, .passed, .valid, .why, .report[0].fixture] | tojson')" '["tick",false,false,"failed","f"]'
	operator GET '/v1/certificates?contract=proven&limit=1'
	is 'one page' "$(field '.certificates | length')" 1
	operator GET "/v1/certificates?contract=proven&limit=1&cursor=$(field .next_cursor)"
	is 'and the other' "$(field '"\(.certificates | length) \(.next_cursor)"')" '1 null'
	operator GET '/v1/certificates?provider=away'
	is 'of no route' "$(field '.certificates | tojson')" '[]'
	create not-certified '{"contract":"proven","input":1,"not_before":"2100-01-01T00:00:00Z"}'
	api POST "/v1/jobs/$(field .id)/attempts" -d '{"provider":"tick"}'
	refused 409 not-certified
	is why "$(field .why)" failed
}

@test "every problem type that is answered, or named, is explained by GET" {
	local name names

	raw GET /problems
	is 'the index' "$status" 200
	names=$(grep -oE '/problems/[a-z-]+' <<<"$body" | sort -u)
	has 'those of the contract' 'idempotency-key-reused' "$names"
	for name in $names; do
		raw GET "$name"
		is "$name" "$status" 200
		has "$name says what it is" "$name" "$body"
	done
	for name in operator-only idempotency-key-reused intent-cancelled idempotency-key-missing idempotency-key-invalid \
		invalid-json invalid-job unavailable attempt-in-doubt job-settled effect-done attempt-settled attempt-lost \
		provider-in-use invalid-contract contract-violation not-certified no-fixtures side-effects; do
		raw GET "/problems/$name"
		is "$name of the contract" "$status" 200
	done
	# nginx's own answers name types too
	for name in $(grep -ohE '/problems/[a-z-]+' "$TOP"/nginx/*.conf | sort -u); do
		raw GET "$name"
		is "$name of the front door" "$status" 200
	done
	raw GET /problems/no-such-one
	refused 404 not-found
}

@test "X-Request-Id: on every answer, nginx's own included, each time another, and in the access log" {
	local id

	raw GET /healthz
	id=$(header X-Request-Id)
	has 'an id' '^[0-9a-f]{32}$' "$id"
	grep -qF "\"request_id\":\"$id\"" "$STACK/log/access.log"
	raw GET /healthz
	no test "$(header X-Request-Id)" = "$id"
	raw GET /healthz -H 'X-Request-Id: forged'
	no test "$(header X-Request-Id)" = forged
	id=$(head -c 9000 /dev/zero | tr '\0' x)
	for args in "-H 'X-Big: $id'" "-H 'Host: a b'" "-H 'Content-Length: x'" "-H 'Host: a/b'"; do
		eval "set -- $args"
		raw GET /v1/jobs "$@"
		refused 400 bad-request
	done
	raw GET "/v1/jobs?x=$id"
	refused 414 uri-too-long
}

@test "limits: a body of 1 MiB and one byte more, chunked too; 64 levels and one more" {
	local file=$BATS_TEST_TMPDIR/body input

	printf '{"provider":"away","input":"' >"$file"
	head -c $((1048576 - 30)) /dev/zero | tr '\0' x >>"$file"
	printf '"}' >>"$file"
	is 'the file' "$(stat -c %s "$file")" 1048576
	api POST /v1/jobs -H 'Idempotency-Key: mib' --data-binary "@$file"
	is '1 MiB' "$status" 201
	printf ' ' >>"$file"
	api POST /v1/jobs -H 'Idempotency-Key: mib-1' --data-binary "@$file"
	refused 413 body-too-large
	is 'the limit' "$(field .limit_bytes)" 1048576
	api POST /v1/jobs -H 'Idempotency-Key: mib-1' -H 'Transfer-Encoding: chunked' --data-binary "@$file"
	refused 413 body-too-large
	create mib-1 '{"provider":"away","input":1}'
	is 'the key is not used up' "$status" 201
	input=$(printf '[%.0s' $(seq 63))$(printf ']%.0s' $(seq 63))
	create deep-64 "{\"provider\":\"away\",\"input\":$input}"
	is '64 levels' "$status" 201
	create deep-65 "{\"provider\":\"away\",\"input\":[$input]}"
	refused 400 invalid-json
}

@test "the provider's request: key <job>-<generation>, traceparent passed on or made, User-Agent, the body as written" {
	local trace=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 request

	create traced '{"provider":"ok","input":{"b" : 1.50,"a":"\u00e9"}}' -H "traceparent: $trace"
	job=$(field .id)
	wait_job "$job" succeeded
	request=$(shop '/shop/requests?printer=ok' | jq -c --arg key "$job-0" '.[] | select(.key == $key)')
	is 'one request' "$(grep -c . <<<"$request")" 1
	has 'the same trace, a span of its own' '^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$' "$(jq -r .traceparent <<<"$request")"
	no test "$(jq -r .traceparent <<<"$request")" = "$trace"
	has 'User-Agent' '^onejob/[0-9]' "$(jq -r .user_agent <<<"$request")"
	is 'method and type' "$(jq -r '"\(.method) \(.headers["content-type"])"' <<<"$request")" 'POST application/json'
	is 'the body' "$(jq -r .body <<<"$request")" '{"b" : 1.50,"a":"\u00e9"}'
	create untraced '{"provider":"ok","input":1}' -H 'traceparent: nonsense'
	job=$(field .id)
	wait_job "$job" succeeded
	has 'made' '^00-[0-9a-f]{32}-[0-9a-f]{16}-0[0-9]$' \
		"$(shop '/shop/requests?printer=ok' | jq -r --arg key "$job-0" '.[] | select(.key == $key) | .traceparent')"
}

# After the others: it takes the database away.
@test "readyz is 503 and healthz up while the database is away, and all is well when it is back" {
	raw GET /readyz
	is 'ready' "$status" 200
	kill -9 "$(cat "$STACK/mariadbd.pid")"
	wait_for 10 not_ready
	refused 503 unavailable
	has 'Retry-After' '^[1-9][0-9]*$' "$(header Retry-After)"
	raw GET /healthz
	is 'up' "$status" 200
	api GET /v1/jobs/01900000-0000-7000-8000-000000000000
	refused 503 unavailable
	has 'Retry-After' '^[1-9][0-9]*$' "$(header Retry-After)"
	stack_start
	raw GET /readyz
	is 'ready again' "$status" 200
	api GET /v1/jobs/01900000-0000-7000-8000-000000000000
	refused 404 not-found
	tick 1
}

not_ready() { raw GET /readyz; [ "$status" = 503 ]; }

pss_kib() { # PID...
	local pid

	for pid; do
		cat "/proc/$pid/smaps_rollup"
	done | awk '$1 == "Pss:" { sum += $2 } END { print sum }'
}

@test "32 threads that have had large requests give the memory back" {
	local i kib

	{ printf '{"provider":"away","input":"'; head -c 900000 /dev/zero | tr '\0' x; printf '"}'; } >"$BATS_TEST_TMPDIR/large"
	for i in {1..64}; do
		printf 'next\nurl = "%s/v1/jobs"\nheader = "Idempotency-Key: memory-%s"\n' "$ONEJOB_URL" "$i"
		printf 'header = "Authorization: Bearer %s"\nheader = "Content-Type: application/json"\n' "$ONEJOB_TOKEN"
		printf 'data-binary = "@%s"\noutput = "/dev/null"\nwrite-out = "%%{http_code}\\n"\n' "$BATS_TEST_TMPDIR/large"
	done | sed 1d >"$BATS_TEST_TMPDIR/requests"
	curl -sS --parallel --parallel-max 32 --parallel-immediate -K "$BATS_TEST_TMPDIR/requests" | sort | uniq -c | tr -s ' ' >"$BATS_TEST_TMPDIR/codes"
	is statuses "$(cat "$BATS_TEST_TMPDIR/codes")" ' 64 201'
	# shellcheck disable=SC2046 # words
	kib=$(pss_kib $(workers))
	[ "$kib" -lt 16384 ] || { echo "they keep $kib KiB"; return 1; }
}

@test "R11 one click is one identity in nginx's log, the API's log, the row, the poller's log and the provider's request" {
	local trace=4bf92f3577b34da6a3ce929d0e0e4736 hash

	create r11-key '{"provider":"inkjet","input":1}' -H "traceparent: 00-$trace-00f067aa0ba902b7-01"
	is created "$status" 201
	id=$(field .id)
	hash=$(printf %s r11-key | sha256sum | cut -c1-16)
	is 'the API' "$(grep -oE "api.created request=$(header X-Request-Id) job=.*" "$STACK/log/api.log")" \
		"api.created request=$(header X-Request-Id) job=$id key_hash=$hash trace=$trace"
	wait_job "$id" succeeded
	is nginx "$(jq -r --arg id "$id" 'select(.job == $id and .status == 201) | .key_hash + " " + .trace' "$STACK/log/access.log")" "$hash $trace"
	is 'the row' "$(sql -e "SELECT CONCAT(idempotency_key, ' ', SUBSTR(traceparent, 4, 32)) FROM jobs WHERE HEX(id) = '${id//-/}'")" \
		"r11-key $trace"
	wait_for 10 grep -q "job=$id .*trace=$trace" "$STACK/log/poller-1.log"
	is 'the provider' "$(shop '/shop/requests?printer=inkjet' | jq -r --arg k "$id-0" '.[] | select(.key == $k) | .traceparent[3:35]')" "$trace"
}

@test "R11 without a traceparent of the client's, the job's id is the trace everywhere" {
	create r11-own '{"provider":"inkjet","input":2}'
	id=$(field .id)
	grep -q "api.created .*job=$id .*trace=${id//-/}\$" "$STACK/log/api.log"
	wait_job "$id" succeeded
	wait_for 10 grep -q "job=$id .*trace=${id//-/}" "$STACK/log/poller-1.log"
	is 'the provider' "$(shop '/shop/requests?printer=inkjet' | jq -r --arg k "$id-0" '.[] | select(.key == $k) | .traceparent[3:35]')" "${id//-/}"
	is nginx "$(jq -r --arg id "$id" 'select(.job == $id and .status == 201) | .trace' "$STACK/log/access.log")" "${id//-/}"
}
