// PostgreSQL through libpq, which is loaded when it is used, so it is not needed to build. The server is the one that
// the environment names (PGHOST and the like): the same that the measured group is on.
#define _GNU_SOURCE
#include "CPeers.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The used part of <libpq-fe.h>, which is a stable interface.

typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;
typedef struct { char *relname; int be_pid; char *extra; } PGnotify;
enum { PGRES_COMMAND_OK = 1, PGRES_TUPLES_OK = 2 };

static struct {
    PGconn *(*connectdb)(const char *settings);
    int (*status)(const PGconn *connection);
    int (*socket)(const PGconn *connection);
    PGresult *(*exec)(PGconn *connection, const char *sql);
    PGresult *(*prepare)(PGconn *connection, const char *name, const char *sql, int count, const unsigned *types);
    PGresult *(*exec_prepared)(PGconn *connection, const char *name, int count, const char *const *values, const int *lengths,
        const int *formats, int format);
    int (*result_status)(const PGresult *result);
    int (*getlength)(const PGresult *result, int row, int column);
    void (*clear)(PGresult *result);
    int (*consume)(PGconn *connection);
    PGnotify *(*notifies)(PGconn *connection);
    void (*freemem)(void *memory);
} pq;

static PGconn *connection;
static char topic;

static void *find(void *library, const char *name) {
    void *symbol = dlsym(library, name);
    if (symbol == NULL) measuring_absent("libpq is another one than expected");
    return symbol;
}

static void finish(PGresult *result, const char *what) {
    int status = pq.result_status(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) measuring_fail(what, EIO);
    pq.clear(result);
}

static void run(const char *sql) { finish(pq.exec(connection, sql), sql); }

static void join(char own_topic) {
    char sql[64];
    void *library = dlopen("libpq.so.5", RTLD_NOW);
    if (library == NULL) measuring_absent("libpq is not installed");
    pq.connectdb = find(library, "PQconnectdb");
    pq.status = find(library, "PQstatus");
    pq.socket = find(library, "PQsocket");
    pq.exec = find(library, "PQexec");
    pq.prepare = find(library, "PQprepare");
    pq.exec_prepared = find(library, "PQexecPrepared");
    pq.result_status = find(library, "PQresultStatus");
    pq.getlength = find(library, "PQgetlength");
    pq.clear = find(library, "PQclear");
    pq.consume = find(library, "PQconsumeInput");
    pq.notifies = find(library, "PQnotifies");
    pq.freemem = find(library, "PQfreemem");
    connection = pq.connectdb("");
    if (pq.status(connection) != 0) measuring_absent("the environment names no server of PostgreSQL");
    topic = own_topic;
    snprintf(sql, sizeof sql, "LISTEN bench_%c", topic);
    run(sql);
    finish(pq.prepare(connection, "post", "SELECT pg_notify($1, $2)", 0, NULL), "post");
}

static void post(uint64_t value) {
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    const char *values[] = {topic == 'a' ? "bench_b" : "bench_a", text};
    finish(pq.exec_prepared(connection, "post", 2, values, NULL, NULL, 1), "post");
}

static uint64_t hear(void) {
    while (1) {
        PGnotify *notification = pq.notifies(connection);
        if (notification != NULL) {
            uint64_t value = strtoull(notification->extra, NULL, 10);
            pq.freemem(notification);
            return value;
        }
        struct pollfd entry = {.fd = pq.socket(connection), .events = POLLIN};
        if (poll(&entry, 1, -1) < 0 || !pq.consume(connection)) measuring_fail("the server", ECONNRESET);
    }
}

static const struct measuring_way way = {post, hear};

void peers_postgres_echo(void) {
    measuring_end_with_parent();
    join('b');
    post(0);
    measuring_echo(&way);
}

static int take(const char *word, int count, double *samples) {
    if (strcmp(word, "oneway") == 0) {
        measuring_ping(&way, count, samples);
        return 1;
    }
    int is_get = strcmp(word, "get") == 0;
    static char value[peers_value_size];
    const char *values[] = {value};
    const int lengths[] = {sizeof value}, formats[] = {1};
    for (int index = 0; index < count; index++) {
        uint64_t begin = measuring_now();
        PGresult *result = is_get ? pq.exec_prepared(connection, "get", 0, NULL, NULL, NULL, 1)
                                  : pq.exec_prepared(connection, "put", 1, values, lengths, formats, 1);
        if (is_get && pq.getlength(result, 0, 0) != peers_value_size) measuring_fail(word, EPROTO);
        finish(result, word);
        samples[index] = (double)(measuring_now() - begin);
    }
    return 1;
}

int peers_postgres(char *own, const char *directory) {
    join('a');
    run("SET client_min_messages = warning");
    run("CREATE TABLE IF NOT EXISTS bench_store (key text PRIMARY KEY, value bytea)");
    finish(pq.prepare(connection, "put",
        "INSERT INTO bench_store VALUES ('key', $1::bytea) ON CONFLICT (key) DO UPDATE SET value = excluded.value", 0, NULL), "put");
    finish(pq.prepare(connection, "get", "SELECT value FROM bench_store WHERE key = 'key'", 0, NULL), "get");
    double sample;
    take("put", 1, &sample);
    peers_start_echo(own, "postgres-echo", directory);
    hear();
    return measuring_serve(take);
}
