#!/usr/bin/env bats
# shellcheck disable=SC2016,SC2030,SC2031,SC2034 # dir and top are stack.sh's; each test has its own environment
# What ./run remembers of the settings it was given, and what it tells nginx. Nothing is started here but nginx.

bats_require_minimum_version 1.5.0

setup() {
	top=$(cd "${srcdir:-.}" && pwd -P)
	dir=$BATS_TEST_TMPDIR
	port=1
	mkdir -p "$dir/log" "$dir/tmp"
	# shellcheck source=tests/support/daemons.sh
	. "$top/tests/support/daemons.sh"
	# shellcheck source=tests/support/stack.sh
	. "$top/tests/support/stack.sh"
	unset "${SETTINGS[@]}"
}

start_over() { # as a new shell would
	unset "${SETTINGS[@]}"
}

@test "a setting that isn't given anew is as it was, one that is counts, and nothing forgets it" {
	ONEJOB_CALLBACK_URL='https://a.example/x y=$(touch owned)' ONEJOB_WEBHOOK_PRIVATE=1 ONEJOB_POLL_MS=20 keep_environment
	[ "$(stat -c %a "$dir/environment")" = 600 ]
	start_over
	export ONEJOB_POLL_MS=30 ONEJOB_WEBHOOK_PRIVATE=
	recall_environment
	[ "$ONEJOB_CALLBACK_URL" = 'https://a.example/x y=$(touch owned)' ]
	[ "$ONEJOB_POLL_MS" = 30 ]
	[ -z "${ONEJOB_WEBHOOK_PRIVATE+set}" ]
	keep_environment
	start_over
	recall_environment
	[ "$(env | grep -c '^ONEJOB_\(POLL_MS=30\|CALLBACK_URL=https://a.example/x y=\)')" = 2 ]
	[ -z "${ONEJOB_WEBHOOK_PRIVATE+set}" ]
}

@test "DIR/env has the stack's settings as they are, whatever is in them, and a shell that has read it takes them to no other stack" {
	export ONEJOB_CALLBACK_KEYS="/a b'\$(touch owned)" ONEJOB_POLL_MS=20
	keep_environment
	settings_as_shell >"$dir/env"
	start_over
	export ONEJOB_THREADS=3
	# shellcheck disable=SC1091
	. "$dir/env"
	[ "$(env | grep '^ONEJOB_\(POLL\|CALL\|THR\)' | sort)" = "ONEJOB_CALLBACK_KEYS=/a b'\$(touch owned)"$'\nONEJOB_POLL_MS=20' ]
	export ONEJOB_STACK=$dir ONEJOB_POLL_MS=21
	ignore_other_stack
	[ "$ONEJOB_CALLBACK_KEYS" = "/a b'\$(touch owned)" ]
	dir=$BATS_TEST_TMPDIR/two
	ignore_other_stack
	[ -z "${ONEJOB_CALLBACK_KEYS+set}" ]
	[ "$ONEJOB_POLL_MS" = 21 ]	# given anew
}

@test "an option's value may follow a blank or =, and what it may be is told" {
	run -2 "$top/run" --port=x --dir "$dir/none"
	[[ $output == *"--port needs a number, not 'x'"* ]]
	for port in 0 65536 99999999 99999999999999999999; do
		run -2 "$top/run" --port $port --dir "$dir/none"
		[[ $output == *"--port goes from 1 to 65535, not $port"* ]]
	done
	run -2 "$top/run" --workers=0 --dir="$dir/none"
	[[ $output == *'--workers goes from 1 to 256, not 0'* ]]
	run -2 "$top/run" --detach=1
	[[ $output == *'--detach takes no value'* ]]
	run -2 "$top/run" --ports=1
	[[ $output == *"there is no option '--ports'"* ]]
	[ ! -e "$dir/none" ]
}

@test "every setting is remembered but the database, the socket and the address, which are the folder's own" {
	for name in $(grep -oE '^[[:space:]]+\{ "ONEJOB_[A-Z_]+",' "$top/src/base/conf.c" | tr -d '{ \t",'); do
		case $name in
		ONEJOB_DEFAULTS_FILE | ONEJOB_API_SOCKET | ONEJOB_URL) continue ;;
		esac
		is_setting "$name" || { echo "$name would be forgotten"; return 1; }
	done
}

@test "nginx takes as large a body as the API does" {
	PATH=$PATH:/usr/sbin:/sbin
	for most in '' 5000000 '1; deny all'; do
		ONEJOB_MAX_BODY=$most write_nginx_conf
		nginx -t -c "$dir/nginx.conf" 2>"$dir/said" || { cat "$dir/said"; return 1; }
		case $most in
		5000000) grep -q '^[[:space:]]*client_max_body_size 5000000;' "$dir/nginx.conf" ;;
		*) grep -q '^[[:space:]]*client_max_body_size 1m;' "$dir/nginx.conf" ;;
		esac
	done
}
