/* The interface of backends as plugins: libsharedcore-NAME.so exports sharedcore_backend(), which returns a table of functions
   over a log. Docs/Guide/Plugins.md explains how to write one.

   Strings are UTF-8 and end with a NUL. Pointers that the host passes to a function are valid until the function returns.

   The host calls the functions of one handle one after another, not always on the same thread. Only wait runs at the same time
   as another function of the handle. The threads have a stack of 512 KiB, and all signals except those of faults are blocked:
   a write to a closed socket is an error (EPIPE) and no SIGPIPE, and no call ends with EINTR. Descriptors must have FD_CLOEXEC. A
   forked child must not use a handle. */
#ifndef SHAREDCORE_BACKEND_H
#define SHAREDCORE_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SB_ABI 2
/* For the one symbol that is exported. */
#define SB_EXPORT __attribute__((visibility("default")))

/* The results of functions: SB_OK, SB_NOT_APPENDED, SB_NOTHING, or an error with its number in sharedcore.h. Each function may return each
   error; Docs/Guide/Plugins.md says what the host does with them. */
enum {
    SB_OK = 0,
    SB_ERR_INVALID_ARGUMENT = 1,
    SB_ERR_LIMIT_EXCEEDED = 2,
    SB_ERR_OUTCOME_UNKNOWN = 7,
    SB_ERR_UNSUPPORTED = 8,
    SB_ERR_STORAGE_FULL = 9,
    SB_ERR_FORBIDDEN = 10,
    SB_ERR_UNAVAILABLE = 11,
    SB_ERR_INCOMPATIBLE = 12,
    SB_ERR_CORRUPT = 13,
    SB_ERR_SYSTEM = 14,
    /* append alone: the log does not end at the position. */
    SB_NOT_APPENDED = 100,
    /* wait alone: the time has passed, or interrupt was called. */
    SB_NOTHING = 101
};

/* The events that a record survives once append has returned. MEMORY: none. PROCESS: the end of any process, also of a server that
   keeps the log. DISK: a loss of power. With SB_DURABILITY_DISK, read returns only records that are on the disk. */
enum { SB_DURABILITY_UNSPECIFIED = 0, SB_DURABILITY_MEMORY = 1, SB_DURABILITY_PROCESS = 2, SB_DURABILITY_DISK = 3 };

/* Promises beyond those of every log. */
enum {
    /* A process that is stopped within append delays no other for more than 250 ms. */
    SB_STOPPED_WRITERS_TOLERATED = 1,
    /* Ends of sessions are appended on a full disk as well. */
    SB_ENDINGS_ON_FULL_DISK = 2
};

/* Belongs to the plugin. */
typedef struct sb_log sb_log;

/* Filled in for an error. The host has set both to empty texts. */
typedef struct {
    char message[512];  /* a sentence for people */
    char location[256]; /* where: a path, an address */
} sb_error;

enum {
    /* The host makes the path absolute: one in a file begins at the file's directory. */
    SB_SETTING_PATH = 1,
    /* A password or the like, without a default. The host prints "(secret)" in place of the value, also in errors of the plugin. */
    SB_SETTING_SECRET = 2
};

typedef struct {
    const char *key;           /* letters and digits; the user writes NAME.key */
    const char *default_value; /* NULL for none */
    const char *summary;       /* a sentence for people */
    uint32_t flags;            /* SB_SETTING_PATH | …, or 0 */
    uint32_t reserved;         /* 0 */
} sb_setting;

typedef struct {
    size_t size;                 /* sizeof(sb_place) of the host */
    const char *group;           /* 1 to 64 of letters, digits, "._-" */
    const char *state_directory; /* absolute */
    const char *const *values;   /* one for each setting of the table, in its order; NULL for none */
    uint64_t largest_record;     /* bytes */
    int64_t open_timeout;        /* ms, at least 1; a little later the host no longer waits for open */
    int32_t durability;          /* that the user requires; open returns SB_ERR_UNSUPPORTED if the log has less */
    int32_t reads_only;          /* 1: create and write nothing, and return SB_ERR_UNAVAILABLE where there is no such log */
} sb_place;

