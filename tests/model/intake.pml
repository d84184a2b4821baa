/* intake.pml: R1 to R3: many creates under one key, for every order of steps, with lost answers and crashes. model.sh runs it.
 *
 * What it stands for: create_round() of store/job_create.c and what comes of it, as its callers see it. An insert holds its key until
 * it is committed or undone, and another of that key waits (UNIQUE (owner, idempotency_key)); a look-up is a step of its own. And
 * store/create_write.c: a thread that has taken several requests writes them with one statement, all or none. One client's is the first
 * of such a thread, another's may be among the rest. What isn't written so goes alone. Here two of one key may be, which is_second_click()
 * and is_among() keep apart: the rules count on the index only.
 *
 * Four clients use one key, each again and again: two of one owner with one intent, written in two ways (a double click, or the
 * same page twice); a third of that owner with another intent; one of another owner, with the first's. An operator, or the owner,
 * cancels by that key. What becomes of the job afterwards is onejob.pml's: nothing there looks at an intent or a key. */

#include "choices.pml"

#define FIRST_OWNER 1
#define OTHER_OWNER 2
#define TOMBSTONE 0	/* the intent of a key that was cancelled before it was used */

#define ROWS 4		/* from 1: more than one of an owner is found at once */
#define NONE 0

/* --- the database */

byte owner_of[ROWS], intent_of[ROWS], spelling_of[ROWS];
byte rows;
byte key_held[3];	/* by owner: whose insert isn't committed; one more than its _pid */
byte wrote[4];		/* by client: the row with the id of its request */

/* --- the creates that one thread has taken */

#define LEADER 1
#define OUT 0		/* it goes alone; or its process is dead */
#define WAITS 1
#define TAKEN 2
#define OVER 3		/* its turn is, and nothing is known to be written */
#define WRITTEN 4
byte turn[4];		/* by client */
byte along;		/* who was taken */

/* --- the monitors' memory */

byte intent_was[ROWS];
byte told[6];		/* by owner and intent: the job that was the answer */
bool told_new[ROWS];

hidden byte one_job_per_key = false;
hidden byte no_job_of_another_intent = false;
hidden byte no_job_of_another_owner = false;
hidden byte same_intent_same_job = false;
hidden byte conflict_only_with_another_intent = false;
hidden byte new_only_once = false;
hidden byte a_job_keeps_its_intent = false;
hidden byte a_duplicate_finds_its_job = false;
hidden byte the_job_is_there = false;

#define OWNER(client) (client == 3 -> OTHER_OWNER : FIRST_OWNER)
#define INTENT(client) (client == 2 -> 2 : 1)

/* The row that has the key, by the unique index. */
#define HAS_KEY(row, owner) (owner_of[row] == owner || (MUTANT(M_KEY_WITHOUT_OWNER) && owner_of[row] != NONE))
#define BY_KEY(owner) (HAS_KEY(1, owner) -> 1 : (HAS_KEY(2, owner) -> 2 : (HAS_KEY(3, owner) -> 3 : NONE)))

inline watch_row(row)
{
	assert(a_job_keeps_its_intent || intent_was[row] == NONE || intent_of[row] + 1 == intent_was[row]);
	intent_was[row] = (owner_of[row] == NONE -> NONE : intent_of[row] + 1)
}

inline commit()
{
	assert(one_job_per_key || (owner_of[1] == FIRST_OWNER) + (owner_of[2] == FIRST_OWNER) + (owner_of[3] == FIRST_OWNER) <= 1);
	watch_row(1);
	watch_row(2);
	watch_row(3)
}

inline write_row(who, is_owner, is_intent)
{
	rows++;
	owner_of[rows] = is_owner;
	intent_of[rows] = is_intent;
	spelling_of[rows] = who;
	commit()
}

inline write_own()
{
	write_row(_pid, owner, intent);
	wrote[_pid] = rows
}

/* CREATED_NEW and CREATED_REPLAYED: this job is the answer. */
inline answer(job, is_new)
{
	assert(the_job_is_there || job != NONE);
	assert(no_job_of_another_owner || owner_of[job] == owner);
	assert(no_job_of_another_intent || intent_of[job] == intent);
	assert(same_intent_same_job || told[owner * 2 + intent - 1] == NONE || told[owner * 2 + intent - 1] == job);
	assert(new_only_once || !is_new || !told_new[job]);
	told[owner * 2 + intent - 1] = job;
	told_new[job] = told_new[job] || is_new
}

/* The id, and with it what is known of earlier rounds, goes with the request. */
inline forget()
{
	wrote[_pid] = NONE
}

/* create_compare(): our own insert, whose answer was lost; the same intent; another, or a tombstone */
#define OWN (wrote[_pid] == BY_KEY(owner) && wrote[_pid] != NONE)
#define SAME (intent_of[BY_KEY(owner)] == intent && !(MUTANT(M_COMPARES_SPELLING) && spelling_of[BY_KEY(owner)] != _pid))
inline compare()
{
	if
	:: OWN || SAME || MUTANT(M_NO_COMPARE) -> answer(BY_KEY(owner), (OWN || MUTANT(M_ALWAYS_NEW)))
	:: else ->	/* CREATED_KEY_REUSED, CREATED_INTENT_CANCELLED */
		assert(conflict_only_with_another_intent || intent_of[BY_KEY(owner)] != intent)
	fi;
	forget()
}

/* CREATED_NO_SUCH_PROVIDER: no row was written, and none was found. */
inline refuse()
{
	assert(a_duplicate_finds_its_job || BY_KEY(owner) == NONE);
	forget()
}

