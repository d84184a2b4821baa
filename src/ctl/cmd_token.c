/* cmd_token.c: onejob token create, list, revoke. A token is printed once; what is kept is its
 * SHA-256. */
#include "ctl/cmd.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/digest.h"
#include "ctl/build.h"
#include "ctl/input.h"
#include "ctl/print.h"
#include "ctl/table.h"
#include "store/token_store.h"

#define TOKEN_BYTES 32
#define TOKEN_PREFIX "oj_"
#define TOKEN_TEXT_LEN (3 + 43) /* the prefix, and 32 bytes by sixes */
#define SHA256_TEXT_LEN (2 * SHA256_BYTES)

struct token {
	char text[TOKEN_TEXT_LEN + 1];
	unsigned char sha256[SHA256_BYTES];
	char id[TOKEN_ID_LEN + 1];
};

/* RFC 4648, section 5, without padding. */
static void add_base64url(const unsigned char *bytes, size_t len, char *out)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	unsigned int bits = 0;
	unsigned int held = 0;

	for (size_t i = 0; i < len; i++) {
		bits = bits << 8 | bytes[i];
		for (held += 8; held >= 6; held -= 6)
			*out++ = digits[bits >> (held - 6) & 0x3f];
	}
	if (held > 0)
		*out++ = digits[bits << (6 - held) & 0x3f];
	*out = '\0';
}

static void id_of(const unsigned char sha256[SHA256_BYTES], char id_out[TOKEN_ID_LEN + 1])
{
	for (size_t i = 0; i < TOKEN_ID_LEN / 2; i++)
		snprintf(id_out + 2 * i, 3, "%02x", sha256[i]);
}

static void make_token(struct token *token_out)
{
	unsigned char bytes[TOKEN_BYTES];

	clock_random(bytes, sizeof bytes);
	memcpy(token_out->text, TOKEN_PREFIX, sizeof TOKEN_PREFIX - 1);
	add_base64url(bytes, sizeof bytes, token_out->text + sizeof TOKEN_PREFIX - 1);
	explicit_bzero(bytes, sizeof bytes);
	digest_sha256(token_out->text, strlen(token_out->text), token_out->sha256);
	id_of(token_out->sha256, token_out->id);
}

struct wish {
	const char *owner;
	enum role role;
	uint64_t lifetime_s;
};

static enum ctl_exit read_wish(struct ctl *ctl, const struct args *args, struct wish *wish_out)
{
	const char *role = args->option[OPTION_ROLE];
	const char *expires_in = args->option[OPTION_EXPIRES_IN];

	*wish_out = (struct wish){ .owner = args->option[OPTION_OWNER], .role = ROLE_USER };
	if (!wish_out->owner)
		return ctl_usage(ctl, "--owner is missing");
	if (!input_owner(wish_out->owner))
		return ctl_usage(ctl, "--owner: 1 to %d bytes without control bytes", OWNER_MAX);
	if (role && !role_parse(role, strlen(role), &wish_out->role))
		return ctl_usage(ctl, "--role %s: user or operator", role);
	if (expires_in && !input_length(expires_in, &wish_out->lifetime_s))
		return ctl_usage(ctl, "--expires-in %s: a number and s, m, h or d, as in 90d",
				 expires_in);
	return CTL_DONE;
}

static enum ctl_exit print_token(struct ctl *ctl, const struct token *token,
				 const struct wish *wish)
{
	enum ctl_exit end = CTL_DONE;

	if (ctl->json) {
		struct json_object *object = build_object();

		build_add(&object, "id", build_string(token->id));
		build_add(&object, "token", build_string(token->text));
		build_add(&object, "owner", build_string(wish->owner));
		build_add(&object, "role", build_string(role_name(wish->role)));
		end = ctl_print_json(ctl, object);
	} else {
		ctl_line(ctl, "%s", token->text);
	}
	if (end == CTL_DONE && fflush(ctl->out) == 0)
		return CTL_DONE;
	ctl_say(ctl, "the token couldn't be printed, so nobody has it: onejob token revoke %s",
		token->id);
	return CTL_REFUSED;
}

