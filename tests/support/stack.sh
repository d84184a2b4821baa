# shellcheck shell=bash disable=SC2154 # dir, top, build, port, workers and pollers are set by those who source this
# The private stack, part by part: each start_X does nothing if the part is up, clears what a killed one left behind,
# starts it and waits until it answers. Needs daemons.sh.

stack_begun=()	# what this very start has begun, to be undone if it fails

stack_fail() { # MESSAGE [LOG]
	echo "run: $1" >&2
	if [ -n "${2-}" ] && [ -s "$2" ]; then
		echo "run: the end of $2:" >&2
		tail -n 15 "$2" >&2
	fi
	exit 1
}

declare -gA stack_written=()	# a file that this very start has written anew: its text before, or nothing

# write_down NAME TEXT: for the next start, in DIR. Until this one has worked it can be taken back.
write_down() {
	local before=

	[ ! -e "$dir/$1" ] || before=$(cat "$dir/$1")
	stack_written[$1]=${stack_written[$1]-$before}
	put_text "$1" "$2"
}

put_text() { # NAME TEXT
	(umask 077 && printf '%s' "${2:+$2$'\n'}" >"$dir/$1.new")
	mv "$dir/$1.new" "$dir/$1"
}

take_back() {
	local name

	for name in "${!stack_written[@]}"; do
		if [ -n "${stack_written[$name]}" ]; then
			put_text "$name" "${stack_written[$name]}"
		else
			rm -f "${dir:?}/$name"
		fi
	done
	stack_written=()
}

# begin NAME COMMAND...: part_launch, remembered.
begin() {
	stack_begun+=("$1")
	part_launch "$@"
}

# --- the programs' settings, which outlive the shell that first gave them

SETTINGS=(ONEJOB_CALLBACK_KEYS ONEJOB_CALLBACK_URL ONEJOB_GRACE_SECONDS ONEJOB_IN_FLIGHT ONEJOB_LEASE_SECONDS
	ONEJOB_MAX_BODY ONEJOB_POLL_MS ONEJOB_THREADS ONEJOB_TRUST_OWNER ONEJOB_WEBHOOK_PRIVATE)

is_setting() { # NAME
	[[ " ${SETTINGS[*]} " == *" $1 "* ]]
}

# A shell that has read another stack's DIR/env has that one's settings; they aren't meant for this one.
ignore_other_stack() {
	local name value

	[ -n "${ONEJOB_STACK-}" ] && [ "$ONEJOB_STACK" != "$dir" ] && [ -r "$ONEJOB_STACK/environment" ] || return 0
	while IFS='=' read -r name value; do
		if is_setting "$name" && [ "${!name-}" = "$value" ]; then
			unset "$name"
		fi
	done <"$ONEJOB_STACK/environment"
}

# What isn't given anew is as it was last time. Nothing in the file is run.
recall_environment() {
	local name value

	if [ -e "$dir/environment" ]; then
		while IFS='=' read -r name value; do
			! is_setting "$name" || [ -n "${!name+given}" ] || export "$name=$value"
		done <"$dir/environment"
	fi
	for name in "${SETTINGS[@]}"; do
		[ -n "${!name-}" ] || unset "$name"	# given as nothing: forgotten
	done
}

keep_environment() {
	local name text=

	for name in "${SETTINGS[@]}"; do
		case ${!name-} in
		'' | *[[:cntrl:]]*) ;;	# what no program takes
		*) text+=$name=${!name}$'\n' ;;
		esac
	done
	write_down environment "${text%$'\n'}"
}

# Programs read them when they start.
tell_when_in_force() {
	if [ -n "$up_before" ] && [ "$(cat "$dir/environment")" != "${stack_written[environment]}" ]; then
		echo "What is up keeps its settings until './run --stop --dir $dir'; the next start has the new ones."
	fi
}

# What a shell has to do to have them, and no others.
settings_as_shell() {
	local name

	for name in "${SETTINGS[@]}"; do
		if [ -n "${!name-}" ]; then
			printf "export %s='%s'\n" "$name" "${!name//\'/\'\\\'\'}"
		else
			printf 'unset %s\n' "$name"
		fi
	done
}

