/* mysql_client.h: the one place that includes <mysql.h>, so that the same source compiles against
 * MariaDB's client and Oracle's: what only one of them has is poisoned. Private to store. */
#ifndef STORE_MYSQL_CLIENT_H
#define STORE_MYSQL_CLIENT_H

#include <mysql.h>

#include <errmsg.h>
#include <mysqld_error.h>

#ifdef MARIADB_PACKAGE_VERSION
#define CLIENT_COMPILED_NAME "libmariadb"
#define CLIENT_COMPILED_VERSION MARIADB_PACKAGE_VERSION
#else
#define CLIENT_COMPILED_NAME "libmysqlclient"
#define CLIENT_COMPILED_VERSION MYSQL_SERVER_VERSION
#endif

/* What MYSQL_BIND's flags point to: my_bool in one client, bool in the other. */
typedef __typeof__(*((MYSQL_BIND *)0)->is_null) db_bool;

/* Option files are read while connecting and come after what was set before. MariaDB's client takes
 * "reconnect" from them; Oracle's doesn't. */
static inline int client_never_reconnect(MYSQL *mysql)
{
#ifdef MARIADB_PACKAGE_VERSION
	static const my_bool off = 0;

	return mysql_options(mysql, MYSQL_OPT_RECONNECT, &off);
#else
	return mysql == NULL;
#endif
}

#pragma GCC poison my_bool mysql_optionsv mysql_get_infov MARIADB_OPT_TLS_PEER_FP                  \
	MYSQL_OPT_RECONNECT

#endif
