#!/usr/bin/perl
# fcgi.pl: the FastCGI protocol by hand, for tests. Needs nothing but perl-base.
#
# fcgi.pl call SOCKET [--pause FILE] [NAME=VALUE...] <BODY
#	One request, as a web server sends it; prints what comes back on its standard output stream. With --pause half of
#	the body is kept back until FILE exists; "half" is printed on standard error when the first half is out.
# fcgi.pl bytes SOCKET <BYTES
#	Sends bytes as they are, closes its side and prints what comes back.
# fcgi.pl swallow SOCKET API
#	Listens, takes one request, has the API at that socket do it, and hangs up without a word once that has answered.
# fcgi.pl record SOCKET FILE STATUS
#	Listens, takes one request, writes every byte of it to FILE and answers with that status; STATUS 0: hangs up instead.
use strict;
use warnings;
use Socket;

my ($verb, $path, @rest) = @ARGV;
$SIG{ALRM} = sub { die "fcgi.pl: no answer within a minute\n" };
$SIG{PIPE} = 'IGNORE';
alarm 60;

sub record { my ($type, $content) = @_; return pack('CCnnCC', 1, $type, 1, length $content, 0, 0) . $content; }

sub size { my ($n) = @_; return $n < 128 ? pack('C', $n) : pack('N', $n | 0x80000000); }

sub connected {
	socket(my $s, PF_UNIX, SOCK_STREAM, 0) or die "socket: $!\n";
	connect($s, sockaddr_un($path)) or die "$path: $!\n";
	return $s;
}

sub put { my ($s, $bytes) = @_; while (length $bytes) { my $n = syswrite($s, $bytes); defined $n or last; substr($bytes, 0, $n, ''); } }

sub all { my ($s) = @_; my $got = ''; while (sysread($s, $got, 65536, length $got)) { } return $got; }

sub call {
	my ($pause, %params);
	if (@rest && $rest[0] eq '--pause') { (undef, $pause) = splice(@rest, 0, 2); }
	my $body = do { local $/; <STDIN> } // '';
	%params = (REQUEST_METHOD => 'POST', REQUEST_URI => '/v1/jobs', CONTENT_TYPE => 'application/json', CONTENT_LENGTH => length $body,
		map { split(/=/, $_, 2) } @rest);
	my $params = join '', map { size(length $_) . size(length $params{$_}) . $_ . $params{$_} } sort keys %params;
	my $half = $pause ? int(length($body) / 2) : length $body;
	my $s = connected();
	put($s, record(1, pack('nCx5', 1, 0)) . record(4, $params) . record(4, '') . record(5, substr($body, 0, $half)));
	if ($pause) {
		print STDERR "half\n";
		select(undef, undef, undef, 0.05) until -e $pause;
		put($s, record(5, substr($body, $half)));
	}
	put($s, record(5, ''));
	my $got = all($s);
	while (length $got >= 8) {
		my (undef, $type, undef, $len, $pad) = unpack('CCnnC', $got);
		print substr($got, 8, $len) if $type == 6;
		substr($got, 0, 8 + $len + $pad, '');
	}
}

sub bytes {
	my $s = connected();
	put($s, do { local $/; <STDIN> });
	shutdown($s, 1);
	print all($s);
}

# One request, to the empty record that ends its body; and its connection.
sub taken {
	socket(my $l, PF_UNIX, SOCK_STREAM, 0) or die "socket: $!\n";
	bind($l, sockaddr_un($path)) && listen($l, 8) or die "$path: $!\n";
	accept(my $s, $l) or die "accept: $!\n";
	my ($got, $at) = ('', 0);
	for (;;) {
		while (length $got < $at + 8) { sysread($s, $got, 65536, length $got) or die "cut short\n"; }
		my (undef, $type, undef, $len, $pad) = unpack('CCnnC', substr($got, $at));
		$at += 8 + $len + $pad;
		last if $type == 5 && $len == 0;
	}
	return ($s, $got);
}

sub swallow {
	my ($api) = @rest;
	my ($s, $got) = taken();
	$path = $api;
	my $to = connected();
	put($to, $got);
	all($to);
}

sub take {
	my ($file, $status) = @rest;
	my ($s, $got) = taken();
	open(my $out, '>', "$file.new") or die "$file: $!\n";
	print $out $got;
	close $out;
	rename "$file.new", $file;
	put($s, record(6, "Status: $status\r\nContent-Type: application/json\r\n\r\n{}") . record(6, '') . record(3, pack('NC', 0, 0) . "\0\0\0"))
		if $status;
}

my %verbs = (call => \&call, bytes => \&bytes, swallow => \&swallow, record => \&take);
exists $verbs{$verb // ''} or die "usage: see the head of $0\n";
$verbs{$verb}->();
