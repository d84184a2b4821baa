#!/usr/bin/env bats
# shellcheck disable=SC2030,SC2031,SC2034,SC2154 # words and variables of stack.bash, front.bash and stack.sh
# What README has people type to run it for real, as it stands there, with a folder before /usr/local, /run and /etc. The accounts
# onejob and www-data are two that every Debian has; what needs no root is done as the first. All that runs beside is a database.

load stack
load front

setup_file() {
	TOP=$(cd "${srcdir:-.}" && pwd -P)
	REAL=$(mktemp -d "${TMPDIR:-/tmp}/oj.XXXXXX")
	ONEJOB_BUILD=${ONEJOB_BUILD:-$PWD}
	export TOP REAL ONEJOB_BUILD
	export PATH="$REAL/usr/local/bin:$REAL/usr/local/sbin:$PATH:/usr/sbin:/sbin"
	unset ONEJOB_DEFAULTS_FILE ONEJOB_API_SOCKET ONEJOB_URL
	mkdir -p "$REAL/db/log" "$REAL/db/tmp" "$REAL/etc/nginx"
	chmod 755 "$REAL"
	cp "$TOP/tests/support/fcgi.pl" "$REAL/fcgi.pl"	# where every account can read it
	of_stack
	start_mariadbd 3>&-
	make -C "$ONEJOB_BUILD" install DESTDIR="$REAL" prefix=/usr/local >"$REAL/installed" 2>&1 3>&- ||
		{ cat "$REAL/installed" >&2; return 1; }
}

teardown_file() {
	of_stack
	api_stop
	[ ! -s "$REAL/poller.pid" ] || kill "$(cat "$REAL/poller.pid")" 2>/dev/null || true
	part_stop mariadbd 60
	rm -rf "$REAL"
}

# The words that start a part of a stack.
of_stack() {
	top=$TOP build=$ONEJOB_BUILD dir=$REAL/db workers=1 pollers=1
	# shellcheck source=tests/support/daemons.sh
	. "$TOP/tests/support/daemons.sh"
	# shellcheck source=tests/support/stack.sh
	. "$TOP/tests/support/stack.sh"
}

section() { awk '/^#/ { on = $0 == "## Run it for real" } on' "$TOP/README.md"; }

# typed PATTERN: the commands of a block whose first lines match it, to the block's end.
typed() { section | awk -v pattern="$1" '!/^    / { on = 0; next } { sub(/^ +/, "") } $0 ~ pattern { on = 1 } on' | here; }

# said PATTERN: the command that stands between backticks in the text.
said() { section | grep -oE "\`$1[^\`]*\`" | head -n 1 | tr -d '`' | here; }

here() {
	sed -E -e "s,(^|[^a-z])/(usr/local|run/onejob|etc)/,\1$REAL/\2/,g" -e "s,/run/onejob$,$REAL/run/onejob," \
		-e 's,-([ouU]) onejob,-\1 nobody,g' -e 's,-g onejob,-g nogroup,g'
}

# as ACCOUNT GROUP COMMAND...: from root. Anybody else is who it is.
as() {
	if [ "$(id -u)" = 0 ]; then
		setpriv --reuid="$1" --regid="$2" --clear-groups "${@:3}"
	else
		"${@:3}"
	fi
}

programs() { ONEJOB_DEFAULTS_FILE=$REAL/etc/onejob/my.cnf as nobody nogroup "$@"; }

# The file that was copied there, with the lines in use that it has for an account with a password.
option_file() { # NAME USER
	sed -i -e "s,^socket=.*,socket=$REAL/db/mariadbd.sock," -e 's/^#\(user\|password\)=/\1=/' "$REAL/etc/onejob/$1"
	is 'who' "$(sed -n 's/^user=//p' "$REAL/etc/onejob/$1" | tail -n 1)" "$2"
	grep -x 'database=onejob' "$REAL/etc/onejob/$1"
}

sql_of() { mariadb --no-defaults --user="$(id -un)" --socket="$REAL/db/mariadbd.sock" -N ${1:+-e "$1"}; }	# [STATEMENT]

api_processes() { find /proc/[0-9]*/exe -maxdepth 0 -lname "$REAL/usr/local/sbin/onejob-api*" 2>/dev/null | cut -d/ -f3; }
api_number() { [ "$(api_processes | wc -l)" = "$1" ]; }

api_stop() {
	[ ! -s "$REAL/watch.pid" ] || kill "$(cat "$REAL/watch.pid")" 2>/dev/null || true
	wait_for 20 api_number 0
}