# What the programs won't take costs no more than the message. There is no such option file, so that nothing else is looked at.
check_settings() {
	local said status=0

	said=$(ONEJOB_DEFAULTS_FILE="$dir/none" onejob token list 2>&1) || status=$?
	[ $status != 1 ] || stack_fail "a setting can't be used:"$'\n'"$(sed -n 's/.* conf\.refused /  /p' <<<"$said")"
	said=$(ONEJOB_DEFAULTS_FILE="$dir/none" onejob doctor 2>&1) || true
	sed -n 's/^warn unknown settings  *\(nothing reads ONEJOB_[^ ].*[^ ]\)  *correct the names.*/A name may be misspelt: \1./p' <<<"$said"
	! grep -q 'keyring\.refused' <<<"$said" ||
		stack_fail "ONEJOB_CALLBACK_KEYS can't be used:"$'\n'"$(sed -n 's/.* keyring\.refused /  /p' <<<"$said")"
}

# --- mariadbd

database_sql() { # SQL on stdin, as the account of the operating system's user
	mariadb --no-defaults --user="$(id -un)" --socket="$dir/mariadbd.sock" --connect-timeout=5 "$@"
}

database_answers() {
	database_sql -e 'DO 1' >/dev/null 2>&1 </dev/null
}

as_root_user() {
	[ "$(id -u)" != 0 ] || echo --user=root	# mariadbd refuses to be root unless told to
}

# An empty data folder, made once a build and version of the server, to be copied. --force: a machine whose own name does not
# resolve will do.
make_template() { # FOLDER
	rm -rf "$1.new"
	# shellcheck disable=SC2046 # no word or one
	mariadb-install-db --no-defaults --datadir="$1.new" $(as_root_user) --skip-test-db --skip-name-resolve --force \
		--innodb-log-file-size=64M \
		--auth-root-authentication-method=socket --auth-root-socket-user="$(id -un)" \
		>>"$(part_log mariadb-install)" 2>&1 </dev/null 9>&- ||
		stack_fail "the database can't be set up" "$(part_log mariadb-install)"
	mv "$1.new" "$1"
}

# The data folder appears under its name only when it is whole. Descriptor 7 is inherited: what a killed start left behind keeps the
# next one away until it is done, or ended by a stop, which isn't kept away: descriptor 9 is closed.
make_data() {
	local version template

	[ ! -d "$dir/data" ] || return 0
	version=$(mariadbd --no-defaults --version 2>/dev/null | sed -nE 's/.* Ver ([A-Za-z0-9.+~-]+) .*/\1/p')
	[ -n "$version" ] || stack_fail "mariadbd doesn't tell its version"
	template=$build/data-$(id -un)-$version
	rm -rf "$dir/data.new" "$dir/env" "$dir/my.cnf" "$dir/migrate.cnf"	# tokens and password belong to the data
	(
		flock -w 120 7 || stack_fail "another start has been making an empty database for two minutes" "$(part_log mariadb-install)"
		[ -d "$template" ] || make_template "$template"
	) 7>>"$build/data.lock" 9>&- || exit 1
	cp -r "$template" "$dir/data.new"
	mv "$dir/data.new" "$dir/data"
}

# The programs say what is wrong with a number that is none.
threads() {
	case ${ONEJOB_THREADS-} in
	'' | *[!0-9]* | ????*) echo 8 ;;
	*) echo "$((10#$ONEJOB_THREADS))" ;;
	esac
}

start_mariadbd() {
	part_down mariadbd || return 0
	part_stop mariadbd 30
	make_data
	# shellcheck disable=SC2046
	begin mariadbd mariadbd --no-defaults $(as_root_user) --datadir="$dir/data" --tmpdir="$dir/tmp" \
		--socket="$dir/mariadbd.sock" --pid-file="$dir/mariadbd.pid" \
		--skip-networking --skip-log-bin --skip-name-resolve --local-infile=0 \
		--innodb-flush-log-at-trx-commit=1 --innodb-doublewrite=ON \
		--innodb-buffer-pool-size=128M --innodb-log-file-size=64M --performance-schema=OFF \
		--key-buffer-size=1M --aria-pagecache-buffer-size=1M \
		--max-connections=$((100 + workers * $(threads) + 8 * pollers)) \
		--character-set-server=utf8mb4 --collation-server=utf8mb4_bin
	part_await mariadbd 120 database_answers || stack_fail "mariadbd does not answer" "$(part_log mariadbd)"
}

option_of_my_cnf() { # NAME
	[ ! -e "$dir/my.cnf" ] || sed -n "s/^$1=//p" "$dir/my.cnf"
}

write_option_file() { # NAME USER PASSWORD
	(umask 077 && printf '[onejob]\nsocket=%s\nuser=%s\npassword=%s\ndatabase=onejob\n' \
		"$dir/mariadbd.sock" "$2" "$3" >"$dir/$1.new")
	mv "$dir/$1.new" "$dir/$1"
}

