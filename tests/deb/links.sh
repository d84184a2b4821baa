#!/usr/bin/env bash
# links.sh FOLDER: what the pages there link to and isn't there, one a line: places on the page, and files of doc/ between backticks.
set -u
cd "$1" || exit 1

named() { # PAGE: files, from its folder
	grep -oE '\]\([^)#]+' "$1" | cut -c3- | grep -v '://'
	grep -oE '`doc/[a-z/.-]+' "$1" | sed "s,^\`,$(dirname "$1" | sed 's,[^/.]\+,..,g')/,"
}

pages=$(find . -name '*.md')
[ -n "$pages" ] || echo 'no page at all'
for page in $pages; do
	for file in $(named "$page"); do
		[ -e "$(dirname "$page")/$file" ] || echo "$page: $file"
	done
done