#define NOBODY_HOLDS(client) (key_held[OWNER(client)] == NONE)
#define BOTH_ARE_NEW (owner != OWNER(along) && BY_KEY(owner) == NONE && BY_KEY(OWNER(along)) == NONE)

inline let_go_of_both()
{
	key_held[owner] = NONE;
	key_held[OWNER(along)] = NONE
}

inline write_both()
{
	let_go_of_both();
	write_own();
	write_row(along, OWNER(along), INTENT(along));
	wrote[along] = rows
}

active [4] proctype Client()
{
	byte owner = OWNER(_pid);
	byte intent = INTENT(_pid);

end:
	if
	/* insert(): the index decides, and nobody looks before */
	:: d_step { key_held[owner] == NONE && BY_KEY(owner) == NONE -> key_held[owner] = _pid + 1 }
	:: d_step { key_held[owner] == NONE && BY_KEY(owner) != NONE && !MUTANT(M_UPSERTS) && !MUTANT(M_REPLACES) -> skip } ->
		goto duplicate
	/* it is for a provider that isn't there; look_up() sees what is committed */
	:: d_step { key_held[owner] == NONE && BY_KEY(owner) == NONE -> refuse() } -> goto end
	/* gather() */
	:: d_step { _pid != LEADER && wrote[_pid] == NONE -> turn[_pid] = WAITS } -> goto waiting
	:: d_step { _pid == LEADER && wrote[_pid] == NONE && turn[0] == WAITS -> along = 0; turn[0] = TAKEN } -> goto leading
	:: d_step { _pid == LEADER && wrote[_pid] == NONE && turn[2] == WAITS -> along = 2; turn[2] = TAKEN } -> goto leading
	:: d_step { _pid == LEADER && wrote[_pid] == NONE && turn[3] == WAITS -> along = 3; turn[3] = TAKEN } -> goto leading
#ifdef MUTANTS
	:: d_step { MUTANT(M_LOOKS_FIRST) && BY_KEY(owner) == NONE -> skip } -> goto unguarded
	:: d_step { MUTANT(M_UPSERTS) && BY_KEY(owner) != NONE ->
		intent_of[BY_KEY(owner)] = intent;
		commit() } -> goto end
	:: d_step { MUTANT(M_REPLACES) && BY_KEY(owner) != NONE && rows < ROWS - 1 ->
		owner_of[BY_KEY(owner)] = NONE;
		write_own();
		answer(rows, true);
		forget() } -> goto end
#endif
	fi;
	if
	:: d_step { true -> key_held[owner] = NONE; write_own(); answer(rows, true); forget() }
	/* RC_UNCERTAIN, and it was done: the next round meets its own row */
	:: d_step { true -> key_held[owner] = NONE; write_own() }
	/* RC_RETRY, or RC_UNCERTAIN and it wasn't done */
	:: d_step { true -> key_held[owner] = NONE }
	/* the program dies, and the client asks again */
	:: d_step { true -> key_held[owner] = NONE; write_own(); forget() }
	fi;
	goto end;
duplicate:	/* look_up(), which may not see yet what the insert has met, then the same with a lock */
	if
	:: d_step { true -> compare() } -> goto end
	:: d_step { !MUTANT(M_LOOKS_ONCE) -> skip }
	:: d_step { wrote[_pid] != NONE -> forget() } -> goto end	/* it dies here */
#ifdef MUTANTS
	:: d_step { MUTANT(M_LOOKS_ONCE) -> refuse() } -> goto end
#endif
	fi;
	d_step { true -> compare() };
	goto end;
waiting:	/* nobody takes it along, so it goes alone; or it was taken along; or it died with its process */
	if
	:: d_step { turn[_pid] == WAITS -> turn[_pid] = OUT }
	:: d_step { turn[_pid] == WRITTEN -> turn[_pid] = OUT; answer(wrote[_pid], true); forget() }
	:: d_step { turn[_pid] == OVER -> turn[_pid] = OUT }
	:: d_step { turn[_pid] == OUT -> forget() }
	fi;
	goto end;
leading:	/* insert_all(): each of the rows waits for whoever holds its key */
	if
	:: d_step { NOBODY_HOLDS(_pid) && NOBODY_HOLDS(along) && BOTH_ARE_NEW ->
		key_held[owner] = _pid + 1;
		key_held[OWNER(along)] = _pid + 1 }
	:: d_step { NOBODY_HOLDS(_pid) && NOBODY_HOLDS(along) && !BOTH_ARE_NEW ->
		turn[along] = (MUTANT(M_GROUP_IGNORES) -> WRITTEN : OVER) } -> goto end
	fi;
	if
	:: d_step { true -> write_both(); turn[along] = WRITTEN; answer(wrote[_pid], true); forget() }
	/* RC_UNCERTAIN, and it was done */
	:: d_step { true -> write_both(); turn[along] = OVER }
	/* RC_RETRY, or RC_UNCERTAIN and it wasn't done */
	:: d_step { true -> let_go_of_both(); turn[along] = (MUTANT(M_GROUP_TOLD_ANYWAY) -> WRITTEN : OVER) }
	/* the program dies with all its threads */
	:: d_step { true -> write_both(); turn[along] = OUT; forget() }
	fi;
	goto end;
#ifdef MUTANTS
unguarded:
	if
	:: d_step { rows < ROWS - 1 -> write_row(_pid, owner, intent) } -> goto end
	fi
#endif
}

/* job_store_cancel_key(): its insert meets the same index; what it finds it cancels, and leaves the intent as it is */
active proctype Canceller()
{
end:
	do
	:: d_step { key_held[FIRST_OWNER] == NONE && BY_KEY(FIRST_OWNER) == NONE -> write_row(_pid, FIRST_OWNER, TOMBSTONE) }
	od
}