# The least that README asks for, so that every test on a stack shows that it is enough: the programs' account has the rows of one
# database, that of `onejob migrate` its tables.
make_accounts() {
	local password

	password=$(option_of_my_cnf password)
	[ -n "$password" ] || password=$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')
	write_option_file my.cnf onejob "$password"
	write_option_file migrate.cnf onejob_migrate "$password"
	database_sql <<-SQL || stack_fail "the database accounts can't be made" "$(part_log mariadbd)"
		CREATE DATABASE IF NOT EXISTS onejob CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
		CREATE USER IF NOT EXISTS onejob@localhost, onejob_migrate@localhost;
		ALTER USER onejob@localhost IDENTIFIED BY '$password', onejob_migrate@localhost IDENTIFIED BY '$password';
		GRANT SELECT, INSERT, UPDATE, DELETE ON onejob.* TO onejob@localhost;
		GRANT SELECT, INSERT, UPDATE, CREATE, ALTER ON onejob.* TO onejob_migrate@localhost;
	SQL
}

migrate() {
	ONEJOB_DEFAULTS_FILE="$dir/migrate.cnf" onejob migrate >>"$dir/log/migrate.log" 2>&1 || stack_fail "the schema can't be brought up to date" "$dir/log/migrate.log"
}

# --- the print shop, which plays two providers

port_taken() { # PORT
	(exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# Below the range from which the kernel takes the near ends of connections.
free_port() {
	local port

	for _ in {1..100}; do
		port=$((20000 + RANDOM % 12000))
		if ! port_taken "$port"; then
			echo "$port"
			return 0
		fi
	done
	return 1
}

printshop_port() {
	[ ! -e "$dir/printshop.port" ] || cat "$dir/printshop.port"
}

printshop_answers() {
	curl -fsS -o /dev/null --max-time 2 "http://127.0.0.1:$(printshop_port)/shop/counts" 2>/dev/null
}

start_printshop() {
	local shop_port

	part_down printshop || return 0
	part_stop printshop 2
	shop_port=$(printshop_port)
	if [ -z "$shop_port" ] || port_taken "$shop_port"; then
		shop_port=$(free_port) || stack_fail "no free port for the print shop"
		echo "$shop_port" >"$dir/printshop.port"
	fi
	begin printshop "$build/printshop" --port "$shop_port"
	part_await printshop 10 printshop_answers || stack_fail "the print shop does not answer" "$(part_log printshop)"
}

# A row that is there already is left as it is, unless the shop had to move.
put_provider() { # NAME
	local url

	url="http://127.0.0.1:$(printshop_port)/$1"
	if onejob --json provider show "$1" 2>/dev/null | sed 's,\\/,/,g' | grep -qF "\"$url\""; then
		return 0
	fi
	printf '{"url": "%s", "timeout_ms": 2000}\n' "$url" | onejob provider put "$1" - >>"$dir/log/migrate.log" 2>&1 ||
		stack_fail "the provider $1 can't be put" "$dir/log/migrate.log"
}

# --- the API behind its socket, the pollers

start_api() {
	part_down api || return 0
	part_stop api 10
	begin api spawn-fcgi -s "$dir/api.sock" -M 0660 -b 512 -n -- "$top/tests/support/hold.sh" "$workers" "$build/onejob-api"
	part_await api 10 test -S "$dir/api.sock" || stack_fail "onejob-api does not start" "$(part_log api)"
}

start_pollers() {
	local i before

	for ((i = 1; i <= pollers; i++)); do
		part_down "poller-$i" || continue
		part_stop "poller-$i" 5
		before=$(poller_starts "$i")
		begin "poller-$i" "$build/onejob-poller"
		part_await "poller-$i" 30 poller_has_started "$i" "$before" ||
			stack_fail "onejob-poller does not start" "$(part_log "poller-$i")"
	done
}

poller_starts() { # NUMBER
	sed -n '/info onejob-poller poller\.start /p' "$(part_log "poller-$1")" 2>/dev/null | wc -l
}

poller_has_started() { # NUMBER HOW-OFTEN-BEFORE
	[ "$(poller_starts "$1")" != "$2" ]
}

# --- nginx

# nginx takes as much as the API does.
max_body() {
	case ${ONEJOB_MAX_BODY-} in
	'' | *[!0-9]*) echo 1m ;;	# the API refuses what is no number
	*) echo "$ONEJOB_MAX_BODY" ;;
	esac
}

