// A plugin that breaks its contract as the setting “fault” says: in its table, where it is compiled with a macro, or in a function.
// Its log is in the memory of the process, one for all handles.
#include "sharedcore_backend.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef ABI
#define ABI SB_ABI
#endif
#ifndef NAME
#define NAME "faulty"
#endif
#ifndef SIZE
#define SIZE sizeof(sb_backend)
#endif
#ifndef COUNT
#define COUNT 2
#endif
#ifndef DEFAULT
#define DEFAULT NULL
#endif
#ifndef KEY
#define KEY "fault"
#endif

#ifdef BLOCKS
__attribute__((constructor)) static void block(void) {
    for (;;) pause();
}
#endif
#ifdef EXITS
__attribute__((constructor)) static void leave(void) { exit(0); }
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct { uint8_t *bytes; size_t count; } records[1000];
static uint64_t end;
static int waiting;

// The number of waits that are blocked.
int faulty_waiting(void) {
    pthread_mutex_lock(&mutex);
    int count = waiting;
    pthread_mutex_unlock(&mutex);
    return count;
}

struct sb_log {
    char fault[64], password[64];
    int is_interrupted, appends;
};

static int has(const sb_log *log, const char *fault) { return strcmp(log->fault, fault) == 0; }

// Shows the secret, as a client library may.
static int32_t tell(const char *password, sb_error *error) {
    snprintf(error->message, sizeof error->message, "The password %s is wrong.", password);
    snprintf(error->location, sizeof error->location, "server/%s", password);
    return SB_ERR_FORBIDDEN;
}

static int32_t open_log(const sb_place *place, sb_log **result, sb_promises *promises, sb_error *error) {
    const char *fault = place->values[0] ? place->values[0] : "";
    if (strcmp(fault, "open-null") == 0) return SB_OK;
    if (strcmp(fault, "open-exit") == 0) exit(0);
    if (strcmp(fault, "open-hang") == 0) sleep(8);
    if (strcmp(fault, "open-error") == 0) {
        // Without a NUL.
        memset(error->message, 'm', sizeof error->message);
        memset(error->location, 'l', sizeof error->location);
        return SB_ERR_FORBIDDEN;
    }
    const char *password = place->values[1] ? place->values[1] : "";
    if (strcmp(fault, "open-secret") == 0) return tell(password, error);
    sb_log *log = calloc(1, sizeof *log);
    strncpy(log->password, password, sizeof log->password - 1);
    strncpy(log->fault, fault, sizeof log->fault - 1);
    if (has(log, "open-durability")) promises->durability = 9;
    *result = log;
    return SB_OK;
}

static int32_t append(sb_log *log, uint64_t position, const uint8_t *record, size_t count, sb_error *error) {
    // The session has joined with the first record or two.
    int is_later = ++log->appends > 3;
    if (is_later && has(log, "append-code")) return 4711;
    if (is_later && has(log, "append-full")) return SB_ERR_STORAGE_FULL;
    if (is_later && has(log, "append-hang")) sleep(4);
    if (is_later && has(log, "append-crash")) raise(SIGSEGV);
    if (is_later && has(log, "append-secret")) return tell(log->password, error);
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    if (has(log, "append-signals") && !sigismember(&blocked, SIGPIPE)) return SB_ERR_INVALID_ARGUMENT;
    int32_t code = SB_NOT_APPENDED;
    // As if another process had been faster: the caller then has to read what it did not write itself.
    int is_wrong = is_later && has(log, "read-wrong");
    if (is_wrong) record = (const uint8_t *)"garbage", count = 7;
    pthread_mutex_lock(&mutex);
    if (position == end && end < 1000) {
        records[end].bytes = malloc(count);
        memcpy(records[end].bytes, record, count);
        records[end].count = count;
        end++;
        if (!is_wrong) code = SB_OK;
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&mutex);
    return code;
}

static int32_t read_log(sb_log *log, uint64_t position, size_t limit, sb_slice *slice, sb_error *error) {
    (void)error;
    int is_later = log->appends > 1;
    if (has(log, "read-exit")) exit(0);
    if (has(log, "read-block")) {
        fputs("The plugin blocks.\n", stderr);
        for (;;) pause();
    }
    if (!(is_later && has(log, "read-no-start"))) slice->begin(slice, 0, end - has(log, "read-shorter"));
    if (is_later && has(log, "read-two-starts")) slice->begin(slice, 0, end);
    if (is_later && has(log, "read-part")) slice->snapshot(slice, (const uint8_t *)"", 0);
    if (is_later && has(log, "read-snapshot")) slice->snapshot(slice, (const uint8_t *)"x", 1);
    if (is_later && has(log, "read-null")) slice->record(slice, NULL, 7);
    if (is_later && has(log, "read-many"))
        for (size_t index = 0; index <= limit; index++) slice->record(slice, (const uint8_t *)"x", 1);
    if (is_later && has(log, "read-garbage")) slice->record(slice, (const uint8_t *)"garbage", 7);
    pthread_mutex_lock(&mutex);
    for (; limit > 0 && position + has(log, "read-shorter") < end; limit--, position++)
        slice->record(slice, records[position].bytes, records[position].count);
    pthread_mutex_unlock(&mutex);
    return SB_OK;
}

static int32_t wait_log(sb_log *log, uint64_t position, int64_t timeout, sb_error *error) {
    (void)timeout, (void)error;
    if (has(log, "wait-hang")) {
        sleep(8);
        return SB_OK;
    }
    pthread_mutex_lock(&mutex);
    waiting++;
    while (end <= position && !log->is_interrupted) pthread_cond_wait(&changed, &mutex);
    waiting--;
    log->is_interrupted = 0;
    pthread_mutex_unlock(&mutex);
    return SB_OK;
}

static void interrupt(sb_log *log) {
    if (has(log, "interrupt-hang")) sleep(8);
    pthread_mutex_lock(&mutex);
    log->is_interrupted = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

static int32_t compact(sb_log *log, uint64_t position, const uint8_t *snapshot, size_t count, sb_error *error) {
    (void)log, (void)position, (void)snapshot, (void)count, (void)error;
    return SB_ERR_UNSUPPORTED;
}

__attribute__((unused)) static void close_log(sb_log *log) {
    // A call that follows shows itself.
    memset(log, 0xff, sizeof *log);
    free(log);
}

static const sb_setting settings[] = {
    { KEY, NULL, "What it does wrong.", 0, 0 },
    { "password", DEFAULT, "What it must not show.", SB_SETTING_SECRET, 0 },
};
static const sb_promises promises = { sizeof promises, SB_DURABILITY_MEMORY, 0, 0 };

static const sb_backend backend = {
    ABI, SIZE, NAME, "0", &promises, settings, COUNT,
    open_log, append, read_log, wait_log, interrupt, compact,
#ifdef MISSING
    NULL,
#else
    close_log,
#endif
};

const sb_backend *sharedcore_backend(uint32_t abi) {
#ifdef NO_TABLE
    abi = 0;
#endif
#ifdef SLOW
    sleep(SLOW);
#endif
    return abi == SB_ABI ? &backend : NULL;
}
