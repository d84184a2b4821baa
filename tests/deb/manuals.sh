#!/usr/bin/env bash
# The manuals say what the programs and the source say, and nothing else. TAP. With a folder as argument it reads the manuals and
# the settings file from that tree.
set -u
build=${ONEJOB_BUILD:-$PWD}
cd "${1:-${srcdir:-.}}" || exit 1
n=0 failed=0

report() { # NAME DIFFERENCES
	n=$((n + 1))
	if [ -z "$2" ]; then
		echo "ok $n - $1"
	else
		failed=1
		echo "not ok $n - $1"
		printf '%s\n' "$2" | sed 's/^/# /'
	fi
}

# same NAME SAID MEANT: lines in any order; < is missing in the manual, > stands only there.
same() {
	if [ -z "$3" ]; then
		report "$1" "nothing was found to compare with"
	else
		report "$1" "$(diff <(sort -u <<<"$3") <(sort -u <<<"$2") | grep '^[<>]')"
	fi
}

commands_of_help() {
	"$build/onejob" --help | sed -nE 's/^  ([a-z]+( [a-z]+)?) +[A-Z].*/\1/p'
}

# "noun verb", and "noun verb --option" for each; --help and --json are everybody's.
options_of_help() {
	local command words

	while read -r command; do
		read -r -a words <<<"$command"
		echo "$command"
		"$build/onejob" "${words[@]}" --help | sed -nE "s/^  (--[a-z-]+) .*/$command \1/p" | grep -vE -e ' --(help|json)$'
	done < <(commands_of_help)
}

options_of_manual() {
	awk -v nouns=" $(commands_of_help | cut -d' ' -f1 | tr '\n' ' ')" '
		/^\.Sh/ { command = "" }
		/^\.It Cm/ && index(nouns, " " $3 " ") {
			command = $3
			for (i = 4; i <= NF && $i !~ /^(Ar|Fl|Oo)$/; i++) command = command " " $i
			print command
		}
		/^\./ && command != "" { for (i = 1; i < NF; i++) if ($i == "Fl") print command " -" $(i + 1) }' man/onejob.1
}

flags_of_manual() { # PAGE
	grep '^\.' "man/$1" | grep -oE 'Fl -[a-z-]+' | sed 's/^Fl -/--/'
}

settings() { # as the doctor tells them: NAME (bounds)
	env -i ONEJOB_DEFAULTS_FILE=/nonexistent "$build/onejob" doctor 2>/dev/null | sed -nE 's/^(ONEJOB_[A-Z_]+)=[^(]*(\([^)]*\)): .*/\1 \2/p'
}

# What the doctor says of each number, and the manual's first sentence about it: NAME words. Whose a setting is the manual says above it.
words_of_doctor() {
	env -i ONEJOB_DEFAULTS_FILE=/nonexistent "$build/onejob" doctor 2>/dev/null |
		sed -nE "s/; the poller's\$//; s/^(ONEJOB_[A-Z_]+)=[0-9]+ \([0-9]+ to [^)]*\): (.*)/\1 \u\2./p"
}

words_of_manual() {
	awk '/^\./ { if (name != "") { sub(/\. .*/, ".", text); print name text }; name = text = "" }
		/^\.It Ev ONEJOB_[A-Z_]+ No \([0-9]/ { name = $3; next }
		name != "" { text = text " " $0 }' man/onejob.env.5
}

# What the file says, commented out or not: numbers with their defaults, the others by name.
settings_of_file() {
	sed -nE 's/^#?(ONEJOB_[A-Z_]+)=([0-9]*).*/\1 \2/p' systemd/onejob.env.in
}

# But for those of ./run, which the programs know only so as not to call them strangers.
names_of_source() {
	grep -rhoE '"ONEJOB_[A-Z_]+"' src --include='*.c' | tr -d '"' | grep -vxE 'ONEJOB_(BUILD|BUILT|STACK|TOKEN|OPERATOR_TOKEN)'
}

exit_codes() {
	sed -nE '/^enum ctl_exit/,/^}/ s/.*= ([0-9]+).*/\1/p' src/ctl/ctl.h
}

lint() {
	if command -v mandoc >/dev/null; then
		report 'mandoc has nothing to warn of' "$(mandoc -T lint -W warning man/*.[158] 2>&1)"
	else
		n=$((n + 1))
		echo "ok $n - mandoc has nothing to warn of # SKIP there is no mandoc here"
	fi
	if command -v groff >/dev/null; then	# what man --warnings runs
		report 'groff has nothing to warn of' "$(for page in man/*.[158]; do groff -ww -mandoc -Tutf8 -z "$page" 2>&1; done)"
	else
		n=$((n + 1))
		echo "ok $n - groff has nothing to warn of # SKIP there is no groff here"
	fi
}

same 'onejob(1) has each command with each of its options' "$(options_of_manual)" "$(options_of_help)"
same 'onejob(1) has each exit code' "$(sed -n '/^\.Sh EXIT/,/^\.El/ s/^\.It //p' man/onejob.1)" "$(exit_codes)"
same 'onejob-api(8) has each option' "$(flags_of_manual onejob-api.8)" "$("$build/onejob-api" --help | grep -oE -e '--[a-z-]+')"
same 'onejob-poller(8) has each option' "$(flags_of_manual onejob-poller.8)" "$("$build/onejob-poller" --help | grep -oE -e '--[a-z-]+')"
same 'onejob.env(5) has each setting with its bounds and default' \
	"$(sed -nE 's/^\.It Ev (ONEJOB_[A-Z_]+) No (.*)/\1 \2/p' man/onejob.env.5)" "$(settings)"
same 'onejob.env(5) says of each number what the doctor says' "$(words_of_manual)" "$(words_of_doctor)"
same 'every ONEJOB_ name of the source is in a manual, and no other' "$(grep -ohE 'ONEJOB_[A-Z_]+' man/*.[158])" "$(names_of_source)"
same 'onejob.env as it is installed has each setting and its default' "$(settings_of_file)" \
	"$(settings | sed -E 's/^(ONEJOB_[A-Z_]+) .*default:? (not set|([0-9]+))\)/\1 \3/')"
lint
echo "1..$n"
exit $failed
