# shellcheck shell=bash disable=SC2034 # body, status and headers go to those who load this
# A request over a socket of this very shell, for where starting curl would be most of the work.

# plainly METHOD HOST:PORT PATH [-H HEADER...] [-d BODY]: the answer's body in $body, status in $status, header lines in $headers.
# 1, before anything is sent, where curl's options ask for more than that; 2 where no whole answer came.
plainly() {
	local LC_ALL=C head="$1 $3 HTTP/1.1"$'\r\n'"Host: $2"$'\r\nAccept: */*\r\nConnection: close\r\n' data='' to=$2 socket length='' ok=2

	body='' status='' headers=''
	[ "$1" != HEAD ] || return 1
	shift 3
	while [ $# -gt 0 ]; do
		case $1,${2-} in
		-H,*': '[!\ ]*) head+=$2$'\r\n' ;;
		-d,[!@]*) data=$2 head+="Content-Length: ${#2}"$'\r\n' ;;
		*) return 1 ;;
		esac
		shift 2
	done
	exec {socket}<>"/dev/tcp/${to/://}" || return 2
	if printf '%s\r\n%s' "$head" "$data" >&$socket && take_head $socket && take_body $socket; then
		ok=0
	fi
	exec {socket}>&-
	[ $ok = 0 ] || printf 'no whole answer: status %s, headers %s\n' "$status" "$headers" >&2
	less_line_ends body
	return $ok
}

# take_head DESCRIPTOR: $status, $headers, $length
take_head() {
	local line

	IFS= read -r -t 60 -u "$1" line || return 1
	headers=${line%$'\r'}
	[[ $headers =~ ^HTTP/1\.1\ ([0-9]{3}) ]] || return 1
	status=${BASH_REMATCH[1]}
	while IFS= read -r -t 60 -u "$1" line || return 1; do
		line=${line%$'\r'}
		[ -n "$line" ] || break
		headers+=$'\n'$line
		case $line in
		Content-Length:\ *) length=${line#*: } ;;
		Transfer-Encoding:\ chunked) length=chunked ;;
		esac
	done
	case $status in
	204 | 304) length=0 ;;
	esac
}

# take_body DESCRIPTOR: as long as it was announced, else to the end; what is long is not taken byte by byte
take_body() {
	if [ "$length" = chunked ]; then
		take_chunks "$1"
		return
	fi
	if [ -n "$length" ] && [ "$length" -le 65536 ]; then
		[ "$length" = 0 ] || IFS= read -r -N "$length" -t 60 -u "$1" body
	else
		body=$(timeout 60 cat <&"$1"; echo .)
		body=${body%.}
	fi
	[ -z "$length" ] || [ "${#body}" = "$length" ]
}

take_chunks() { # DESCRIPTOR
	local line piece

	while IFS= read -r -t 60 -u "$1" line && [[ $line =~ ^([0-9a-fA-F]+)[$';\r'] ]]; do
		length=$((16#${BASH_REMATCH[1]}))
		[ $length -gt 0 ] || return 0
		IFS= read -r -N $((length + 2)) -t 60 -u "$1" piece && [ "${piece:length}" = $'\r\n' ] || return 1
		body+=${piece:0:length}
	done
	return 1
}

less_line_ends() { # NAME
	local -n text=$1

	while [ "${text: -1}" = $'\n' ]; do	# a pattern would look at every place of a long text
		text=${text:0:-1}
	done
}
