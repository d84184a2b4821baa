#!/usr/bin/env bats
# shellcheck disable=SC2154 # body and status are set by the words of world.bash
# The cluster in short, for every check: one world of three hosts (world.bash), clicks at once, a node that dies.
# long.bats has the rest.

load world

setup_file() {
	world_up
}

teardown_file() {
	world_down
}

# conflicts: how often a node has found that another was first
conflicts() {
	local n sum=0

	for n in 1 2 3; do
		sum=$((sum + $(status_of $n wsrep_local_cert_failures) + $(status_of $n wsrep_local_bf_aborts)))
	done
	echo $sum
}

@test "clicks on all three hosts at the same moment make one job a key and one request, and nodes did collide over them" {
	local before from=1 file=$BATS_TEST_TMPDIR/clicks

	before=$(conflicts)
	# Whether two meet in the database isn't ours to say: more, until they have.
	until [ "$(conflicts)" -ge $((before + 5)) ]; do
		[ $from -le 2000 ] || { echo "$from clicks, and no conflict" >&2; return 1; }
		client clicks click $from $((from + 19)) "$file" printer $STREET:8081 $STREET:8082 $STREET:8083
		from=$((from + 20))
	done
	echo "# $((from - 1)) clicks, $(($(conflicts) - before)) conflicts" >&"${REPORT_FD:-1}"
	is 'answers' "$(cut -d' ' -f2 "$file" | sort | uniq -c | tr -s ' \n' ' ')" " $((2 * (from - 1))) 200 $((from - 1)) 201 "
	is 'keys, and pairs of a key and an id' "$(cut -d' ' -f1 "$file" | sort -u | wc -l) $(cut -d' ' -f1,3 "$file" | sort -u | wc -l)" \
		"$((from - 1)) $((from - 1))"
	wait_for 120 decided
	sql 1 "SELECT idempotency_key, LOWER(HEX(id)) FROM jobs WHERE idempotency_key LIKE 'click-%'" | tr '\t' ' ' | sort >"$WORLD/done"
	is 'jobs' "$(wc -l <"$WORLD/done")" $((from - 1))
	sent_once
	every_node_agrees
}

@test "a node that is killed under load and comes back loses nothing that was acknowledged, and the others go on within seconds" {
	load_start 2
	more_acks 20
	node_kill 2
	more_acks 40
	refuses 2
	node_start 2
	node_synced 2
	more_acks 20
	wait_for 60 ready 2
	loads_stop
	served_in_time
	all_kept
}
