/* cmd_webhook.c: onejob webhook put, list, enable, delete. A secret is named, never given: only the
 * poller reads it. */
#include "ctl/cmd.h"

#include <stdlib.h>
#include <string.h>

#include "core/address.h"
#include "core/flaws.h"
#include "ctl/build.h"
#include "ctl/input.h"
#include "ctl/print.h"
#include "ctl/table.h"
#include "store/webhook_store.h"

#define PAGE_ROWS 200

static enum ctl_exit read_owner(struct ctl *ctl, const char *owner)
{
	if (input_owner(owner))
		return CTL_DONE;
	return ctl_usage(ctl, "an owner is 1 to %d bytes without control bytes", OWNER_MAX);
}

/* The owner is sound, and the database is ours. */
static enum ctl_exit begin(struct ctl *ctl, const char *owner)
{
	enum ctl_exit end = read_owner(ctl, owner);

	return end == CTL_DONE ? ctl_ready(ctl) : end;
}

static void print_flaws(struct ctl *ctl, const struct flaws *flaws)
{
	for (size_t i = 0; i < flaws->len; i++) {
		const struct flaw *flaw = &flaws->list[i];

		ctl_say(ctl, "%s %s",
			strcmp(flaw->pointer, "/url") == 0	   ? "--url"
			: strcmp(flaw->pointer, "/secrets/1") == 0 ? "the second --secret"
								   : "--secret",
			flaw->detail);
	}
}

static enum ctl_exit read_def(struct ctl *ctl, const struct args *args, struct webhook_def *def_out)
{
	const char *secrets[] = { args->option[OPTION_SECRET], args->again[OPTION_SECRET][0] };
	const char *url = args->option[OPTION_URL];
	struct flaws flaws;

	if (!url || !secrets[0])
		return ctl_usage(ctl, "%s is missing", url ? "--secret" : "--url");
	if (address_url_closed(url) && ctl->conf.webhook_private == 0)
		return ctl_usage(ctl, "--url: its address isn't a public one, and the pollers send "
				      "nothing there unless ONEJOB_WEBHOOK_PRIVATE=1 is set for "
				      "them (and here)");
	flaws_init(&flaws);
	enum rc rc = webhook_def_make(url, secrets, secrets[1] ? 2 : 1, def_out, &flaws);
	if (rc == RC_INVALID)
		print_flaws(ctl, &flaws);
	else if (rc != RC_OK)
		ctl_say(ctl, "out of memory");
	flaws_release(&flaws);
	return rc == RC_OK ? CTL_DONE : rc == RC_INVALID ? CTL_USAGE : CTL_REFUSED;
}

static enum ctl_exit say_done(struct ctl *ctl, const char *owner, const char *done)
{
	if (ctl->json)
		return ctl_print_json(ctl, build_done("owner", owner, done));
	ctl_line(ctl, "the webhook of %s %s", owner, done);
	return CTL_DONE;
}

enum ctl_exit cmd_webhook_put(struct ctl *ctl, const struct args *args)
{
	const char *owner = args->operand[0];
	struct webhook_def def = { 0 };
	bool is_new = false;
	enum ctl_exit end = read_owner(ctl, owner);

	if (end == CTL_DONE)
		end = read_def(ctl, args, &def);
	if (end != CTL_DONE)
		return end;
	end = ctl_ready(ctl);
	if (end == CTL_DONE) {
		enum rc rc = webhook_store_put(ctl->db, owner, strlen(owner), &def, &is_new);

		if (rc == RC_OK)
			end = say_done(ctl, owner, is_new ? "created" : "changed");
		else
			end = ctl_failed(ctl, rc, "the webhook");
	}
	webhook_def_release(&def);
	return end;
}

/* Both references with a comma between; NULL without memory. */
static char *list_secrets(const struct webhook_def *def)
{
	struct text text;

	text_init(&text, WEBHOOK_DEF_MAX_BYTES);
	for (size_t i = 0; i < def->secrets_len; i++)
		text_addf(&text, "%s%s", i > 0 ? ", " : "", def->secrets[i]);
	return text_take(&text);
}

