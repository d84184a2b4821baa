/* print.h: text from outside on its way to a terminal or a script: nothing in it can act on the
 * terminal. */
#ifndef CTL_PRINT_H
#define CTL_PRINT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/text.h"

struct json_object;

/* Adds the bytes; controls (C0, DEL, C1), marks that turn the direction of writing, line and
 * paragraph separators, and whatever is no UTF-8 come out as \xNN, byte by byte. */
void print_escape(struct text *out, const char *bytes, size_t len);

/* The formatted text, escaped as a whole, and a newline. */
void print_vline(FILE *to, const char *format, va_list args);
void print_line(FILE *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* One JSON text and a newline, indented for a terminal. Controls and marks as above are written
 * \uNNNN, bytes that are no UTF-8 as U+FFFD, so the value stays what it was. False without memory.
 */
bool print_json(FILE *to, struct json_object *object, bool indented);

/* A length of time as people say it: "12s", "7m", "3h", "45d"; negative ones as "0s". */
#define PRINT_AGE_MAX 24
char *print_age(int64_t length_us, char age_out[PRINT_AGE_MAX]);

/* An instant in UTC to the second, "2026-12-01T22:40:47Z"; "" for 0 and for what no calendar holds.
 */
#define PRINT_TIME_MAX 24
char *print_time(int64_t us, char time_out[PRINT_TIME_MAX]);

#endif