asks() { # ACCOUNT GROUP URI [NAME=VALUE...]: the status is that of the answer, or of the connection
	as "$1" "$2" perl "$REAL/fcgi.pl" call "$REAL/run/onejob/api.sock" REQUEST_METHOD=GET "REQUEST_URI=$3" CONTENT_LENGTH=0 \
		"${@:4}" </dev/null 2>&1 3>&- | grep -aq '^Status: 200'
}

@test "the command by which README has packages installed names all that ./run installs" {
	local line

	line=$(section | grep -E '^    bash -c .*packages')
	cd "$TOP"
	run -0 bash -c "$line"
	is 'what is missing' "$output" ''
	run -0 bash -c "${line/install_missing/printf '%s\\n'}"
	for name in libfcgi-dev libmariadb-dev nginx spawn-fcgi multiwatch openssl; do
		has 'what is installed' "^$name\$" "$output"
	done
}

@test "make install puts everything where README says, and the nginx folder can be copied from there" {
	local line

	line=$(typed '^autoreconf' | tail -n 1)
	is 'the last step' "$line" 'make install'	# what comes before is how this build was made
	has 'the command' 'It puts `onejob` into `/usr/local/bin`, `onejob-api` and `onejob-poller` into `/usr/local/sbin`' "$(section)"
	test -x "$REAL/usr/local/bin/onejob"
	test -x "$REAL/usr/local/sbin/onejob-api"
	test -x "$REAL/usr/local/sbin/onejob-poller"
	is 'migrations' "$(ls "$REAL/usr/local/share/onejob/sql")" "$(cd "$TOP/sql" && ls -- *.sql)"
	has 'manuals and units' "manuals, and systemd's units for an account \`onejob\` into \`/usr/local/lib\`" "$(section | tr '\n' ' ' | tr -s ' ')"
	is 'manuals' "$(cd "$REAL/usr/local/share/man" && find . -type f | sort)" "$(cd "$TOP/man" && for page in *; do echo "./man${page##*.}/$page"; done | sort)"
	is 'units' "$(ls "$REAL/usr/local/lib/systemd/system")" "$(cd "$TOP/systemd" && printf '%s\n' *.service.in *.socket *.target | sed 's/\.in$//' | sort)"
	is 'what they start' "$(sed -n 's/^ExecStart=//p' "$REAL"/usr/local/lib/systemd/system/*.service | cut -d' ' -f1)" $'/usr/local/sbin/onejob-api\n/usr/local/sbin/onejob-poller'
	test -s "$REAL/usr/local/lib/sysusers.d/onejob.conf"
	is 'what they read' "$(ls "$REAL/usr/local/share/onejob/etc")" $'migrate.cnf\nmy.cnf\nonejob.env'
	is 'what each unit reads' "$(grep -hE '^Environment(File)?=' "$REAL"/usr/local/lib/systemd/system/*.service | sort -u | sed 's/^[^=]*=-*//')" \
		"$(cd "$REAL/usr/local/share/onejob/etc" && etc=$(sed -n 's,^ONEJOB_DEFAULTS_FILE=\(.*\)/my.cnf$,\1,p' onejob.env) &&
			printf '%s\n' "ONEJOB_DEFAULTS_FILE=$etc/my.cnf" "$etc/onejob.env" "$etc/secrets.env")"
	is 'placeholders' "$(grep -rhoE '@[a-z]+@' "$REAL/usr/local")" ''
	line=$(said 'cp -r')
	is 'the copy' "$line" "cp -r $REAL/usr/local/share/onejob/nginx $REAL/etc/nginx/onejob"
	eval "$line"
	is 'what nginx has' "$(ls "$REAL/etc/nginx/onejob")" "$(ls "$TOP/nginx")"
}

@test "make uninstall leaves what was there before, and no folder of its own" {
	local to=$BATS_TEST_TMPDIR/to share=usr/local/share/onejob

	to_here() { make -s -C "$ONEJOB_BUILD" "$1" DESTDIR="$to" prefix=/usr/local 3>&-; }
	to_here install
	echo mine >"$to/$share/nginx/mine.conf"
	to_here uninstall
	is 'files' "$(cd "$to" && find . ! -type d)" "./$share/nginx/mine.conf"
	is 'folders' "$(cd "$to" && find . -path '*onejob*' -type d)" "./$share"$'\n'"./$share/nginx"
	rm "$to/$share/nginx/mine.conf"
	to_here uninstall
	is 'nothing' "$(cd "$to" && find . -path '*onejob*')" ''
	test -d "$to/usr/local/lib/systemd/system"	# others have theirs there
	to_here uninstall
}