/* The promises of an open log. open changes what differs from the table. */
typedef struct {
    size_t size; /* sizeof(sb_promises) of the host */
    int32_t durability;
    uint32_t features;     /* SB_STOPPED_WRITERS_TOLERATED | … */
    int64_t poll_interval; /* ms between two reads of wait; 0 if the server tells the log of records */
} sb_promises;

/* Receives the result of read. The plugin calls the functions in this order; they copy the bytes, and the plugin may free them. */
typedef struct sb_slice sb_slice;
struct sb_slice {
    size_t size; /* sizeof(sb_slice) of the host */
    void *host;  /* the host's own */
    /* Called once, first. `snapshot` is the position of the log's snapshot, 0 if there is none. `end` is the end of the
       log: the position of the next append. */
    void (*begin)(sb_slice *slice, uint64_t snapshot, uint64_t end);
    /* Called once if the asked position is before the snapshot, with the bytes that compact got. */
    void (*snapshot)(sb_slice *slice, const uint8_t *bytes, size_t count);
    /* Called for each record from the asked position on, or from the snapshot on, in order. */
    void (*record)(sb_slice *slice, const uint8_t *bytes, size_t count);
};

/* The table. All functions must be there. */
typedef struct {
    uint32_t abi;        /* SB_ABI */
    size_t size;         /* sizeof(sb_backend) */
    const char *name;    /* NAME of the file: lower-case letters, digits and "-", beginning with a letter */
    const char *version; /* for people */
    const sb_promises *promises;
    const sb_setting *settings;
    size_t setting_count;

    /* Opens the log of a group for one handle, and creates it if it is absent. */
    int32_t (*open)(const sb_place *place, sb_log **log, sb_promises *promises, sb_error *error);

    /* Appends a record at a position if the log ends there, else returns SB_NOT_APPENDED. After SB_OK the record lasts as
       promised, and each read that begins later, in any process, returns it. SB_ERR_OUTCOME_UNKNOWN, SB_ERR_UNAVAILABLE and
       SB_ERR_SYSTEM mean that it may have been appended; after other errors it was not. */
    int32_t (*append)(sb_log *log, uint64_t position, const uint8_t *record, size_t count, sb_error *error);

    /* Reads at most `limit` records from a position on, and at least one if the log does not end there. The host
       detects that the end of the log moves back. A plugin that can tell that a record is missing returns
       SB_ERR_CORRUPT. */
    int32_t (*read)(sb_log *log, uint64_t position, size_t limit, sb_slice *slice, sb_error *error);

    /* Waits until the log has a record at the position, at most `timeout` ms. Returns SB_NOTHING if it has none. It may return
       SB_NOTHING before the timeout, and the host then calls it again. Runs at the same time as other functions of the handle; there
       is at most one wait at a time. */
    int32_t (*wait)(sb_log *log, uint64_t position, int64_t timeout, sb_error *error);

    /* Ends the wait that runs now, or else the next one. Must return at once, and raise no signal. */
    void (*interrupt)(sb_log *log);

    /* Replaces the records before a position, and the former snapshot, by a snapshot, in one atomic step. Does nothing where a
       snapshot is at that position or behind it. */
    int32_t (*compact)(sb_log *log, uint64_t position, const uint8_t *snapshot, size_t count, sb_error *error);

    /* Frees the handle. The last call; no other function runs. */
    void (*close)(sb_log *log);
} sb_backend;

/* The one symbol of a plugin. `abi` is the version of the host. Returns a table that is never freed, or NULL if the plugin cannot
   work with that version. Makes no connection. */
SB_EXPORT const sb_backend *sharedcore_backend(uint32_t abi);

#ifdef __cplusplus
}
#endif
#endif
