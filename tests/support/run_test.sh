#!/usr/bin/env bash
# Runs one test program. One of the store gets a database of its own: a private mariadbd on a unix socket, in a folder that goes
# when the test ends. ONEJOB_DEFAULTS_FILE names the account that the programs use (on its database only the rights that README asks for),
# ONEJOB_TEST_ROOT an option file for the server's root, ONEJOB_TEST_MARIADBD the server's process id.
set -eu

program=$1
shift
if [[ $program == *tests/cluster/test_cut_off && -z ${ONEJOB_CHECK_CLUSTER-} ]]; then
	echo '1..0 # SKIP only in ./check --cluster'
	exit 0
fi
case $program in
*tests/store/* | *tests/cluster/*) ;;
*) exec "$program" "$@" ;;
esac

dir=$(mktemp -d "${TMPDIR:-/tmp}/onejob-test.XXXXXX")
server=

# Its data go too, so it needn't be ended well.
finish() {
	[ ! -e "$dir/nodes" ] || galera_kill_all "$dir"
	if [ -n "$server" ] && kill -9 "$server" 2>/dev/null; then
		wait "$server" 2>/dev/null || true
	fi
	rm -rf "$dir"
}
trap finish EXIT
trap 'exit 143' TERM INT HUP

# A test of the cluster gets two nodes, or three where it cuts one off: galera.bash.
on_nodes() {
	local top port=4000 n nodes=2 addresses=()

	top=$(cd "${0%/*}/../.." && pwd)
	# shellcheck source=tests/cluster/galera.bash
	. "$top/tests/cluster/galera.bash"
	[[ $program != *cut_off* ]] || nodes=3
	# An address of its own, so that no port is anybody else's.
	for ((n = 0; n < nodes; n++)); do
		addresses+=("127.$((64 + $$ / 65536)).$(($$ / 256 % 256)).$(($$ % 256)):$((port + 10 * n))")
	done
	galera_template "${ONEJOB_TEST_GALERA_TEMPLATE:-$PWD/tests/galera-template}"
	galera_new "$dir" "${ONEJOB_TEST_GALERA_TEMPLATE:-$PWD/tests/galera-template}" "${addresses[@]}"
	galera_start_all "$dir"
	export ONEJOB_TEST_CLUSTER=$dir ONEJOB_TEST_NODES=$nodes
	export ONEJOB_DEFAULTS_FILE=$dir/n1.onejob.cnf ONEJOB_TEST_ROOT=$dir/n1.root.cnf
	"$program" "$@"
}

case $program in
*tests/cluster/*)
	on_nodes "$@"
	exit
	;;
esac

as_user=()
[ "$(id -u)" != 0 ] || as_user=(--user=root)

# The data folder, with the accounts in it, is made once a build and copied, which is five times faster than making it.
template=${ONEJOB_TEST_TEMPLATE:-$PWD/tests/db-template}
mkdir -p "${template%/*}"
exec 9>"$template.lock"
flock 9
if [ ! -d "$template" ]; then
	rm -rf "$template.new"
	cat >"$dir/accounts.sql" <<-SQL
		CREATE DATABASE onejob CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
		FLUSH PRIVILEGES;
		CREATE USER onejob@localhost IDENTIFIED BY 'secret';
		GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER ON onejob.* TO onejob@localhost;
	SQL
	mariadb-install-db --no-defaults "${as_user[@]}" --datadir="$template.new" --auth-root-authentication-method=normal \
		--skip-test-db --skip-name-resolve --innodb-log-file-size=8M --extra-file="$dir/accounts.sql" >"$dir/install.log" 2>&1 9>&- ||
		{ cat "$dir/install.log" >&2; exit 1; }
	mv "$template.new" "$template"
fi
exec 9>&-
cp -r "$template" "$dir/data"

# A tmpdir of its own: a server that starts sweeps its tmpdir clean, of another's temporary tables too.
mkdir "$dir/tmp"
mariadbd --no-defaults "${as_user[@]}" --datadir="$dir/data" --tmpdir="$dir/tmp" --socket="$dir/db.sock" --pid-file="$dir/db.pid" \
	--log-error="$dir/db.log" --skip-networking --skip-log-bin --innodb-buffer-pool-size=64M --innodb-log-file-size=8M \
	--key-buffer-size=1M --aria-pagecache-buffer-size=1M --performance-schema=OFF --character-set-server=utf8mb4 --collation-server=utf8mb4_bin >/dev/null 2>&1 &
server=$!

cat >"$dir/root.cnf" <<CNF
[client]
socket=$dir/db.sock
user=root
CNF
cat >"$dir/onejob.cnf" <<CNF
[onejob]
socket=$dir/db.sock
user=onejob
password=secret
database=onejob
CNF
# The socket is there when the server takes connections.
tries=0
until [ -S "$dir/db.sock" ]; do
	tries=$((tries + 1))
	if [ $tries -gt 600 ] || ! kill -0 "$server" 2>/dev/null; then
		cat "$dir/db.log" >&2
		exit 1
	fi
	sleep 0.05
done

export ONEJOB_DEFAULTS_FILE=$dir/onejob.cnf ONEJOB_TEST_ROOT=$dir/root.cnf ONEJOB_TEST_MARIADBD=$server
"$program" "$@"
