# shellcheck shell=bash
# A machine for one test: this machine's root file system with an overlay in memory over it, in namespaces of its own (mounts, processes,
# network, names, cgroups), and a systemd that has booted there. Nothing that happens in it is seen from outside. Needs root.

# machine_missing: why there can't be one; nothing if there can.
machine_missing() {
	local tool

	[ "$(id -u)" = 0 ] || { echo 'this needs root'; return; }
	for tool in unshare nsenter setpriv systemctl dbus-daemon; do
		command -v "$tool" >/dev/null || { echo "there is no $tool here"; return; }
	done
	grep -qw overlay /proc/filesystems || { echo 'the kernel has no overlayfs'; return; }
	unshare -mpCuin --fork mount -t tmpfs none /mnt 2>/dev/null || echo 'namespaces and mounts are not permitted here'
}

# Runs as the first process of the new namespaces, and becomes systemd. $1: an empty folder.
machine_boot() {
	local at=$1 node

	mount -t tmpfs -o mode=755 tmpfs "$at"
	mkdir "$at/upper" "$at/work" "$at/root"
	mount -t overlay overlay -o "lowerdir=/,upperdir=$at/upper,workdir=$at/work" "$at/root"
	cd "$at/root" || return
	mount -t proc proc proc
	mount --bind proc/sys proc/sys
	mount -o remount,bind,ro proc/sys
	mount -t sysfs -o ro sysfs sys
	mount -t cgroup2 cgroup2 sys/fs/cgroup
	mount -t tmpfs -o mode=755 tmpfs dev
	for node in null zero full random urandom tty; do
		: >"dev/$node"
		mount --bind "/dev/$node" "dev/$node"
	done
	mkdir dev/pts dev/shm
	mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts dev/pts
	ln -s pts/ptmx dev/ptmx
	ln -s /proc/self/fd dev/fd
	mount -t tmpfs shm dev/shm
	mount -t tmpfs -o mode=755 tmpfs run
	mount -t tmpfs -o mode=1777 tmpfs tmp
	ip link set lo up
	machine_trim "$at/root"
	pivot_root . mnt
	umount -l /mnt
	mount --make-rshared /	# systemd mounts credentials in a namespace of its own
	exec setpriv --bounding-set=-sys_module,-sys_time,-sys_rawio,-syslog,-mknod,-wake_alarm,-sys_boot \
		env -i container=oj PATH=/usr/sbin:/usr/bin:/sbin:/bin \
		/lib/systemd/systemd --unit=oj.target --log-target=journal --show-status=no </dev/null
}

# Only what the test is about is started, and nothing of this machine's own.
machine_trim() { # ROOT
	local root=${1:?}

	rm -rf "$root"/etc/systemd/system/*.wants "$root/etc/machine-id" "$root/var/log/journal" "$root/usr/sbin/policy-rc.d"
	systemd-id128 new >"$root/etc/machine-id"
	rm -rf "$root"/var/lib/apt/lists/*	# no network: what is installed is the newest that apt can know of
	printf '[Unit]\nRequires=dbus.socket systemd-journald.socket\nAfter=dbus.socket systemd-journald.socket\nAllowIsolate=yes\n' \
		>"$root/etc/systemd/system/oj.target"
	ln -sf /dev/null "$root/etc/systemd/system/timers.target"
}

# machine_start FOLDER: $MACHINE is its first process's id out here.
machine_start() {
	local group

	mkdir -p "$1/at"
	group=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	group=${group:+$group/oj-$$-${1##*/}}
	[ -z "$group" ] || mkdir -p "$group" 2>/dev/null || group=	# so that the machine sees no group but its own
	(
		[ -z "$group" ] || echo "$BASHPID" >"$group/cgroup.procs"
		exec unshare -mpCuin --fork --kill-child --propagation private bash -euc '. "$1"; machine_boot "$2"' \
			machine "${BASH_SOURCE[0]}" "$1/at" >"$1/boot.log" 2>&1 3>&-
	) &
	MACHINE_HOLDER=$!
	MACHINE_GROUP=$group
	until MACHINE=$(pgrep -P "$MACHINE_HOLDER"); do	# that one has no other child
		kill -0 "$MACHINE_HOLDER" || { cat "$1/boot.log" >&2; return 1; }
	done
	export MACHINE MACHINE_HOLDER MACHINE_GROUP
	until on_machine systemctl is-system-running --wait >/dev/null 2>&1; do
		kill -0 "$MACHINE_HOLDER" || { cat "$1/boot.log" >&2; return 1; }
		sleep 0.1
	done
}

machine_stop() {
	kill -KILL "$MACHINE_HOLDER" 2>/dev/null || true
	wait "$MACHINE_HOLDER" 2>/dev/null || true
	[ -z "$MACHINE_GROUP" ] || until find "$MACHINE_GROUP" -depth -type d -exec rmdir {} + 2>/dev/null; do sleep 0.1; done
}

on_machine() { # COMMAND...
	nsenter -t "$MACHINE" -m -p -C -u -i -n -- env -i HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
		PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
}
