/* limit_fcgi.c: what nginx and FastCGI alone take: a responder on descriptor 0 that reads the body
 * and gives one answer, about as long as that to a create, without a look at anything. */
#include <fcgiapp.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TEXT_60 "It was the best of times, it was the worst of times, it was "

static const char answer[] =
	"Status: 201 Created\r\n"
	"Content-Type: application/json\r\n"
	"Cache-Control: no-store\r\n"
	"Location: /v1/jobs/01890000-0000-7000-8000-000000000000\r\n"
	"ETag: \"0-0\"\r\n"
	"\r\n"
	"{\"id\":\"01890000-0000-7000-8000-000000000000\",\"state\":\"queued\",\"version\":0,"
	"\"owner\":\"load\",\"idempotency_key\":\"a-key-of-usual-length-0000000001\","
	"\"provider\":\"load\",\"input\":{\"text\":\"" TEXT_60 TEXT_60 TEXT_60
	"\"},\"metadata\":{},\"max_attempts\":3,\"attempt_count\":0,\"completed_by\":null,"
	"\"result\":null,\"error\":null,\"advice\":\"wait\",\"in_doubt\":false,"
	"\"not_before\":null,\"expires_at\":null,\"created_at\":\"2026-01-01T00:00:00.000000Z\","
	"\"updated_at\":\"2026-01-01T00:00:00.000000Z\",\"purged_at\":null,\"attempts\":[]}\n";

int main(void)
{
	FCGX_Request request;
	char scratch[8192];

	if (FCGX_Init() != 0 || FCGX_InitRequest(&request, STDIN_FILENO, 0) != 0 || FCGX_IsCGI()) {
		fputs("limit-fcgi: descriptor 0 is no listening socket\n", stderr);
		return EXIT_FAILURE;
	}
	while (FCGX_Accept_r(&request) == 0) {
		while (FCGX_GetStr(scratch, sizeof scratch, request.in) == (int)sizeof scratch)
			;
		FCGX_PutStr(answer, (int)sizeof answer - 1, request.out);
		FCGX_Detach(&request); /* all was read: nothing to wait for before the close */
		FCGX_Finish_r(&request);
	}
	return EXIT_SUCCESS;
}
