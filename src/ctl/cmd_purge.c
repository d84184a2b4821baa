/* cmd_purge.c: onejob purge. Payloads of settled jobs go; keys stay taken unless that is asked for.
 */
#include "ctl/cmd.h"

#include <inttypes.h>

#include "ctl/build.h"
#include "ctl/input.h"
#include "store/certificate_store.h"
#include "store/job_store.h"

struct purge {
	uint64_t payloads_after_s;
	uint64_t keys_after_s; /* 0: keys stay */
	uint64_t payloads;     /* what was done */
	uint64_t rows;
	uint64_t reports;
};

static enum ctl_exit read_purge(struct ctl *ctl, const struct args *args, struct purge *purge_out)
{
	const char *payloads = args->option[OPTION_PAYLOADS_AFTER];
	const char *keys = args->option[OPTION_KEYS_AFTER];

	*purge_out = (struct purge){ 0 };
	if (!payloads)
		return ctl_usage(ctl, "--payloads-after is missing");
	if (!input_length(payloads, &purge_out->payloads_after_s))
		return ctl_usage(ctl, "--payloads-after %s: a number and s, m, h or d, as in 30d",
				 payloads);
	if (keys && !input_length(keys, &purge_out->keys_after_s))
		return ctl_usage(ctl, "--keys-after %s: a number and s, m, h or d, as in 365d",
				 keys);
	if (keys && purge_out->keys_after_s < purge_out->payloads_after_s)
		return ctl_usage(ctl,
				 "--keys-after %s is shorter than --payloads-after %s: a row goes "
				 "after its payload",
				 keys, payloads);
	return CTL_DONE;
}

static enum ctl_exit print_counts(struct ctl *ctl, const struct purge *purge)
{
	if (ctl->json) {
		struct json_object *object = build_object();

		build_add(&object, "payloads", build_number(purge->payloads));
		build_add(&object, "rows", build_number(purge->rows));
		build_add(&object, "reports", build_number(purge->reports));
		return ctl_print_json(ctl, object);
	}
	ctl_line(ctl, "emptied %" PRIu64 " job%s", purge->payloads,
		 purge->payloads == 1 ? "" : "s");
	if (purge->keys_after_s > 0)
		ctl_line(ctl, "removed %" PRIu64 " %s", purge->rows,
			 purge->rows == 1 ? "job with its key" : "jobs with their keys");
	if (purge->reports > 0)
		ctl_line(ctl, "emptied %" PRIu64 " report%s of verdicts that don't count any more",
			 purge->reports, purge->reports == 1 ? "" : "s");
	return CTL_DONE;
}

enum ctl_exit cmd_purge(struct ctl *ctl, const struct args *args)
{
	struct purge purge;
	enum ctl_exit end = read_purge(ctl, args, &purge);

	if (end == CTL_DONE)
		end = ctl_ready(ctl);
	if (end != CTL_DONE)
		return end;
	/* Rows first: what goes as a whole needn't be emptied before. */
	enum rc rc = purge.keys_after_s > 0
			     ? job_store_purge_rows(ctl->db, purge.keys_after_s, &purge.rows)
			     : RC_OK;
	if (rc == RC_OK)
		rc = job_store_purge_payloads(ctl->db, purge.payloads_after_s, &purge.payloads);
	if (rc == RC_OK)
		rc = certificate_store_purge_reports(ctl->db, purge.payloads_after_s,
						     &purge.reports);
	end = print_counts(ctl, &purge);
	return rc == RC_OK ? end
			   : ctl_failed(ctl, rc,
					"the rest of the purge (what is counted above is done)");
}
