/* schema_gen.h: random schemas and documents, the same ones for the same seed on every machine. */
#ifndef TESTS_SCHEMA_GEN_H
#define TESTS_SCHEMA_GEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

struct gen {
	uint64_t state; /* not 0 */
	bool draft_7;
	/* What another validator may see otherwise, too: formats, numbers that no double holds,
	 * patterns that take too long. */
	bool wild;
};

uint32_t gen_below(struct gen *gen, uint32_t limit);

/* An object with the $id `id`, definitions and references to them. It may be one that is refused:
 * references may go round. No `$schema`. */
void gen_schema(struct gen *gen, const char *id, struct text *out);
void gen_document(struct gen *gen, unsigned int depth, struct text *out);

#endif