@test "the accounts that README makes are enough: one migrates and the other works, both as nobody in particular" {
	is 'the account' "$(typed '^adduser' | head -n 1)" 'adduser --system --group --no-create-home onejob'
	typed '^adduser' | tail -n +2 >"$REAL/copy"
	is 'the copies' "$(wc -l <"$REAL/copy")" 3
	[ "$(id -u)" = 0 ] || sed -i 's/ -g nogroup / /' "$REAL/copy"
	sh -e "$REAL/copy"
	is 'modes' "$(cd "$REAL/etc/onejob" && stat -c '%n %a' ./*)" $'./migrate.cnf 600\n./my.cnf 640\n./onejob.env 640'
	typed '^CREATE DATABASE' >"$REAL/accounts.sql"
	is 'statements' "$(grep -c ';$' "$REAL/accounts.sql")" 5
	sql_of <"$REAL/accounts.sql"
	option_file my.cnf onejob
	option_file migrate.cnf onejob_migrate
	typed '^ONEJOB_DEFAULTS_FILE=.* onejob migrate' >"$REAL/first"
	is 'what is typed' "$(wc -l <"$REAL/first")" 2
	run -3 programs onejob migrate
	has 'why' 'CREATE command denied' "$output"
	sh -e "$REAL/first" >"$REAL/said"
	has 'the schema' '^the schema is at' "$(cat "$REAL/said")"
	tail -n 1 "$REAL/said" >"$REAL/token"
	is 'its bytes' "$(sql_of "SELECT CONCAT(collation_name, ' ', character_set_name) FROM information_schema.schemata s
		JOIN information_schema.collations c ON c.collation_name = s.default_collation_name WHERE schema_name = 'onejob'")" \
		'utf8mb4_bin utf8mb4'
	run -0 programs onejob doctor
	has 'rights' '^ok +rights +may read and write' "$output"
	has 'from cron' '`onejob-poller` claims and sends; .* `--for 55`' "$(section)"
	run -0 programs onejob-poller --for 1
	has 'it came to its end' 'poller.end' "$output"
}

@test "the API that README starts is nobody's own, answers nginx's account and no other, and goes on when a process dies" {
	[ "$(id -u)" = 0 ] || skip 'the folder and the accounts of a socket are made by root'
	eval "$(typed '^install -d .*/run/onejob' | head -n 1)"
	is 'the folder' "$(stat -c '%U:%G %a' "$REAL/run/onejob")" 'nobody:www-data 750'
	typed '^set -a' >"$REAL/start"
	is 'the start' "$(wc -l <"$REAL/start")" 4
	sed -i -e "s,^ONEJOB_DEFAULTS_FILE=.*,ONEJOB_DEFAULTS_FILE=$REAL/etc/onejob/my.cnf," "$REAL/etc/onejob/onejob.env"
	{ sed -n '1p' "$REAL/start"; echo 'echo $$ >"$REAL/watch.pid"'; sed -n '2s/^/exec /; 2,3p' "$REAL/start"; } >"$REAL/api"
	sed -n '1p;4s/^/exec /p' "$REAL/start" | sed 's/=onejob/=nobody/g; s/regid=nobody/regid=nogroup/' >"$REAL/poller"
	bash "$REAL/api" >"$REAL/api.log" 2>&1 3>&- </dev/null &
	wait_for 30 asks www-data www-data /readyz || { cat "$REAL/api.log" >&2; return 1; }
	asks www-data www-data /v1/jobs "HTTP_AUTHORIZATION=Bearer $(cat "$REAL/token")"
	no asks daemon daemon /readyz
	wait_for 20 api_number 2
	is 'whose they are' "$(for pid in $(api_processes); do stat -c %U "/proc/$pid"; done | sort -u)" nobody
	ONEJOB_API_SOCKET=$REAL/run/onejob/api.sock run -0 programs onejob doctor
	has 'the socket' '^ok +API socket .* it is nobody:www-data, mode 0660' "$output"
	kill -9 "$(api_processes | head -n 1)"
	for _ in 1 2 3 4 5; do
		asks www-data www-data /readyz
	done
	wait_for 20 api_number 2
	bash "$REAL/poller" >"$REAL/poller.log" 2>&1 3>&- </dev/null &
	poller=$!
	echo $poller >"$REAL/poller.pid"
	wait_for 20 grep 'poller.start' "$REAL/poller.log"
	is 'who it is' "$(stat -c %U "/proc/$poller")" nobody
	kill "$poller"
	wait "$poller"
	rm "$REAL/poller.pid"
}
