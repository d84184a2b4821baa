#!/usr/bin/env bats
# What the pages in doc/ tell people to type does what they say. Indented lines are typed, one section after the other, by one
# shell; a line "#> words" must be part of what the commands above it in that block have said.

load stack

setup_file() {
	export ONEJOB_GRACE_SECONDS=1 ONEJOB_POLL_MS=20
	stack_up --workers 4
	export WALK=$BATS_FILE_TMPDIR/walk
	mkdir -p "$WALK"
	ln -s "$TOP/doc" "$WALK/doc"
	ln -s "$STACK" "$WALK/var"
	printf '#!/bin/sh\nexec "%s/run" "$@" --dir "%s"\n' "$TOP" "$STACK" >"$WALK/run"
	chmod +x "$WALK/run"
}

teardown_file() {
	stack_down
}

# A page as a script: each block of commands with its output in $said, and behind it what must be in there. JSON that is only shown
# begins with a quotation mark or a brace.
script_of() { # PAGE
	printf 'said=%q\n' "$BATS_TEST_TMPDIR/said"
	cat <<-'SH'
		exec 3>&2 </dev/null
		failed() { printf '%s, line %s:\n' "$2" "$1" >&3; cat "$said" >&3; exit 1; }
		has() { grep -qF -- "$2" "$said" || failed "$1" "no <$2>"; }
	SH
	awk -v quote="'" '
		function literal(text) { gsub(quote, quote "\\" quote quote, text); return quote text quote }
		!/^    / { typed = 0; next }
		{ sub(/^    /, "") }
		/^#> / { print "has " NR " " literal(substr($0, 4)); next }
		/^["{ ]/ && !goes_on { next }
		!typed { print "exec >\"$said\" 2>&1" }
		!goes_on { print "trap \"failed " NR " status\" ERR" }
		{ typed = 1; goes_on = /\\$/; print }
	' "$1"
}

@test "the walk through contracts does what the page says" {
	script_of "$TOP/doc/contracts.md" >"$BATS_TEST_TMPDIR/script"
	is 'commands of it' "$(($(grep -c '^onejob \|^curl \|^job=\|^printf .*provider put' "$BATS_TEST_TMPDIR/script") > 20))" 1
	(cd "$WALK" && timeout 120 bash "$BATS_TEST_TMPDIR/script" 3>&-)
}
