/* upkeep.h: what is due without anybody's word, on the desk's thread: leases that ran out, jobs
 * that expired. */
#ifndef POLLER_UPKEEP_H
#define POLLER_UPKEEP_H

struct desk;

void upkeep_run(struct desk *d);

#endif
