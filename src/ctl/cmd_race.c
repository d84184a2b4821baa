/* cmd_race.c: onejob race list: results that came too late. What they held is kept nowhere. */
#include "ctl/cmd.h"

#include <stdlib.h>

#include "base/text.h"
#include "ctl/input.h"
#include "ctl/table.h"
#include "store/attempt_store.h"

static void add_row(struct table *table, const struct race *race)
{
	struct text hex;

	text_init(&hex, 2 * SHA256_BYTES);
	text_add_hex(&hex, race->sha256, sizeof race->sha256);
	table_row(table);
	table_id(table, &race->id);
	table_time(table, race->created_us, "-");
	table_id(table, &race->job_id);
	table_id(table, &race->attempt_id);
	table_id(table, race->has_winner ? &race->winner : NULL);
	table_str(table, race_why_name(race->why));
	table_number(table, race->bytes);
	table_str(table, text_ok(&hex) ? hex.bytes : NULL);
	text_release(&hex);
}

enum ctl_exit cmd_race_list(struct ctl *ctl, const struct args *args)
{
	static const struct table_column columns[] = {
		{ "RACE", "id", false, TABLE_WHOLE },
		{ "CREATED", "created_at", false, TABLE_WHOLE },
		{ "JOB", "job_id", false, TABLE_WHOLE },
		{ "ATTEMPT", "attempt_id", false, TABLE_WHOLE },
		{ "WINNER", "winner", false, TABLE_WHOLE },
		{ "WHY", "why", false, TABLE_WHOLE },
		{ "BYTES", "bytes", true, TABLE_WHOLE },
		{ "SHA256", "sha256", false, TABLE_SHORTENS },
	};
	struct input_page page;
	struct race *races = NULL;
	size_t len = 0;
	bool more = false;
	enum ctl_exit end = input_page(ctl, args, &page);

	if (end == CTL_DONE)
		end = ctl_ready(ctl);
	if (end != CTL_DONE)
		return end;
	enum rc rc = race_store_list(ctl->db, page.has_before ? &page.before : NULL, page.limit,
				     &races, &len, &more);
	if (rc != RC_OK)
		return ctl_failed(ctl, rc, "the races");
	struct table *table = table_new(columns, sizeof columns / sizeof columns[0], ctl->terminal);
	for (size_t i = 0; i < len; i++)
		add_row(table, &races[i]);
	end = table_finish_page(table, ctl, "races", table_rows(table),
				more && len > 0 ? &races[len - 1].id : NULL);
	table_free(table);
	free(races);
	return end;
}
