/* routes.pml: R10: fail-over goes only along a route whose certificate is valid at that moment, while certificates die and are
 * renewed at any step. model.sh runs it.
 *
 * What it stands for: store/routes.c (where a job goes next), store/claim.c (which asks again), and what certificates come of and
 * die of: store/provider_store.c, store/contract_store.c, store/certificate_issue.c. Each transaction is one step but the claim's: it
 * has read before it writes, and holds the provider's row between.
 *
 * One job with a contract of three routes. An attempt is here no more than the word that ends it: it succeeded, or failed for certain and
 * is tried again by any policy, or is given to a provider by name. What may happen to an attempt before that word is onejob.pml's. The
 * two can be searched apart, for they meet in two places only: a certificate does nothing to a job but let it be claimed, later or
 * never, or fail while it is queued, and onejob.pml has both at any moment; and here any word may come at any moment, which is more
 * than an attempt can say. Together they would be far too many states.
 *
 * Left out: which of the open routes is the first, and which have no room: any of them may be chosen. That a provider is deleted: it
 * can't be while a live contract has a route there, and of another no certificate is valid. */

#include "choices.pml"

#define FIRST 0		/* the first route needs no certificate */

/* Jobs, as far as they matter here. */
#define J_QUEUED 0
#define J_RUNNING 1
#define J_FAILED 2
#define J_SUCCEEDED 3

/* --- the database */

byte jstate, next;	/* jobs.next_provider, as its route's place */
bool job_locked;
byte row_locked;	/* a provider's row, by a claim that isn't committed; one more than its place */
bool spent[3];		/* it failed there, and not only for want of room */
bool in_use[3] = true;
bool live = true;	/* the job's version of its contract is the one that stands */

/* The newest certificate of each route; the first has none. */
bool issued[3], passed[3], expired[3];
bool dead[3];		/* died_at, and that provider_version isn't the row's: an edit of what it proves does both */

/* A certification: one at a time. It goes by what was read when it started. */
byte judged;		/* the place of its route; 0: none */
bool run_current;	/* what it went by is still what stands */

/* --- the world: contract and provider as they stand have passed, by the last run that went by them */

bool proven[3];

/* What the customer minds, and what else should hold. */
hidden byte no_uncertified_failover = false;
hidden byte chosen_only_when_certified = CHOSEN(ONLY_THE_WORK);
hidden byte first_route_needs_none = false;
hidden byte no_job_forgotten = false;

/* CERTIFICATE_WHY of store/sql.c, and that the contract's version is live */
#define VALID(r) ((live || MUTANT(M_CONTRACT_EDIT_COUNTS_NOT)) && issued[r] && passed[r] && !dead[r] && !expired[r] && in_use[r])
#define PROVEN(r) (proven[r] && !expired[r])

/* The same as the claim reads it, in SQL_CLAIM_LOCK; take_locked() of store/claim.c */
#define CLAIM_VALID(r) (MUTANT(M_NO_RECHECK) || VALID(r) || \
	(MUTANT(M_EXPIRY_IGNORED) && live && issued[r] && passed[r] && !dead[r]) || \
	(MUTANT(M_FAILED_RUN_COUNTS) && live && issued[r] && !dead[r] && !expired[r]))
#define CLAIM_OPEN(r) ((r == FIRST && !MUTANT(M_FIRST_BOUND)) || CLAIM_VALID(r))

/* obstacle() of store/routes.c */
#define FREE(r) (in_use[r] && (r == FIRST || VALID(r) || MUTANT(M_CHOICE_UNCHECKED)))

/* go_on(): any that is free, but where it was; next is 3 where there is none */
#define STOP 3
inline go_on(from)
{
	if
	:: from != 0 && !spent[0] && FREE(0) -> next = 0
	:: from != 1 && !spent[1] && FREE(1) -> next = 1
	:: from != 2 && !spent[2] && FREE(2) -> next = 2
	:: else -> next = STOP
	fi;
	assert(chosen_only_when_certified || next == STOP || next == FIRST || PROVEN(next))
}

/* Fails for good: give_up(), or job_fail() of store/settle.c */
inline give_up(was)
{
	jstate = J_FAILED;
	next = was
}

/* routes_again(): from the claim, and from claim_reroute() */
inline again(was)
{
	was = next;
	if
	:: next == FIRST || FREE(next)	/* it may be taken after all */
	:: else ->
		go_on(was);
		if
		:: next == STOP -> give_up(was)
		:: else
		fi
	fi;
	was = 0
}