static void add_row(struct table *table, const struct webhook_row *row)
{
	char *secrets = list_secrets(&row->def);

	table_row(table);
	table_bytes(table, row->owner, row->owner_len);
	table_bool(table, row->enabled);
	if (!row->enabled)
		table_colour(table, "yellow");
	table_number(table, row->waiting);
	table_number(table, row->given_up);
	if (row->given_up > 0)
		table_colour(table, "yellow");
	table_bytes(table, row->disabled_why.bytes, row->disabled_why.len);
	table_bytes(table, row->last_answer.bytes, row->last_answer.len);
	table_time(table, row->updated_us, "-");
	table_str(table, row->readable ? secrets : NULL);
	table_str(table, row->readable ? row->def.url : "(can't be read: put it again)");
	free(secrets);
}

/* All of them, a page at a time. */
static enum rc add_rows(struct ctl *ctl, struct table *table)
{
	char after[OWNER_MAX];
	size_t after_len = 0;
	bool more = true;

	while (more) {
		struct webhook_row *rows = NULL;
		size_t len = 0;
		enum rc rc = webhook_store_list(ctl->db, after, after_len, PAGE_ROWS, &rows, &len,
						&more);

		if (rc != RC_OK)
			return rc;
		for (size_t i = 0; i < len; i++)
			add_row(table, &rows[i]);
		if (len > 0) {
			after_len = rows[len - 1].owner_len;
			memcpy(after, rows[len - 1].owner, after_len);
		}
		more = more && len > 0;
		webhook_list_free(rows, len);
	}
	return RC_OK;
}

enum ctl_exit cmd_webhook_list(struct ctl *ctl, const struct args *args)
{
	static const struct table_column columns[] = {
		{ "OWNER", "owner", false, TABLE_SHORTENS },
		{ "ENABLED", "enabled", false, TABLE_WHOLE },
		{ "WAITING", "waiting", true, TABLE_WHOLE },
		{ "GIVEN UP", "given_up", true, TABLE_WHOLE },
		{ "DISABLED BECAUSE", "disabled_why", false, TABLE_SHORTENS },
		{ "LAST ANSWER", "last_answer", false, TABLE_SHORTENS },
		{ "UPDATED", "updated_at", false, TABLE_WHOLE },
		{ "SECRETS", "secrets", false, TABLE_SHORTENS },
		{ "URL", "url", false, TABLE_SHORTENS },
	};
	enum ctl_exit end = ctl_ready(ctl);

	(void)args;
	if (end != CTL_DONE)
		return end;
	struct table *table = table_new(columns, sizeof columns / sizeof columns[0], ctl->terminal);
	enum rc rc = add_rows(ctl, table);
	end = rc == RC_OK ? table_finish(table, ctl, "webhooks")
			  : ctl_failed(ctl, rc, "the webhooks");
	table_free(table);
	return end;
}

/* What enable and delete have in common. */
static enum ctl_exit change(struct ctl *ctl, const char *owner, const char *done,
			    enum rc (*verb)(struct db *db, const char *owner, size_t owner_len))
{
	enum ctl_exit end = begin(ctl, owner);

	if (end != CTL_DONE)
		return end;
	enum rc rc = verb(ctl->db, owner, strlen(owner));
	if (rc == RC_NOT_FOUND) {
		ctl_say(ctl, "%s has no webhook", owner);
		return CTL_REFUSED;
	}
	if (rc != RC_OK)
		return ctl_failed(ctl, rc, "the webhook");
	return say_done(ctl, owner, done);
}

enum ctl_exit cmd_webhook_enable(struct ctl *ctl, const struct args *args)
{
	return change(ctl, args->operand[0], "enabled", webhook_store_enable);
}

enum ctl_exit cmd_webhook_delete(struct ctl *ctl, const struct args *args)
{
	return change(ctl, args->operand[0], "deleted", webhook_store_delete);
}
