#!/bin/sh
# Prints the migrations given as arguments as rows of C, in the order of their numbers.
set -eu
for file in "$@"; do
	name=${file##*/}
	name=${name%.sql}
	number=$(printf '%s' "${name%%_*}" | sed 's/^0*//')
	printf '{ %s, "%s",\n' "$number" "$name"
	sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/  "/' -e 's/$/\\n"/' "$file"
	printf '},\n'
done
