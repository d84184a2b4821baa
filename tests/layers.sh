#!/usr/bin/env bash
# The floors: an arrow is the only permitted include, and floors on one line never include each other.
#   api - poller - ctl  ->  store - provider  ->  core  ->  base
# TAP, one line a rule. With a folder as argument it checks that tree instead (the test of this test).
set -u
top=${1:-${srcdir:-.}}
cd "$top" || exit 1
n=0 failed=0

report() { # NAME OFFENDERS
	n=$((n + 1))
	if [ -z "$2" ]; then
		echo "ok $n - $1"
	else
		failed=1
		echo "not ok $n - $1"
		printf '%s\n' "$2" | sed 's/^/# /'
	fi
}

floor() { # FOLDER PERMITTED
	report "$1 includes only $2" "$(grep -HnE '^#include "' src/"$1"/*.[ch] | grep -vE "\"($2)/|\"migrations\.inc\"")"
}

only() { # HEADERS FOLDERS
	report "<$1> only in $2" "$(grep -rnE "^#include <($1)" src --include='*.[ch]' | grep -vE "^src/($2)/")"
}

floor base 'base'
floor core 'core|base'
floor store 'store|core|base'
floor provider 'provider|core|base'
floor api 'api|store|core|base'
floor poller 'poller|store|provider|core|base'
floor ctl 'ctl|store|core|base'
only 'mysql|errmsg|mysqld_error' store
only 'curl/' 'provider|poller'
only 'fcgi' api
only 'uv\.h' poller
only 'libsmartcols' ctl
report '<pcre2.h> only in core/pattern.c' "$(grep -rnE '^#include <pcre2' src --include='*.[ch]' | grep -v '^src/core/pattern\.c:')"
report 'core does no I/O' "$(grep -HnE '"base/(log|conf|clock)\.h"|<(time|unistd|sys/[a-z]+|fcntl|pthread)\.h>' src/core/*.[ch])"
report 'SQL only in the table of statements and the session of db.c' "$(
	grep -HnE '"(SELECT|INSERT|UPDATE|DELETE|REPLACE|ALTER|CREATE|DROP) ' src/*/*.c | grep -vE '^src/store/(sql\.c:|db\.c:[0-9]+:.*@@SESSION)')"
report 'no header includes itself by way of others' "$(
	grep -HoE '^#include "[^"]+"' src/*/*.h | sed -E 's|^src/([^:]+):#include "([^"]+)"|\1 \2|' | tsort 2>&1 >/dev/null)"
report 'every #include "..." names its folder' "$(grep -HnE '^#include "[^/"]+"' src/*/*.[ch] | grep -v migrations.inc)"
report 'no mutable static state in api and store' "$(
	grep -HnE '^(	)?static ([a-z0-9_]+ )*[a-z0-9_]+ \**[a-z0-9_]+(\[[^]]*\])*( =|;)' src/api/*.c src/store/*.c | grep -vE 'static (const|struct [a-z_]+ \*const|enum rc|.*\bconst\b)')"
echo "1..$n"
exit $failed
