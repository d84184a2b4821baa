#!/usr/bin/env bats
# shellcheck disable=SC2154 # body and status are set by the words of world.bash
# What may befall three hosts under load (world.bash), one thing after the other. Each time nothing that was acknowledged may be lost, a
# key has one job, the provider gets each job once unless an operator settled a doubt, and nobody waits longer than Galera needs to
# leave somebody out. `./check --cluster` runs it.

load world

setup_file() {
	world_up
}

teardown_file() {
	world_down
}

setup() {
	begin_test
	load_start 3
	more_acks 20
}

# fine_again: everything as before, and what must hold
fine_again() {
	wait_for 120 all_ready
	more_acks 30
	loads_stop
	served_in_time
	all_kept
}

# What a host that is out makes of whatever isn't a create, by its own door: a problem, and nothing is done.
only_refuses() { # N STATUS
	local row words

	for row in 'PUT /v1/providers/printer -d {"url":"http://elsewhere.example/"}' 'DELETE /v1/providers/printer' \
		'POST /v1/jobs/cancel -H Idempotency-Key:refused' 'POST /v1/attempts/0192f0c1-2345-7abc-8def-0123456789ab/settle -d {"outcome":"failed"}'; do
		read -r -a words <<<"$row"
		TOKEN=$OPERATOR DOOR=$1 api "${words[@]}"
		is "$row" "$status $(jq -r '.type // empty' <<<"$body")" "$2 /problems/unavailable"
	done
}

nothing_was_done() {
	TOKEN=$OPERATOR api GET /v1/providers/printer
	is 'the provider' "$status $(jq -r '.url // empty' <<<"$body")" "200 http://$SHOP/printer"
	is 'the cancel' "$(sql 1 "SELECT COUNT(*) FROM jobs WHERE idempotency_key = 'refused'")" 0
}

@test "an API host that is killed and one that hangs: creates go to the others" {
	api_signal 1 KILL
	more_acks 40
	api_start 1
	wait_for 60 ready 1
	api_signal 2 STOP
	more_acks 60
	api_signal 2 CONT
	fine_again
}

@test "a node that is killed under load leaves its API refusing, and comes back with what it missed" {
	local transfers

	node_kill 2
	wait_for 60 refuses 2
	only_refuses 2 503
	more_acks 60
	nothing_was_done
	node_start 2
	node_synced 2
	fine_again
	transfers=$(grep -c 'IST received' "$WORLD/n2.log" || true)
	[ "$transfers" -ge 1 ] || { grep -a WSREP "$WORLD/n2.log" | tail -n 30; return 1; }
}

@test "a whole host that dies, its poller too: what it had sent is settled by the provider's book" {
	node_kill 3 &
	api_signal 3 KILL
	kill -9 "$(pid_of poller3)"
	wait $!
	more_acks 60
	node_start 3
	node_synced 3
	api_start 3
	poller_start 3
	fine_again
}

@test "a host that sees nginx and no other host answers 503, and its creates go to another; mended, it goes on" {
	part 1
	wait_for 60 refuses 1
	only_refuses 1 503
	more_acks 60
	is 'how many see each other' "$(status_of 1 wsrep_cluster_status) $(status_of 2 wsrep_cluster_size)" 'non-Primary 2'
	join 1
	node_synced 1
	fine_again
	nothing_was_done
}

@test "a host whose cable is cut is gone for everybody; mended, it goes on" {
	unplug 2
	more_acks 60
	is 'who see each other' "$(status_of 1 wsrep_cluster_size)" 2
	plug 2
	node_synced 2
	fine_again
}

@test "database, API and poller of one host after another are restarted, and no create fails" {
	local n

	for n in 1 2 3; do
		poller_stop $n
		node_stop $n
		more_acks 10
		node_start $n
		node_synced $n
		api_restart $n
		poller_start $n
		wait_for 60 ready $n
		more_acks 10
	done
	is 'creates that failed' "$(failures)" ''
	fine_again
}

@test "a node that dies with much left to purge finds out where it was" {
	sql 3 "CREATE DATABASE churn; CREATE TABLE churn.jobs LIKE jobs; CREATE TABLE churn.attempts LIKE attempts"
	at_node 3 'START TRANSACTION WITH CONSISTENT SNAPSHOT; SELECT COUNT(*) FROM churn.jobs; SELECT SLEEP(600)'
	wait_for 60 sleeps 3
	sql 3 "INSERT INTO churn.jobs (id, owner, idempotency_key, state, max_attempts, attempts_allowed, run_after, created_at, updated_at)
		SELECT UNHEX(MD5(seq)), 'a', seq, 'queued', 1, 1, NOW(6), NOW(6), NOW(6) FROM seq_1_to_20000;
		INSERT INTO churn.attempts (id, job_id, number, provider, provider_version, generation, state, version_read, started_at)
		SELECT id, id, 1, 'a', 1, 1, 'starting', 1, NOW(6) FROM churn.jobs;
		UPDATE churn.jobs SET state = 'unknown'; UPDATE churn.attempts SET state = 'unknown';
		DELETE FROM churn.jobs; DELETE FROM churn.attempts"
	node_kill 3
	recovered 3
	[[ $(recovered 3) =~ :[1-9][0-9]*$ ]]
	node_start 3
	node_synced 3
	sql 3 'DROP DATABASE churn'
	fine_again
}

@test "all three lose power: the one that was first is found by what each wrote, and nothing acknowledged is lost" {
	local n best position from most=-1

	# shellcheck disable=SC2046 # words
	kill -KILL $(for n in 1 2 3; do galera_pid "$WORLD" $n; done)
	for n in 1 2 3; do
		node_kill $n
		position=$(recovered $n)
		echo "node $n was at $position"
		[ "${position##*:}" -le "$most" ] || { most=${position##*:} best=$n from=$position; }
	done
	sed -i 's/^safe_to_bootstrap: .*/safe_to_bootstrap: 1/' "$WORLD/n$best/grastate.dat"
	galera_start "$WORLD" "$best" --wsrep-new-cluster --wsrep_start_position="$from" 3>&-
	node_synced "$best" 1
	for n in 1 2 3; do
		[ $n = "$best" ] || node_start $n
	done
	for n in 1 2 3; do
		node_synced $n
	done
	wait_for 120 all_ready
	more_acks 30
	loads_stop
	all_kept	# how long it took is the operator's affair
}
