/* log.h: one line an event on standard error: a time, a level, the program, the event, then
 * key=value pairs.
 *
 * Bytes that could break a line or a terminal (controls, DEL, invalid UTF-8) come out as \xNN,
 * whoever sent them. A value that may hold blanks is written with quotes by the caller. Secrets,
 * payloads and keys are never arguments. Meanings: info, something an operator may ask about later;
 * warning, it went on but somebody should look; error, something asked for could not be done. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

void log_open(const char *program); /* a constant string; once, before the first line */

void log_info(const char *event, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log_warning(const char *event, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log_error(const char *event, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