write_nginx_conf() {
	local user_line=

	[ "$(id -u)" != 0 ] || user_line='user root;'	# the folder and the socket are root's alone
	ln -sfn "$top/nginx" "$dir/onejob"
	cat >"$dir/nginx.conf" <<-CONF
		# Made by ./run at every start; changes belong into the nginx folder of the source.
		daemon off;
		$user_line
		worker_processes 2;
		worker_rlimit_nofile 4096;
		pid "$dir/nginx.pid";
		error_log "$(part_log nginx)" warn;
		events {
			worker_connections 2000;
		}
		http {
			client_body_temp_path "$dir/tmp/body";
			fastcgi_temp_path "$dir/tmp/fastcgi";
			proxy_temp_path "$dir/tmp/proxy";
			uwsgi_temp_path "$dir/tmp/uwsgi";
			scgi_temp_path "$dir/tmp/scgi";
			include "$top/nginx/http.conf";
			access_log "$dir/log/access.log" onejob;
			# Instead of limits.conf: one machine is all the clients there are, and some of them measure.
			limit_req_zone \$binary_remote_addr zone=onejob_requests:1m rate=1000000r/s;
			limit_req_zone \$binary_remote_addr zone=onejob_probes:1m rate=1000r/s;
			limit_conn_zone \$binary_remote_addr zone=onejob_connections:1m;
			limit_req_zone \$onejob_credential zone=onejob_credentials:1m rate=1000000r/s;
			limit_conn_zone \$onejob_identity zone=onejob_identities:1m;
			upstream onejob_api {
				server "unix:$dir/api.sock" max_fails=0;
			}
			server {
				listen 127.0.0.1:$port default_server;
				server_name _;
				client_max_body_size $(max_body);
				include onejob/locations.conf;
				location / {
					include onejob/pass.conf;
					fastcgi_param CONTENT_TYPE \$content_type;
					fastcgi_param CONTENT_LENGTH \$content_length;
					fastcgi_pass onejob_api;
				}
			}
		}
	CONF
}

# Before anything else is started: a port that isn't ours should cost no more than the message.
clear_front_door() {
	part_down nginx || return 0
	part_stop nginx 2
	if port_taken "$port"; then
		stack_fail "port $port is in use by another program; choose another with --port"
	fi
}

front_door_ready() {
	curl -fsS -o /dev/null --max-time 5 "http://127.0.0.1:$port/readyz" 2>/dev/null
}

start_nginx() {
	part_down nginx || return 0
	write_nginx_conf
	begin nginx nginx -c "$dir/nginx.conf"
	part_await nginx 30 front_door_ready || stack_fail "nginx or the API behind it does not answer at port $port" \
		"$(stack_culprit)"
}

# Which log says most about a front door that is not ready.
stack_culprit() {
	if part_up nginx; then
		part_log api
	else
		part_log nginx
	fi
}

# --- all of it

# By their logs, and by the processes that have these, where somebody has removed the folder under them.
poller_names() {
	{
		find "$dir/log" -name 'poller-*.log' 2>/dev/null
		find /proc/[0-9]*/fd/2 -maxdepth 0 -lname "$dir/log/poller-*.log (deleted)" -printf '%l\n' 2>/dev/null
	} | sed -n 's,.*/\(poller-[0-9]*\)\.log.*,\1,p' | sort -u
}

# What a start began that isn't there to stay. One that was killed leaves it behind.
PASSING_PARTS=(build mariadb-install)

stack_remains() {
	local name

	for name in mariadbd printshop api nginx $(poller_names) "${PASSING_PARTS[@]}"; do
		part_pids "$name"
	done
}

stack_parts_up() {
	local name

	for name in mariadbd printshop api nginx $(poller_names); do
		! part_up "$name" || echo "$name"
	done
}

# Front to back, so that nothing is accepted which can't be finished. The pollers drain all at once.
stack_stop() {
	local name grace=${ONEJOB_GRACE_SECONDS:-30}

	rm -f "$dir/up"
	for name in "${PASSING_PARTS[@]}"; do
		part_stop "$name" 10
	done
	part_stop nginx 10 QUIT
	part_stop api 20
	for name in $(poller_names); do
		part_signal "$name"
	done
	for name in $(poller_names); do
		part_await_end "$name" $((grace + 10))
	done
	part_stop printshop 5
	part_stop mariadbd 90
}

# Only what this start has begun, the last first; what was up before stays up. The next start finds the settings as they were.
stack_undo() {
	local i

	take_back
	for ((i = ${#stack_begun[@]} - 1; i >= 0; i--)); do
		part_stop "${stack_begun[i]}" 15
	done
	stack_begun=()
}
