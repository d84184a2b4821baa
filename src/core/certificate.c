/* certificate.c: see certificate.h. */
#include "core/certificate.h"

#include <stdlib.h>

void certificate_release(struct certificate *certificate)
{
	free(certificate->report.bytes);
	*certificate = (struct certificate){ 0 };
}
