/* definition.h: a provider's definition as stored -> the struct. Private to store. */
#ifndef STORE_DEFINITION_H
#define STORE_DEFINITION_H

#include "base/rc.h"
#include "core/job.h"
#include "core/provider_def.h"

/* RC_OK: the caller's. RC_INVALID: written by hand, or by a newer program. RC_FAULT. */
MUST_CHECK enum rc definition_read(const struct blob *definition, struct provider_def *def_out);

#endif
