# shellcheck shell=bash
# Pages whose commands are typed by a test. `load page`.

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
		!/^    / { typed = quoted = 0; next }
		{ sub(/^    /, "") }
		/^#> / { print "has " NR " " literal(substr($0, 4)); next }
		/^["{ ]/ && !goes_on { next }
		!typed { print "exec >\"$said\" 2>&1" }
		!goes_on { print "trap \"failed " NR " status\" ERR" }
		gsub(quote, "&") % 2 { quoted = !quoted }
		{ typed = 1; goes_on = quoted || /[\\|]$/; print }
	' "$1"
}

section_of() { # PAGE HEADING
	awk -v heading="$2" '/^#/ { on = $0 == heading } on' "$1"
}