enum ctl_exit cmd_token_create(struct ctl *ctl, const struct args *args)
{
	struct wish wish;
	struct token token;
	enum ctl_exit end = read_wish(ctl, args, &wish);

	if (end == CTL_DONE)
		end = ctl_ready(ctl);
	if (end != CTL_DONE)
		return end;
	make_token(&token);
	enum rc rc = token_store_add(ctl->db, token.sha256, wish.owner, strlen(wish.owner),
				     wish.role, wish.lifetime_s);
	if (rc == RC_UNCERTAIN)
		ctl_say(ctl, "if it was stored: onejob token revoke %s", token.id);
	end = rc == RC_OK ? print_token(ctl, &token, &wish) : ctl_failed(ctl, rc, "the token");
	explicit_bzero(&token, sizeof token);
	return end;
}

static void add_row(struct table *table, const struct token_row *row)
{
	char id[TOKEN_ID_LEN + 1];

	id_of(row->sha256, id);
	table_row(table);
	table_str(table, id);
	table_bytes(table, row->owner, row->owner_len);
	table_str(table, role_name(row->role));
	table_time(table, row->created_us, "-");
	table_time(table, row->expires_us, "never");
	if (row->expires_us != 0 && row->expires_us <= clock_real_us())
		table_colour(table, "red");
}

enum ctl_exit cmd_token_list(struct ctl *ctl, const struct args *args)
{
	static const struct table_column columns[] = {
		{ "ID", "id", false, TABLE_WHOLE },
		{ "OWNER", "owner", false, TABLE_SHORTENS },
		{ "ROLE", "role", false, TABLE_WHOLE },
		{ "CREATED", "created_at", false, TABLE_WHOLE },
		{ "EXPIRES", "expires_at", false, TABLE_WHOLE },
	};
	struct token_row *rows = NULL;
	size_t len = 0;
	enum ctl_exit end = ctl_ready(ctl);

	(void)args;
	if (end != CTL_DONE)
		return end;
	enum rc rc = token_store_list(ctl->db, &rows, &len);
	if (rc != RC_OK)
		return ctl_failed(ctl, rc, "the tokens");
	struct table *table = table_new(columns, sizeof columns / sizeof columns[0], ctl->terminal);
	for (size_t i = 0; i < len; i++)
		add_row(table, &rows[i]);
	end = table_finish(table, ctl, "tokens");
	table_free(table);
	free(rows);
	return end;
}

enum ctl_exit cmd_token_revoke(struct ctl *ctl, const struct args *args)
{
	const char *id = args->operand[0];
	size_t len = strlen(id);

	if ((len != TOKEN_ID_LEN && len != SHA256_TEXT_LEN) ||
	    strspn(id, "0123456789abcdef") != len)
		return ctl_usage(ctl,
				 "'%s' isn't a token's id: 12 digits of 0-9 and a-f, as `onejob "
				 "token list` shows it",
				 id);
	enum ctl_exit end = ctl_ready(ctl);
	if (end != CTL_DONE)
		return end;
	enum rc rc = token_store_revoke(ctl->db, id, len);
	if (rc == RC_CONFLICT) {
		ctl_say(ctl, "two tokens share the id %s: give all 64 digits of its SHA-256", id);
		return CTL_REFUSED;
	}
	if (rc == RC_NOT_FOUND) {
		ctl_say(ctl, "there is no token %s", id);
		return CTL_REFUSED;
	}
	if (rc != RC_OK)
		return ctl_failed(ctl, rc, "the token");
	if (ctl->json)
		return ctl_print_json(ctl, build_done("id", id, "revoked"));
	ctl_line(ctl, "revoked %s", id);
	return CTL_DONE;
}
