# shellcheck shell=bash
# A MariaDB Galera cluster for tests, of nodes that can be killed, cut off and started again one by one. To be sourced.
#
#   galera_template FOLDER              makes, once, the data folder that all nodes begin as copies of, with the database onejob and
#                                       its account (onejob, password secret, from anywhere) in it
#   galera_new DIR FOLDER ADDRESS:PORT...    DIR/n1, DIR/n2 ... (data) and DIR/n1.cnf ... (options): nothing runs yet. The node takes
#                                       clients on ADDRESS:PORT and on the socket DIR/n1.sock, and talks to the others on
#                                       PORT + 1 to PORT + 3
#   galera_start DIR N [OPTION...]      one node; --wsrep-new-cluster for the first one of a cluster that is down
#   galera_await DIR N SIZE             until node N is ready, synced and sees SIZE nodes
#   galera_start_all DIR                all of them the first time, and waits: no state is transferred, as they are equal. Later a node
#                                       that joins needs wsrep_sst_rsync, of mariadb-server, and rsync
#   galera_sql DIR N [STATEMENT]        as root, by the socket
#   galera_status DIR N NAME            one wsrep status variable; "" where the node doesn't answer
#   galera_pid DIR N                    its process id; "" where it isn't up
#   galera_signal DIR N SIGNAL          KILL, STOP, CONT; after KILL waits for its end
#   galera_stop DIR N                   as one stops a server
#   galera_kill_all DIR                 whatever is up, at once
#
# Nodes in network namespaces: define `galera_within N COMMAND...`, which execs the command where node N lives. DIR must be short:
# a socket's path has 107 bytes at most. Root's nodes run as nobody, as rsync's daemon would otherwise become nobody alone: the
# folders above DIR must let everybody pass.

declare -F galera_within >/dev/null || galera_within() { # N COMMAND...
	exec "${@:2}"
}

GALERA_LIBRARY=${GALERA_LIBRARY:-/usr/lib/galera/libgalera_smm.so}

galera_user() {
	[ "$(id -u)" != 0 ] || echo --user=nobody
}

# Durable as ./run has it, and small.
galera_options() { # DIR N ADDRESS PORT MEMBERS
	local dir=$1 n=$2 address=$3 port=$4 members=$5

	cat <<-CNF
		[mysqld]
		datadir=$dir/n$n
		tmpdir=$dir/n$n.tmp
		socket=$dir/n$n.sock
		pid-file=$dir/n$n.pid
		log-error=$dir/n$n.log
		bind-address=$address
		port=$port
		skip-name-resolve
		skip-log-bin
		character-set-server=utf8mb4
		collation-server=utf8mb4_bin
		innodb-flush-log-at-trx-commit=1
		innodb-buffer-pool-size=32M
		innodb-log-file-size=8M
		key-buffer-size=1M
		aria-pagecache-buffer-size=1M
		performance-schema=OFF
		max-connections=64
		binlog_format=ROW
		innodb_autoinc_lock_mode=2
		wsrep_on=ON
		wsrep_provider=$GALERA_LIBRARY
		wsrep_cluster_name=onejob
		wsrep_cluster_address=gcomm://$members
		wsrep_node_name=n$n
		wsrep_node_address=$address:$((port + 1))
		wsrep_sst_method=rsync
		wsrep_sst_receive_address=$address:$((port + 3))
		wsrep_slave_threads=1
		wsrep_provider_options="gcache.size=8M;gcache.page_size=8M;gmcast.listen_addr=tcp://$address:$((port + 1));ist.recv_addr=$address:$((port + 2));pc.announce_timeout=PT2S;pc.wait_prim=no"
	CNF
}

galera_template() { # FOLDER
	local folder=$1 dir

	mkdir -p "${folder%/*}"
	exec 9>"$folder.lock"
	flock 9
	if [ ! -d "$folder" ]; then
		dir=$(mktemp -d "${TMPDIR:-/tmp}/onejob-galera.XXXXXX")
		cat >"$dir/accounts.sql" <<-SQL
			CREATE DATABASE onejob CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
			FLUSH PRIVILEGES;
			CREATE USER onejob@localhost IDENTIFIED BY 'secret';
			GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER ON onejob.* TO onejob@localhost;
			CREATE USER onejob@'%' IDENTIFIED BY 'secret';
			GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER ON onejob.* TO onejob@'%';
		SQL
		mariadb-install-db --no-defaults --datadir="$dir/n1" --auth-root-authentication-method=normal \
			--skip-test-db --skip-name-resolve --innodb-log-file-size=8M --extra-file="$dir/accounts.sql" >"$dir/install.log" 2>&1 9>&- ||
			{ cat "$dir/install.log" >&2; exec 9>&-; return 1; }
		rm -rf "$folder"
		mv "$dir/n1" "$folder"
		rm -rf "$dir"
	fi
	exec 9>&-
}

