# shellcheck shell=bash
# What ./run and ./check need from Debian, and how to install what is missing. Sourced by both; run as root by itself
# through sudo (`bash .ci/packages.sh install NAME...`) when they aren't.
#
# Nothing here enables or starts a service, and no package is removed to make room for another.

# shellcheck disable=SC2034 # read by those who source this
RUN_PACKAGES=(
	build-essential autoconf automake pkg-config
	libfcgi-dev libmariadb-dev libjson-c-dev libcurl4-openssl-dev libssl-dev libuv1-dev libsmartcols-dev libpcre2-dev
	mariadb-server-core mariadb-client-core nginx spawn-fcgi multiwatch curl
	ca-certificates openssl	# for providers and webhooks with https; for keys
)
# shellcheck disable=SC2034
CHECK_PACKAGES=(clang clang-format libclang-rt-14-dev libcmocka-dev bats jq shellcheck faketime perl spin mandoc groff-base systemd
	libapache2-mod-fcgid	# which brings apache2-bin, the program; the service is another package
	galera-4 rsync iproute2 procps mariadb-server)	# the last for the script by which one node gives another its data
# shellcheck disable=SC2034
PACKAGE_PACKAGES=(debhelper lintian mariadb-server dbus iproute2 procps man-db)

# Where node and npm are from elsewhere, Debian's aren't needed, and may not go with them.
command -v node >/dev/null || CHECK_PACKAGES+=(nodejs)
command -v npm >/dev/null || CHECK_PACKAGES+=(npm)

PACKAGES_SCRIPT=${BASH_SOURCE[0]}

# installed NAME...: those of them that are, one a line.
installed() {
	dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null | sed -n 's/^installed //p'
}

package_installed() {
	[ -n "$(installed "$1")" ]
}

# install_missing NAME...: asks for sudo only if something is missing and we aren't root.
install_missing() {
	local name here missing=()

	command -v dpkg-query >/dev/null || { echo "This is not Debian: make sure that these are here: $*" >&2; return 0; }
	here=" $(installed "$@" | tr '\n' ' ')"
	for name in "$@"; do
		[[ $here == *" $name "* ]] || missing+=("$name")
	done
	[ ${#missing[@]} -gt 0 ] || return 0

	echo "Installing from Debian: ${missing[*]}"
	if [ "$(id -u)" = 0 ]; then
		bash "$PACKAGES_SCRIPT" install "${missing[@]}"
	elif command -v sudo >/dev/null; then
		echo "This needs root, so sudo may ask for your password."
		sudo bash "$PACKAGES_SCRIPT" install "${missing[@]}"
	else
		echo "This needs root and there is no sudo. As root: bash $PACKAGES_SCRIPT install ${missing[*]}" >&2
		return 1
	fi
}

POLICY=/usr/sbin/policy-rc.d
POLICY_ASIDE=/usr/sbin/policy-rc.d.before-onejob

# While packages are set up, invoke-rc.d is told by this file that no service may start, stop or restart. One that is
# there already and says so is left alone; another is put aside for the time.
deny_services() {
	[ ! -e "$POLICY_ASIDE" ] || allow_services	# an earlier install was killed
	if [ -x "$POLICY" ] && [ "$(policy_answer)" = 101 ]; then
		return 0
	fi
	[ ! -e "$POLICY" ] || mv "$POLICY" "$POLICY_ASIDE"
	printf '#!/bin/sh\n# put here by onejob while it installs packages\nexit 101\n' >"$POLICY"
	chmod 755 "$POLICY"
}

policy_answer() {
	local answer=0

	"$POLICY" nginx start >/dev/null 2>&1 || answer=$?
	echo "$answer"
}

allow_services() {
	if [ -e "$POLICY" ] && grep -q 'put here by onejob' "$POLICY"; then
		rm -f "$POLICY"
	fi
	[ ! -e "$POLICY_ASIDE" ] || mv "$POLICY_ASIDE" "$POLICY"
}

# Debian enables these services for the next boot when it installs their packages. We want the programs only. `systemctl enable --now
# nginx` is all it takes to have the service after all. An upgrade of the package keeps a service that was disabled disabled.
declare -A PACKAGE_OF=([nginx]=nginx-common [mariadb]=mariadb-server [rsync]=rsync)
declare -A had=()	# by service: its package was there before

disable_service() {
	rm -f "/etc/systemd/system/multi-user.target.wants/$1.service"
	if command -v update-rc.d >/dev/null; then
		update-rc.d "$1" disable >/dev/null 2>&1 || true	# says so where there is no such script
	fi
}

# Whatever becomes of the installation: services may start again as before, and none is one that this brought.
leave_as_found() {
	local service

	allow_services
	for service in "${!PACKAGE_OF[@]}"; do
		if [ -z "${had[$service]-}" ] && package_installed "${PACKAGE_OF[$service]}"; then
			disable_service "$service"
		fi
	done
}

install_as_root() {
	local service

	for service in "${!PACKAGE_OF[@]}"; do
		! package_installed "${PACKAGE_OF[$service]}" || had[$service]=yes
	done
	trap leave_as_found EXIT
	trap 'exit 130' HUP INT TERM
	deny_services
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -qq
	apt-get install -y -qq --no-install-recommends --no-remove "$@"
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
	set -eu
	if [ "${1-}" != install ] || [ $# -lt 2 ]; then
		echo "usage: packages.sh install NAME..." >&2
		exit 2
	fi
	shift
	install_as_root "$@"
fi
