/* build.h: what --json prints, put together with json-c.
 *
 * NULL is an object that ran out of memory; adding to it lets go of what was to be added, so that
 * one question at the end is enough: ctl_print_json() asks it. A JSON null is build_null(). */
#ifndef CTL_BUILD_H
#define CTL_BUILD_H

#include <stdbool.h>
#include <stdint.h>

#include "store/definition.h"

struct json_object;

struct json_object *build_object(void);
struct json_object *build_array(void);
struct json_object *build_string(const char *text);
struct json_object *build_number(uint64_t number);
struct json_object *build_null(void); /* written as null */

/* A text of our own making, read so that it can be printed indented; NULL when it can't be read. */
struct json_object *build_parsed(const char *json);

/* `value` becomes *object's or *array's. Without memory all is let go and *object or *array becomes
 * NULL. */
void build_add(struct json_object **object, const char *name, struct json_object *value);
void build_push(struct json_object **array, struct json_object *value);
/* What was done to one thing, for scripts: {"<name>": "<value>", "done": "<done>"}. */
struct json_object *build_done(const char *name, const char *value, const char *done);

void build_drop(struct json_object *value); /* NULL is fine */

/* A provider or a contract, as every command shows it. */
struct json_object *build_definition(const struct definition_row *row);

#endif