# The cluster counts the coming of each node as a write. Node N finds itself at what there was before it came.
galera_state() { # UUID N
	printf '%s\n' '# GALERA saved state' 'version: 2.1' "uuid:    $1" "seqno:   $(($2 - 1))" "safe_to_bootstrap: $(($2 == 1))"
}

galera_new() { # DIR FOLDER ADDRESS:PORT...
	local dir=$1 folder=$2 members='' at n=0 uuid

	uuid=$(cat /proc/sys/kernel/random/uuid)

	shift 2
	for at in "$@"; do
		members+=${members:+,}${at%:*}:$((${at##*:} + 1))
	done
	mkdir -p "$dir"
	for at in "$@"; do
		n=$((n + 1))
		mkdir -p "$dir/n$n.tmp"
		cp -r "$folder" "$dir/n$n"
		galera_state "$uuid" $n >"$dir/n$n/grastate.dat"
		galera_options "$dir" $n "${at%:*}" "${at##*:}" "$members" >"$dir/n$n.cnf"
		printf '[client]\nsocket=%s\nuser=root\n' "$dir/n$n.sock" >"$dir/n$n.root.cnf"
		printf '[onejob]\nsocket=%s\nuser=onejob\npassword=secret\ndatabase=onejob\n' "$dir/n$n.sock" >"$dir/n$n.onejob.cnf"
	done
	echo $n >"$dir/nodes"
	[ "$(id -u)" != 0 ] || chown -R nobody "$dir"
}

# shellcheck disable=SC2046 # nothing, or one word
galera_start() { # DIR N [OPTION...]
	local dir=$1 n=$2

	shift 2
	rm -f "$dir/n$n.sock" "$dir/n$n.pid"
	(galera_within "$n" mariadbd --defaults-file="$dir/n$n.cnf" $(galera_user) "$@" >>"$dir/n$n.out" 2>&1 </dev/null) &
	echo $! >"$dir/n$n.child"
}

galera_pid() { # DIR N
	local pid=

	[ ! -s "$1/n$2.child" ] || pid=$(cat "$1/n$2.child")
	[ -z "$pid" ] || ! kill -0 "$pid" 2>/dev/null || echo "$pid"
}

galera_sql() { # DIR N [STATEMENT]
	mariadb --no-defaults --socket="$1/n$2.sock" --user=root --connect-timeout=5 -N ${3+-e "$3"}
}

galera_status() { # DIR N NAME
	galera_sql "$1" "$2" "SHOW GLOBAL STATUS LIKE '$3'" 2>/dev/null | cut -f2
}

galera_await() { # DIR N SIZE
	local is tries=0

	while :; do
		is=$(galera_sql "$1" "$2" "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_ready', 'wsrep_cluster_size',
			'wsrep_local_state_comment')" 2>/dev/null | sort | cut -f2 | paste -sd' ' || true)
		[ "$is" != "$3 Synced ON" ] || return 0
		tries=$((tries + 1))
		if [ $tries -gt "${GALERA_TRIES:-1200}" ] || [ -z "$(galera_pid "$1" "$2")" ]; then
			echo "node $2 isn't one of $3: '$is'" >&2
			tail -n 40 "$1/n$2.log" >&2
			return 1
		fi
		sleep 0.1
	done
}

galera_start_all() { # DIR
	local n nodes

	nodes=$(cat "$1/nodes")
	galera_start "$1" 1 --wsrep-new-cluster
	for ((n = 1; n <= nodes; n++)); do
		[ $n = 1 ] || galera_start "$1" $n
		galera_await "$1" $n $n || return 1
	done
	galera_await "$1" 1 "$nodes"
}

galera_signal() { # DIR N SIGNAL
	local pid

	pid=$(galera_pid "$1" "$2")
	[ -n "$pid" ] || return 0
	kill -"$3" "$pid"
	[ "$3" != KILL ] || wait "$pid" 2>/dev/null || true
	while [ "$3" = KILL ] && [ -n "$(galera_pid "$1" "$2")" ]; do
		sleep 0.05	# it isn't this shell's child
	done
}

galera_stop() { # DIR N
	galera_signal "$1" "$2" TERM
	while [ -n "$(galera_pid "$1" "$2")" ]; do
		sleep 0.05
	done
}

galera_kill_all() { # DIR
	local n nodes=0

	[ ! -e "$1/nodes" ] || nodes=$(cat "$1/nodes")
	for ((n = 1; n <= nodes; n++)); do
		galera_signal "$1" $n KILL
	done
}
