// SQLite with a write-ahead log, through its library, which is loaded when it is used, so it is not needed to build.
#define _GNU_SOURCE
#include "CPeers.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

// The used part of <sqlite3.h>, which is a stable interface.

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
enum { SQLITE_OK = 0, SQLITE_ROW = 100, SQLITE_DONE = 101 };

static struct {
    int (*open)(const char *path, sqlite3 **database);
    int (*exec)(sqlite3 *database, const char *sql, void *callback, void *argument, char **message);
    int (*prepare_v2)(sqlite3 *database, const char *sql, int size, sqlite3_stmt **statement, const char **tail);
    int (*step)(sqlite3_stmt *statement);
    int (*reset)(sqlite3_stmt *statement);
    const void *(*column_blob)(sqlite3_stmt *statement, int column);
    int (*column_bytes)(sqlite3_stmt *statement, int column);
} sqlite;

static sqlite3 *database;
static sqlite3_stmt *reading, *writing;

static void *find(void *library, const char *name) {
    void *symbol = dlsym(library, name);
    if (symbol == NULL) measuring_absent("libsqlite3 is another one than expected");
    return symbol;
}

static void load(void) {
    void *library = dlopen("libsqlite3.so.0", RTLD_NOW);
    if (library == NULL) measuring_absent("libsqlite3 is not installed");
    sqlite.open = find(library, "sqlite3_open");
    sqlite.exec = find(library, "sqlite3_exec");
    sqlite.prepare_v2 = find(library, "sqlite3_prepare_v2");
    sqlite.step = find(library, "sqlite3_step");
    sqlite.reset = find(library, "sqlite3_reset");
    sqlite.column_blob = find(library, "sqlite3_column_blob");
    sqlite.column_bytes = find(library, "sqlite3_column_bytes");
}

static void run(const char *sql) {
    if (sqlite.exec(database, sql, NULL, NULL, NULL) != SQLITE_OK) measuring_fail(sql, EIO);
}

static int take(const char *word, int count, double *samples) {
    static char copy[peers_value_size];
    int is_get = strcmp(word, "get") == 0;
    sqlite3_stmt *statement = is_get ? reading : writing;
    for (int index = 0; index < count; index++) {
        uint64_t begin = measuring_now();
        if (sqlite.step(statement) != (is_get ? SQLITE_ROW : SQLITE_DONE)) measuring_fail(word, EIO);
        if (is_get) {
            if (sqlite.column_bytes(statement, 0) != peers_value_size) measuring_fail(word, EPROTO);
            memcpy(copy, sqlite.column_blob(statement, 0), peers_value_size);
        }
        sqlite.reset(statement);
        samples[index] = (double)(measuring_now() - begin);
    }
    return 1;
}

int peers_sqlite(const char *directory, int is_on_disk) {
    char path[PATH_MAX], sql[256];
    load();
    snprintf(path, sizeof path, "%s/database", directory);
    if (sqlite.open(path, &database) != SQLITE_OK) measuring_fail(path, EIO);
    run("PRAGMA journal_mode = WAL");
    // The durability: a commit survives the end of a process, or a loss of power.
    run(is_on_disk ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
    run("CREATE TABLE store (key TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID");
    snprintf(sql, sizeof sql, "INSERT OR REPLACE INTO store VALUES ('key', zeroblob(%d))", peers_value_size);
    run(sql);
    if (sqlite.prepare_v2(database, sql, -1, &writing, NULL) != SQLITE_OK
        || sqlite.prepare_v2(database, "SELECT value FROM store WHERE key = 'key'", -1, &reading, NULL) != SQLITE_OK) {
        measuring_fail("a statement", EIO);
    }
    return measuring_serve(take);
}