active proctype Poller()
{
	byte at, was;
	bool open, was_in_time;

end:
	do
	/* lock_lane(), lock_candidates(): the provider's row, the job's, and what the certificate says */
	:: d_step { jstate == J_QUEUED && !job_locked && in_use[next] ->
		job_locked = true;
		row_locked = next + 1;
		at = next;
		open = CLAIM_OPEN(at);
		was_in_time = !expired[at] };
		if
		/* write_attempts(), write_jobs() and the commit: the attempt is on its way */
		:: d_step { open ->
			assert(no_uncertified_failover || at == FIRST || (proven[at] && was_in_time));
			jstate = J_RUNNING }
		/* send_elsewhere() */
		:: atomic { !open ->
			assert(first_route_needs_none || at != FIRST);
			if
			:: !MUTANT(M_LEFT_BEHIND) -> again(was)
#ifdef MUTANTS
			:: MUTANT(M_LEFT_BEHIND)
#endif
			fi;
			assert(no_job_forgotten || jstate != J_QUEUED || next != at || FREE(at)) }
		:: true		/* it crashes, or all is undone */
		fi;
		d_step { job_locked = false; row_locked = 0; at = 0; open = false; was_in_time = false }
	/* claim_reroute(): queued along a route that nobody sends to now */
	:: atomic { jstate == J_QUEUED && !job_locked && next != FIRST && !in_use[next] -> again(was) }
	od
}

/* An attempt's last word, by settle_locked(); make_plan() asks routes_choose() */
active proctype Word()
{
	byte was;

end:
	do
	:: d_step { jstate == J_RUNNING && !job_locked -> jstate = J_SUCCEEDED }
	:: atomic { jstate == J_RUNNING && !job_locked ->
		was = next;
		if
		:: spent[was] = true
		:: true		/* REASON_NEVER_SENT, REASON_RETRY_LATER */
		fi;
		if
		:: jstate = J_QUEUED				/* POLICY_RETRY */
		:: true -> go_on(was);				/* POLICY_NEXT_ROUTE */
			if
			:: next != STOP -> jstate = J_QUEUED
			:: next == STOP -> next = was; jstate = J_QUEUED	/* a failure that left nothing behind: where it was */
			:: next == STOP -> give_up(was)
			fi
		:: give_up(was)					/* POLICY_STOP, or no try is left */
		fi;
		was = 0 }
	/* by name, of an attempt or of a failed job: routes_gate() */
	:: d_step { (jstate == J_RUNNING || jstate == J_FAILED) && !job_locked && in_use[0] -> next = 0; jstate = J_QUEUED }
	:: d_step { (jstate == J_RUNNING || jstate == J_FAILED) && !job_locked && VALID(1) -> next = 1; jstate = J_QUEUED }
	:: d_step { (jstate == J_RUNNING || jstate == J_FAILED) && !job_locked && VALID(2) -> next = 2; jstate = J_QUEUED }
	od
}

#define MAY_EDIT(r) (row_locked != r + 1 || MUTANT(M_ROW_NOT_HELD))

/* provider_store_put(): what the certificate proved changes, or it doesn't; certificates_follow_provider() */
inline edit_proven(r)
{
	proven[r] = false;
	run_current = run_current && judged != r;
	if
	:: MUTANT(M_SURVIVES_EDIT)
	:: else -> dead[r] = true
	fi
}

inline die(r)
{
	proven[r] = false;
	dead[r] = dead[r] || !MUTANT(M_CONTRACT_EDIT_COUNTS_NOT)
}

active proctype Editor()
{
end:
	do
	:: d_step { MAY_EDIT(1) && (proven[1] || run_current && judged == 1) -> edit_proven(1) }
	:: d_step { MAY_EDIT(2) && (proven[2] || run_current && judged == 2) -> edit_proven(2) }
	/* that it is in use is no part of what is proven, so the certificate follows */
	:: d_step { MAY_EDIT(0) -> in_use[0] = !in_use[0] }
	:: d_step { MAY_EDIT(1) -> in_use[1] = !in_use[1] }
	:: d_step { MAY_EDIT(2) -> in_use[2] = !in_use[2] }
	/* contract_store_put(), certificates_move_on(): it locks its routes' providers. The job keeps its version. */
	:: d_step { live && MAY_EDIT(1) && MAY_EDIT(2) -> live = false; run_current = false; die(1); die(2) }
	/* max_age_s */
	:: d_step { issued[1] && passed[1] && !dead[1] && !expired[1] -> expired[1] = true }
	:: d_step { issued[2] && passed[2] && !dead[2] && !expired[2] -> expired[2] = true }
	od
}

/* certify_store_end(): look(), supersede(), certificate_add(). A run that went by what no longer stands leaves a dead one. */
inline issue(verdict)
{
	issued[judged] = true;
	passed[judged] = verdict;
	expired[judged] = false;
	dead[judged] = !run_current && !MUTANT(M_VERDICT_UNCHECKED);
	proven[judged] = (run_current -> verdict : proven[judged]);
	judged = 0;
	run_current = false
}

active proctype Certifier()
{
end:
	do
	:: d_step { judged == 0 && live -> judged = 1; run_current = true }
	:: d_step { judged == 0 && live -> judged = 2; run_current = true }
	:: d_step { judged > 0 && MAY_EDIT(judged) -> issue(true) }
	:: d_step { judged > 0 && MAY_EDIT(judged) -> issue(false) }
	od
}
