/* choices.pml: what model.sh chooses for a run: how far a model goes, and which fault is built into it. Each is a hidden variable,
 * in no state, that the verifier sets from its environment when it starts, so that one verifier serves many runs. When a trail is
 * told they come from macros, for spin itself runs no C.
 *
 * MUTANT(m) asks whether the fault m is built in; m is a number that model.sh gives (mutants.pml). Without MUTANTS none can be: then it is the
 * constant false, and the compiler leaves nothing of it. */

#define ANY 255		/* of FAULTS and OPS: not bounded */

#ifdef TELLING
#define CHOSEN(choice) choice
#else
c_decl {
	extern char *getenv(const char *);
	extern int atoi(const char *);
	static int MUTATION, TRIES, FAULTS, OPS, RESENDS, GIVE_UPS, ONLY_THE_WORK;
	static int choice(const char *name)
	{
		return getenv(name) ? atoi(getenv(name)) : 0;
	}
	__attribute__((constructor)) static void choose(void)
	{
		MUTATION = choice("MUTATION");
		TRIES = choice("TRIES");
		FAULTS = choice("FAULTS");
		OPS = choice("OPS");
		RESENDS = choice("RESENDS");
		GIVE_UPS = choice("GIVE_UPS");
		ONLY_THE_WORK = choice("ONLY_THE_WORK");
	}
}
#define CHOSEN(choice) c_expr { choice }
#endif

hidden byte mutation = CHOSEN(MUTATION);
hidden byte tries = CHOSEN(TRIES);
hidden byte faults_allowed = CHOSEN(FAULTS);
hidden byte ops_allowed = CHOSEN(OPS);
hidden byte resends = CHOSEN(RESENDS);
hidden byte only_the_work = CHOSEN(ONLY_THE_WORK);

#ifdef MUTANTS
#include "mutants.pml"
#define MUTANT(m) (mutation == m)
#else
#define MUTANT(m) false
#endif
