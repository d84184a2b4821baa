/* certify_report.h: the verdict on a route, for a person to read. */
#ifndef CTL_CERTIFY_REPORT_H
#define CTL_CERTIFY_REPORT_H

#include <stdbool.h>

#include "core/certificate.h"
#include "ctl/ctl.h"

/* A line for the route; where it failed, a line for each fixture that did, by round, with why. */
void report_print(struct ctl *ctl, const struct certificate *certificate);

/* The proof is there and nothing that was proven has changed. */
bool report_is_good(const struct certificate *certificate);

#endif
