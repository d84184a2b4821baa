/* cmd.h: the handlers in the rows of command.c, one file a noun. Each has said what went wrong when
 * it returns. */
#ifndef CTL_CMD_H
#define CTL_CMD_H

#include "ctl/command.h"

enum ctl_exit cmd_migrate(struct ctl *ctl, const struct args *args);
enum ctl_exit cmd_token_create(struct ctl *ctl, const struct args *args);
enum ctl_exit cmd_token_list(struct ctl *ctl, const struct args *args);
enum ctl_exit cmd_token_revoke(struct ctl *ctl, const struct args *args);
enum ctl_exit cmd_provider_put(struct ctl *ctl, const struct args *args);
enum ctl_exit cmd_provider_list(struct ctl *ctl, const struct args *args);
enum ctl_exit cmd_provider_show(struct ctl *ctl, const struct args *args);
enum ctl_exit cmd_provider_delete(struct ctl *ctl, const struct args *args);
enum ctl_exit cmd_contract_put(struct ctl *ctl, const struct args *args);
enum ctl_exit cmd_contract_list(struct ctl *ctl, const struct args *args);
enum ctl_exit cmd_contract_show(struct ctl *ctl, const struct args *args);
enum ctl_exit cmd_contract_delete(struct ctl *ctl, const struct args *args);
enum ctl_exit cmd_contract_certify(struct ctl *ctl, const struct args *args);
enum ctl_exit cmd_contract_certificates(struct ctl *ctl, const struct args *args);
enum ctl_exit cmd_job_list(struct ctl *ctl, const struct args *args);
enum ctl_exit cmd_job_show(struct ctl *ctl, const struct args *args);
enum ctl_exit cmd_job_cancel(struct ctl *ctl, const struct args *args);
enum ctl_exit cmd_attempt_list(struct ctl *ctl, const struct args *args);
enum ctl_exit cmd_attempt_settle(struct ctl *ctl, const struct args *args);
enum ctl_exit cmd_race_list(struct ctl *ctl, const struct args *args);
enum ctl_exit cmd_webhook_put(struct ctl *ctl, const struct args *args);
enum ctl_exit cmd_webhook_list(struct ctl *ctl, const struct args *args);
enum ctl_exit cmd_webhook_enable(struct ctl *ctl, const struct args *args);
enum ctl_exit cmd_webhook_delete(struct ctl *ctl, const struct args *args);
enum ctl_exit cmd_purge(struct ctl *ctl, const struct args *args);
enum ctl_exit cmd_doctor(struct ctl *ctl, const struct args *args);

#endif
