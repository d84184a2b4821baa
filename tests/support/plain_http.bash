# shellcheck shell=bash disable=SC2034 # body, status and headers go to those who load this
# A request over a socket of this very shell, for where starting curl would be most of the work.

# plainly METHOD HOST:PORT PATH [-H HEADER...] [-d BODY]: the answer's body in $body, status in $status, header lines in $headers. Fails
# before it has sent anything where curl's options ask for more than that.
plainly() {
	local LC_ALL=C head="$1 $3 HTTP/1.1"$'\r\n'"Host: $2"$'\r\nAccept: */*\r\nConnection: close\r\n' data='' to=$2 socket length=''

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
	exec {socket}<>"/dev/tcp/${to/://}" || return 1
	printf '%s\r\n%s' "$head" "$data" >&$socket
	take_head $socket
	if [ -z "$length" ] || [ "$length" -gt 65536 ]; then	# to the end, and faster than byte by byte
		body=$(cat <&$socket)
	else
		IFS= read -r -N "$length" -t 60 -u $socket body || [ "${#body}" = "$length" ]
	fi
	exec {socket}>&-
	less_line_ends body
}

# take_head DESCRIPTOR: $status, $headers, $length
take_head() {
	local line

	IFS= read -r -t 60 -u "$1" line
	headers=${line%$'\r'}
	[[ $headers =~ ^HTTP/1\.1\ ([0-9]{3}) ]]
	status=${BASH_REMATCH[1]}
	while IFS= read -r -t 60 -u "$1" line && line=${line%$'\r'} && [ -n "$line" ]; do
		headers+=$'\n'$line
		case $line in
		Content-Length:\ *) length=${line#*: } ;;
		Transfer-Encoding:*) echo 'an answer in chunks, which this client does not read' >&2; return 1 ;;
		esac
	done
	case $status in
	204 | 304) length=0 ;;
	esac
}

less_line_ends() { # NAME
	local -n text=$1

	while [ "${text: -1}" = $'\n' ]; do	# a pattern would look at every place of a long text
		text=${text:0:-1}
	done
}
