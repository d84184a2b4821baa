#!/usr/bin/env bash
# shellcheck disable=SC2317 # the tests are called by report
# The systemd units and the package's files, as far as they can be judged without a systemd that runs and without a build: that is
# tests/deb/package.bats. TAP. With a folder as argument it reads the units from that tree.
set -u
build=${ONEJOB_BUILD:-$PWD}
here=$(cd "${srcdir:-.}" && pwd -P)
cd "${1:-$here}" || exit 1
work=$(mktemp -d "${TMPDIR:-/tmp}/oj.XXXXXX")
trap 'rm -rf "$work"' EXIT
n=0 failed=0

report() { # NAME COMMAND...: its output matters only if it fails
	local output

	n=$((n + 1))
	if output=$("${@:2}" 2>&1); then
		echo "ok $n - $1"
	else
		failed=1
		echo "not ok $n - $1"
		printf '%s\n' "$output" | sed 's/^/# /'
	fi
}

skip() { # NAME WHY
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}

# As they are installed, with the programs of this build.
lay_units() {
	local unit

	cp systemd/onejob.target systemd/onejob-api.socket "$work"
	for unit in onejob-api@ onejob-poller@; do
		sed "s,@sbindir@,$build,; s,@sysconfdir@,/etc,g" "systemd/$unit.service.in" >"$work/$unit.service"
	done
}

verified() {
	local output

	output=$(cd "$work" && SYSTEMD_UNIT_PATH="$work:" systemd-analyze verify --man=no ./onejob.target ./onejob-api.socket \
		./onejob-api@1.service ./onejob-poller@1.service 2>&1) && [ -z "$output" ] && return 0
	echo "$output"
	return 1
}

# Ten times the exposure that systemd-analyze tells: 0 is safe, 100 isn't.
fenced() { # UNIT
	systemd-analyze security --offline=true --no-pager --threshold=11 "$work/$1@.service"
}

sandbox() { # UNIT
	sed -n '/^NoNewPrivileges/,/^$/p' "systemd/$1@.service.in" | grep -v '^#'
}

same_fence() {
	diff <(sandbox onejob-api) <(sandbox onejob-poller)
}

longer_than_grace() {
	local grace patience

	grace=$(ONEJOB_DEFAULTS_FILE=/nonexistent "$build/onejob" doctor 2>/dev/null | sed -nE 's/^ONEJOB_GRACE_SECONDS=.*default ([0-9]+)\).*/\1/p')
	patience=$(sed -n 's/^TimeoutStopSec=//p' systemd/onejob-poller@.service.in)
	echo "grace $grace s, patience $patience s"
	[ "$patience" -ge $((grace + 60)) ]
}

activated() {
	local answer api

	systemd-socket-activate --inetd -l "$work/api.sock" \
		-E ONEJOB_DEFAULTS_FILE=/nonexistent "$build/onejob-api" 2>"$work/api.log" &
	api=$!
	until [ -S "$work/api.sock" ] || ! kill -0 "$api"; do sleep 0.02; done
	answer=$(perl "$here/tests/support/fcgi.pl" call "$work/api.sock" REQUEST_METHOD=GET REQUEST_URI=/healthz </dev/null)
	kill "$api"
	wait "$api"
	echo "$answer"
	[[ $answer == 'Status: 200'* ]]
}

one_version() {
	local changelog

	changelog=$(sed -nE '1s/.*\(([^)]*)\).*/\1/p' debian/changelog)
	echo "debian/changelog has $changelog"
	[ "onejob $changelog" = "$("$build/onejob" --version)" ]
}

# As dh_installdocs lays them, each entry into one folder.
docs_are_whole() {
	local output

	mkdir "$work/docs"
	# shellcheck disable=SC2046 # a word each
	cp -r $(cat debian/onejob.docs) "$work/docs" && output=$(bash "$here/tests/deb/links.sh" "$work/docs") && [ -z "$output" ] && return 0
	echo "$output"
	return 1
}

lay_units
if command -v systemd-analyze >/dev/null; then
	report 'systemd finds nothing wrong with the units' verified
	report 'an API instance is exposed to no more than it needs' fenced onejob-api
	report 'a poller is exposed to no more than it needs' fenced onejob-poller
else
	for name in 'systemd finds nothing wrong' 'an API instance is' 'a poller is'; do skip "$name" 'there is no systemd-analyze here'; done
fi
report 'the API and the poller have the same fence' same_fence
report 'systemd waits longer than a poller does' longer_than_grace
if command -v systemd-socket-activate >/dev/null; then
	report 'the API answers on a socket that systemd has opened' activated
else
	skip 'the API answers on a socket that systemd has opened' 'there is no systemd-socket-activate here'
fi
report 'the package has the version of the programs' one_version
report 'what the pages in the package link to is in it' docs_are_whole
echo "1..$n"
exit $failed
