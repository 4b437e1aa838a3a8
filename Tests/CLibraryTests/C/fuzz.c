// Calls every function of sharedcore.h with hostile arguments: NULL, wrong lengths, stale and random handles, text that is
// not UTF-8, counts and timeouts at the ends of their ranges. A child does it, and its parent says which call ended it, or
// did not return.
//
//   fuzz DIRECTORY [CALLS] [SEED]
//
// CALLS is how often each function is called. First one thread does it, then four that share their handles. An argument
// that is wrong beyond doubt must be refused with one of four codes, and no call returns a code that stands for a fault of
// the library.

#include <ftw.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { thread_count = 4, round_calls = 20000, code_count = 128 };

// The progress of the child, which the parent reads.
struct progress {
    _Atomic(const char *) name;
    _Atomic uint64_t number;
};
static struct progress *progress;

static _Thread_local uint64_t state;
static _Thread_local sc_error failure;
// 1 if an argument of the call is certainly wrong.
static _Thread_local int is_wrong;
static const char *folder;

static uint64_t random_number(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545f4914f6cdd1dULL;
}

static uint64_t below(uint64_t limit) { return (random_number() >> 11) % limit; }
static int one_of(uint64_t count) { return below(count) == 0; }

// Handles: those that are open, by kind, and a few that were.

enum kind {
    GROUP,
    WATCH,
    OBSERVATION,
    MAILBOX,
    DELIVERY,
    MAIN,
    EXECUTOR,
    HOLDER,
    CORE,
    TAKEN,
    RESPONDER,
    RECEIVED,
    PENDING,
    CHANGES,
    TELEPHONE_CALL,
    COMMAND,
    ACTIVITY,
    PUSHES,
    TAKEN_PUSH,
    kind_count
};
enum { slot_count = 6, stale_count = 64 };
static sc_handle open_handles[kind_count][slot_count];
static sc_handle stale_handles[stale_count];
static pthread_mutex_t pool = PTHREAD_MUTEX_INITIALIZER;

static void retire(sc_handle handle) {
    pthread_mutex_lock(&pool);
    for (int kind = 0; kind < kind_count; kind++) {
        for (int slot = 0; slot < slot_count; slot++) {
            if (open_handles[kind][slot] == handle) open_handles[kind][slot] = 0;
        }
    }
    stale_handles[below(stale_count)] = handle;
    pthread_mutex_unlock(&pool);
}

// Keeps a handle; with no space for it, closes it.
static void keep(enum kind kind, sc_handle handle) {
    if (handle == 0) return;
    pthread_mutex_lock(&pool);
    for (int slot = 0; slot < slot_count; slot++) {
        if (open_handles[kind][slot] != 0) continue;
        open_handles[kind][slot] = handle;
        pthread_mutex_unlock(&pool);
        return;
    }
    pthread_mutex_unlock(&pool);
    sc_close(handle);
    retire(handle);
}

// An open handle of a kind; 0 where there is none.
static sc_handle opened(enum kind kind) {
    pthread_mutex_lock(&pool);
    sc_handle handle = 0;
    uint64_t first = below(slot_count);
    for (int slot = 0; slot < slot_count && handle == 0; slot++) {
        handle = open_handles[kind][(first + slot) % slot_count];
    }
    pthread_mutex_unlock(&pool);
    return handle;
}

static int has_space(enum kind kind) {
    int result = 0;
    pthread_mutex_lock(&pool);
    for (int slot = 0; slot < slot_count; slot++) result |= open_handles[kind][slot] == 0;
    pthread_mutex_unlock(&pool);
    return result;
}

// A handle for a call that takes one of two kinds: mostly such a one.
static sc_handle handle_of(enum kind kind, enum kind other) {
    sc_handle handle = opened(one_of(2) ? kind : other);
    if (handle == 0) handle = opened(kind);
    if (handle != 0 && !one_of(5)) return handle;
    is_wrong = 1;
    switch (below(7)) {
    case 0: return 0;
    case 1: return UINT64_MAX;
    case 2: return random_number();
    // The slot of an open handle with another generation, and a generation with another slot.
    case 3: return handle == 0 ? random_number() : handle ^ (1ULL << (52 + below(12)));
    case 4: return handle | 0x00ffff00;
    case 5: {
        enum kind wrong = below(kind_count);
        if (wrong != kind && wrong != other && opened(wrong) != 0) return opened(wrong);
        return 0;
    }
    default:
        pthread_mutex_lock(&pool);
        handle = stale_handles[below(stale_count)];
        pthread_mutex_unlock(&pool);
        return handle;
    }
}

static sc_handle handle(enum kind kind) { return handle_of(kind, kind); }

// A thread closes what another one waits with.
static _Atomic sc_handle closing;

static void *close_what_is_waited_with(void *unused) {
    (void)unused;
    state = 88172645463325252ULL;
    for (;;) {
        sc_handle handle = atomic_exchange(&closing, 0);
        if (handle == UINT64_MAX) return NULL;
        usleep(1000);
        if (handle == 0) continue;
        sc_close(handle);
        retire(handle);
    }
}

static int64_t number(void);
static const char *name_of_few(void);
static _Atomic int is_over;

// Two threads are the other side of requests and commands, and make no mistakes.
static void *ask(void *unused) {
    (void)unused;
    state = 362436069;
    while (!atomic_load(&is_over)) {
        sc_bytes reply = {0};
        usleep(1000);
        sc_group group = opened(GROUP);
        sc_request(group, name_of_few(), one_of(4) ? "json" : NULL, (const uint8_t *)"x", 1, 20, &reply, &failure);
        sc_bytes_free(&reply);
        sc_call_command(group, name_of_few(), 1 + (int32_t)below(5), 20, &failure);
    }
    return NULL;
}

static void *answer(void *unused) {
    (void)unused;
    state = 521288629;
    while (!atomic_load(&is_over)) {
        sc_responder responder = 0;
        sc_received request = 0;
        sc_bytes bytes = {0};
        usleep(500);
        if (sc_responder_open(opened(GROUP), name_of_few(), NULL, &responder, &failure) != SC_OK) continue;
        if (sc_responder_take(responder, 10, &request, &bytes, &failure) == SC_OK) {
            if (one_of(3)) {
                sc_refuse(request, "no", NULL, &failure);
            } else {
                sc_reply(request, bytes.bytes, bytes.count, NULL, &failure);
            }
        }
        sc_bytes_free(&bytes);
        sc_close(responder);
    }
    return NULL;
}

static int64_t number(void) {
    static const int64_t ends[] = {0, 1, -1, 2, INT64_MAX, INT64_MIN, INT64_MAX - 1, INT64_MIN + 1, INT32_MAX,
        INT32_MIN, (int64_t)UINT32_MAX, 946080000000, 946080000001, INT64_MAX / 1000, INT64_MAX / 1000 + 1, 4096, 65536};
    if (one_of(4)) return (int64_t)random_number();
    return ends[below(sizeof ends / sizeof *ends)];
}

// How long a call may wait with a handle. For longer than a moment only while another thread closes it.
static int64_t timeout_with(sc_handle handle) {
    int64_t timeout = one_of(50) ? number() : (int64_t)below(2) * one_of(8);
    if (is_wrong || (timeout >= 0 && timeout <= 2)) return timeout;
    sc_handle free = 0;
    return atomic_compare_exchange_strong(&closing, &free, handle) ? timeout : 0;
}

// Text and bytes.

enum { large_count = 3 << 20 };
static char *endless, *large;

static void *out(void *place, uint64_t chance) {
    if (!one_of(chance)) return place;
    is_wrong = 1;
    return NULL;
}

static sc_error *failure_place(void) { return one_of(10) ? NULL : &failure; }

static const char *const names[] = {"a", "a/b", "a/b/c", "w", "bell", "m", "id-1", "id-2", "one", "\xc3\xa4", "core/x"};
static const char *const odd[] = {"", "/", "//", "a/", "/a", "a//b", ".", "..", "a/../b", " ", "\n", "\x7f", "\x01", "*",
    "$", "$sharedcore", "core", "core/owner", "inbox", "\xf0\x9f\x98\x80", "e\xcc\x81", "\xef\xbb\xbf", "\xe2\x80\xae"};
static const char *const broken[] = {"\xff", "\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "a\x80", "\xf8\x88\x80\x80\x80"};

static const char *name_of_few(void) { return names[below(3)]; }

// Text that ends with a NUL.
static const char *word(int may_be_null) {
    switch (below(12)) {
    case 0:
        if (!may_be_null) is_wrong = 1;
        return NULL;
    case 1: is_wrong = 1; return broken[below(sizeof broken / sizeof *broken)];
    case 2: return odd[below(sizeof odd / sizeof *odd)];
    case 3: return endless + below(9000);
    // What the other side uses.
    case 4: case 5: case 6: return name_of_few();
    default: return names[below(sizeof names / sizeof *names)];
    }
}

// Text with its length, or SC_NUL.
static const char *text(size_t *count) {
    static const size_t counts[] = {SC_NUL - 1, SIZE_MAX / 2, (size_t)1 << 63, (size_t)1 << 40, 4097, (1 << 30) + 1};
    const char *found;
    switch (below(12)) {
    case 0:
        is_wrong = 1;
        *count = counts[below(sizeof counts / sizeof *counts)];
        return one_of(4) ? NULL : large;
    // All of random bytes.
    case 1: *count = below(4096); return large + below(large_count - 4096);
    case 2: *count = below(4097); return endless;
    case 3: *count = 0; return "a";
    case 4: *count = 3; return "a\0b";
    default:
        found = word(0);
        *count = found == NULL || one_of(2) ? SC_NUL : strlen(found);
        return found;
    }
}

static const uint8_t *some_bytes(size_t *count) {
    switch (below(24)) {
    case 0: *count = 0; return NULL;
    case 1: is_wrong = 1; *count = 1 + below(100); return NULL;
    case 2: is_wrong = 1; *count = (1UL << 30) + 1; return (const uint8_t *)large;
    case 3: is_wrong = 1; *count = SIZE_MAX - below(2); return (const uint8_t *)large;
    case 4: *count = one_of(200) ? below(large_count) : below(300); return (const uint8_t *)large;
    default: *count = below(16); return (const uint8_t *)large + below(1000);
    }
}

// The calls.

static int32_t try_sc_abi(void) { return sc_abi() == SC_ABI ? SC_OK : SC_ERR_UNKNOWN; }
static int32_t try_sc_version(void) { return sc_version()[0] != 0 ? SC_OK : SC_ERR_UNKNOWN; }
static int32_t try_sc_code_name(void) { return sc_code_name((int32_t)number())[0] != 0 ? SC_OK : SC_ERR_UNKNOWN; }

static int32_t try_sc_close(void) {
    if (one_of(3)) {
        // Mostly what is soon made again.
        static const enum kind kinds[] = {WATCH, OBSERVATION, MAILBOX, DELIVERY, TAKEN, RESPONDER, RECEIVED, PENDING, CHANGES,
            COMMAND, PUSHES, TAKEN_PUSH};
        sc_handle closed = one_of(500) ? opened(below(kind_count)) : opened(kinds[below(sizeof kinds / sizeof *kinds)]);
        if (closed == 0) return sc_close(0);
        retire(closed);
        return sc_close(closed);
    }
    sc_handle wrong;
    do {
        is_wrong = 0;
        wrong = handle(kind_count - 1);
        // Another kind is closed as well.
        for (int kind = 0; kind < kind_count; kind++) {
            for (int slot = 0; slot < slot_count; slot++) {
                if (open_handles[kind][slot] == wrong) is_wrong = 0;
            }
        }
    } while (!is_wrong);
    if (wrong == 0) is_wrong = 0;
    return sc_close(wrong);
}

static int32_t try_sc_descriptor(void) {
    int32_t descriptor;
    static const enum kind kinds[] = {WATCH, OBSERVATION, MAILBOX, RESPONDER, MAIN, EXECUTOR, HOLDER, CHANGES, TELEPHONE_CALL,
        PUSHES, PENDING};
    enum { pollable_count = sizeof kinds / sizeof *kinds };
    sc_handle of = handle(kinds[below(pollable_count)]);
    // Another kind may be right.
    for (int kind = 0; kind < pollable_count; kind++) {
        for (int slot = 0; slot < slot_count; slot++) {
            if (open_handles[kinds[kind]][slot] == of) is_wrong = 0;
        }
    }
    return sc_descriptor(of, out(&descriptor, 20), failure_place());
}

static int32_t try_sc_open(void) {
    sc_options options = SC_OPTIONS_INIT;
    sc_group group = 0;
    char path[256];
    static const char *const roles[] = {"main", "executor", "main", "executor", "tool", NULL, "one", "", "\n"};
    options.role = roles[below(sizeof roles / sizeof *roles)];
    if (has_space(GROUP) && one_of(10)) {
        // One of few groups, so that its participants meet.
        snprintf(path, sizeof path, "%s/g%d", folder, (int)below(2));
        options.directory = path;
        options.backend = one_of(3) ? "memory" : NULL;
        options.read_only = one_of(8) ? (int32_t)number() : 0;
    } else {
        static const char *const directories[] = {"", "/", "///", "relative/path", "/dev/null/group", "/proc/none/group", "/.",
            "/..", "/a\n", "/proc/self/fd/0/x"};
        static const char *const backends[] = {NULL, "file", "memory", "none", "", "FILE", "zmq", "etcd", "\xff"};
        static const char *const settings[] = {"zmq.endpoint=tcp://", "zmq.endpoint=ipc:///proc/none", "zmq.endpoint=inproc://x",
            "zmq.endpoint=tcp://127.0.0.1:1", "=", "=x", "x=", "none", "zmq.=1", NULL, "\xff=1", "zmq.endpoint=tcp://[::1]:99999"};
        is_wrong = 1;
        options.directory = directories[below(sizeof directories / sizeof *directories)];
        if (one_of(8)) options.directory = word(1);
        options.backend = backends[below(sizeof backends / sizeof *backends)];
        if (one_of(8)) options.size = (size_t)number();
        if (one_of(8)) options.role = word(1);
        if (one_of(8)) options.name = word(1);
        if (one_of(8)) options.durability = word(1);
        if (one_of(4)) {
            options.settings = settings + below(6);
            options.setting_count = one_of(8) ? (1 << 20) + 1 + below(1000) : below(6);
        }
        if (one_of(8)) options.settings = NULL;
        // A hub that is not there is waited for.
        options.open_timeout = options.backend != NULL && strcmp(options.backend, "zmq") == 0 ? 1 : number();
        // Some of that may open a group, or fail as a system does.
        int32_t code = sc_open(one_of(20) ? NULL : &options, out(&group, 20), failure_place());
        is_wrong = 0;
        if (code == SC_OK) keep(GROUP, group);
        return code == SC_ERR_SYSTEM || code == SC_ERR_FORBIDDEN ? SC_ERR_UNAVAILABLE : code;
    }
    int32_t code = sc_open(&options, &group, failure_place());
    if (code == SC_OK) keep(GROUP, group);
    return code;
}

static int32_t try_sc_open_configured(void) {
    static const char *const valid[] = {"backend=memory", "group=g0", "stateDirectory=/proc/none", "durability=disk",
        "executor.budget=2s", "handover.timeout=1ms"};
    static const char *const hostile[] = {"backend=", "backend=none", "none=1", "=", "group", NULL, "\xff=1", "group=\xff",
        "handover.timeout=nan", "handover.timeout=-1s", "executor.budget=99999999999999999999s", "group=a/b", "group=..",
        "zmq.endpoint=tcp://", "stateDirectory=", "durability=9", "baton.lifetime=1e999s", "group=\n"};
    sc_options options = SC_OPTIONS_INIT;
    const char *settings[8];
    sc_group group = 0;
    options.settings = settings;
    if (!has_space(GROUP) || !one_of(10)) is_wrong = 1;
    options.role = one_of(2) ? "main" : "executor";
    options.setting_count = 1 + below(7);
    settings[0] = "backend=memory";
    for (size_t index = 1; index < options.setting_count; index++) settings[index] = valid[below(sizeof valid / sizeof *valid)];
    if (is_wrong) settings[below(options.setting_count)] = hostile[below(sizeof hostile / sizeof *hostile)];
    switch (is_wrong ? below(12) : 12) {
    case 0: options.size = (size_t)number(); break;
    case 1: options.directory = "/tmp/group"; break;
    case 2: options.backend = "file"; break;
    case 3: options.durability = word(0); break;
    case 4: options.setting_count = (size_t)number() | ((size_t)1 << 21); break;
    case 5: options.settings = NULL; break;
    case 6: options.configuration_file = word(0); break;
    case 7: options.configuration_file = "/proc/self/exe"; break;
    default: options.open_timeout = is_wrong || one_of(4) ? number() : 1 + (int64_t)below(1000); break;
    }
    int32_t code = sc_open_configured(&options, &group, failure_place());
    // A hostile setting may be overridden by a later one of the same key.
    if (options.setting_count <= 7 && options.settings != NULL) is_wrong = 0;
    if (code == SC_OK) keep(GROUP, group);
    return code;
}

static int32_t try_sc_session(void) {
    uint64_t session;
    return sc_session(handle(GROUP), out(&session, 20), failure_place());
}

static int32_t try_sc_sync(void) { return sc_sync(handle(GROUP), failure_place()); }

static int32_t try_sc_get(void) {
    sc_entry entry = {0};
    size_t count;
    const char *key = text(&count);
    int32_t code = sc_get(handle(GROUP), key, count, out(&entry, 20), failure_place());
    if (code == SC_OK) CHECK(entry.key[entry.key_count] == 0 && entry.revision > 0);
    sc_entry_free(&entry);
    return code;
}

static int32_t try_sc_list(void) {
    sc_list_result list = {0};
    size_t count;
    const char *prefix = text(&count);
    int32_t code = sc_list(handle(GROUP), prefix, count, out(&list, 20), failure_place());
    for (size_t index = 0; code == SC_OK && index < list.count; index++) {
        CHECK(list.entries[index].key[list.entries[index].key_count] == 0);
    }
    sc_list_free(&list);
    return code;
}

static int32_t try_sc_put(void) {
    size_t count, value_count;
    uint64_t revision;
    const char *key = text(&count);
    const uint8_t *value = some_bytes(&value_count);
    return sc_put(handle(GROUP), key, count, value, value_count, one_of(2) ? NULL : &revision, failure_place());
}

static int32_t try_sc_delete(void) {
    size_t count;
    const char *key = text(&count);
    return sc_delete(handle(GROUP), key, count, NULL, failure_place());
}

static int32_t try_sc_commit(void) {
    static sc_guard none[(1 << 20) + 1];
    sc_guard guards[4] = {0};
    sc_operation operations[8] = {0};
    size_t guard_count = one_of(2) ? 0 : below(4), operation_count = below(8);
    for (size_t index = 0; index < guard_count; index++) {
        guards[index].key = text(&guards[index].key_count);
        guards[index].kind = one_of(8) ? (int32_t)number() : (int32_t)below(4);
        guards[index].revision = (uint64_t)number();
    }
    for (size_t index = 0; index < operation_count; index++) {
        operations[index].key = text(&operations[index].key_count);
        operations[index].value = some_bytes(&operations[index].value_count);
        operations[index].kind = one_of(8) ? (int32_t)number() : (int32_t)below(5);
        operations[index].lifetime_kind = one_of(8) ? (int32_t)number() : (int32_t)below(3);
        operations[index].lifetime = number();
        operations[index].state = (uint64_t)number();
    }
    // A value is read with SC_PUT alone.
    is_wrong = 0;
    const sc_guard *first_guard = guards;
    const sc_operation *first_operation = operations;
    switch (below(20)) {
    case 0: first_guard = NULL; guard_count = 1 + below(9); is_wrong = 1; break;
    case 1: first_operation = NULL; operation_count = 1 + below(9); is_wrong = 1; break;
    case 2: guard_count = (1 << 20) + 1 + (size_t)below(1000); is_wrong = 1; break;
    case 3: operation_count = SIZE_MAX - below(1000); is_wrong = 1; break;
    // All without a key.
    case 4: first_guard = none; guard_count = 1 << 20; is_wrong = 1; break;
    default: break;
    }
    uint64_t revision, request = one_of(2) ? 0 : (uint64_t)number();
    return sc_commit(
        handle(GROUP), first_guard, guard_count, first_operation, operation_count, request, one_of(2) ? NULL : &revision,
        failure_place());
}

static int32_t try_sc_watch_open(void) {
    sc_watch watch = 0;
    size_t count;
    const char *prefix = text(&count);
    int32_t start = one_of(8) ? (int32_t)number() : (int32_t)below(3);
    int32_t code = sc_watch_open(handle(GROUP), prefix, count, start, (uint64_t)number(), out(&watch, 20), failure_place());
    if (code == SC_OK) keep(WATCH, watch);
    return code;
}

static int32_t try_sc_watch_next(void) {
    sc_event event = {0};
    sc_watch watch = handle(WATCH);
    sc_event *place = out(&event, 20);
    int32_t code = sc_watch_next(watch, timeout_with(watch), place, failure_place());
    for (size_t index = 0; code == SC_OK && index < event.count; index++) {
        CHECK(event.changes[index].entry.key[event.changes[index].entry.key_count] == 0);
    }
    sc_event_free(&event);
    return code;
}

static int32_t try_sc_post(void) {
    size_t count;
    const char *name = text(&count);
    uint64_t posted = (uint64_t)number();
    return sc_post(handle(GROUP), name, count, one_of(2) ? NULL : &posted, NULL, failure_place());
}

static int32_t try_sc_state(void) {
    size_t count;
    sc_notification notification;
    const char *name = text(&count);
    return sc_state(handle(GROUP), name, count, out(&notification, 20), failure_place());
}

static int32_t try_sc_observe(void) {
    size_t count;
    sc_observation observation = 0;
    const char *name = text(&count);
    int32_t code = sc_observe(handle(GROUP), name, count, out(&observation, 20), failure_place());
    if (code == SC_OK) keep(OBSERVATION, observation);
    return code;
}

static int32_t try_sc_observation_next(void) {
    sc_notification notification;
    sc_observation observation = handle(OBSERVATION);
    sc_notification *place = out(&notification, 20);
    return sc_observation_next(observation, timeout_with(observation), place, failure_place());
}

static int32_t try_sc_mailbox_open(void) {
    sc_mailbox mailbox = 0;
    const char *path = word(0);
    int32_t overflow = one_of(8) ? (int32_t)number() : (int32_t)below(2);
    // Mostly small, so that they are full.
    uint64_t capacity = one_of(8) ? (uint64_t)number() : 1 + below(8);
    int32_t code = sc_mailbox_open(handle(GROUP), path, capacity, overflow, out(&mailbox, 20), failure_place());
    if (code == SC_OK) keep(MAILBOX, mailbox);
    return code;
}

static int32_t try_sc_send(void) {
    size_t count;
    const uint8_t *bytes = some_bytes(&count);
    return sc_send(handle(MAILBOX), bytes, count, NULL, failure_place());
}

static int32_t try_sc_take(void) {
    sc_delivery delivery = 0;
    sc_bytes bytes = {0};
    sc_mailbox mailbox = handle(MAILBOX);
    sc_delivery *delivery_place = out(&delivery, 20);
    sc_bytes *bytes_place = out(&bytes, 20);
    int32_t code = sc_take(mailbox, timeout_with(mailbox), delivery_place, bytes_place, failure_place());
    if (code == SC_OK) keep(DELIVERY, delivery);
    sc_bytes_free(&bytes);
    return code;
}

static int32_t try_sc_acknowledge(void) {
    int32_t acknowledged;
    sc_delivery delivery = handle(DELIVERY);
    int32_t code = sc_acknowledge(delivery, one_of(2) ? NULL : &acknowledged, failure_place());
    if (code == SC_OK) retire(delivery);
    return code;
}

static int32_t try_sc_acknowledge_with(void) {
    sc_guard guard = {.kind = one_of(8) ? (int32_t)number() : (int32_t)below(4), .revision = (uint64_t)number()};
    sc_operation put = {.kind = SC_PUT};
    guard.key = text(&guard.key_count);
    put.key = text(&put.key_count);
    put.value = some_bytes(&put.value_count);
    int32_t acknowledged;
    uint64_t revision;
    // The texts of guards and operations are tried with sc_commit.
    is_wrong = 0;
    sc_delivery delivery = handle(DELIVERY);
    size_t guard_count = below(2), operation_count = below(2);
    if (!one_of(20)) guard_count = SIZE_MAX - below(1000), is_wrong = 1;
    int32_t code = sc_acknowledge_with(
        delivery, &guard, guard_count, &put, operation_count, one_of(2) ? NULL : &acknowledged,
        one_of(2) ? NULL : &revision, failure_place());
    if (code == SC_OK) retire(delivery);
    return code;
}

static int32_t try_sc_give_back(void) {
    sc_delivery delivery = handle(DELIVERY);
    int32_t code = sc_give_back(delivery, failure_place());
    if (code == SC_OK) retire(delivery);
    return code;
}

// A time of a participant, which is wrong below 0.
static int64_t time_option(void) {
    int64_t time = number();
    if (time < 0) is_wrong = 1;
    return time;
}

static sc_participant_options participant_options(void) {
    sc_participant_options options = SC_PARTICIPANT_OPTIONS_INIT;
    if (one_of(4)) options.handover_timeout = one_of(4) ? time_option() : (int64_t)below(500);
    if (one_of(8)) options.stop_timeout = time_option();
    if (one_of(8)) options.executor_budget = time_option();
    if (one_of(8)) options.core_linger = time_option();
    if (one_of(4)) options.handover_maximum_timeout = one_of(4) ? time_option() : 500 + (int64_t)below(1000);
    // The default of the timeout is that of the group, and the one of the maximum is 5 s.
    int64_t maximum = options.handover_maximum_timeout == 0 ? 5000 : options.handover_maximum_timeout;
    if (options.handover_timeout > maximum) is_wrong = 1;
    // A holder that is closed waits twice as long for a Main that rests.
    if (one_of(4)) options.wake_timeout = (int64_t)below(20);
    static const char *const kinds[] = {"a/1", "b", "c", "d"};
    if (one_of(2)) options.takes_batons = kinds, options.takes_baton_count = 1 + below(4);
    // A baton that nobody applies ends soon.
    if (one_of(2)) options.baton_lifetime = one_of(8) ? number() : 1000;
    if (options.baton_lifetime != 0 && (options.baton_lifetime < 1000 || options.baton_lifetime > 60000)) is_wrong = 1;
    if (one_of(16)) {
        static const char *const wrong[] = {"A", NULL, "\xff", ""};
        options.takes_batons = one_of(4) ? NULL : wrong + below(4);
        options.takes_baton_count = options.takes_batons == NULL || one_of(2) ? 1 : SIZE_MAX - below(1000);
        is_wrong = 1;
    }
    if (one_of(4)) options.takes_over = (int32_t)number();
    if (one_of(4)) options.insists = (int32_t)number();
    if (one_of(8)) {
        options.size = (size_t)number();
        if (options.size != sizeof options) is_wrong = 1;
    }
    return options;
}

static int32_t try_participant(
    enum kind kind, int32_t (*call)(sc_group, const sc_participant_options *, sc_participant *, sc_error *)) {
    sc_participant participant = 0;
    sc_participant_options options = participant_options();
    const sc_participant_options *place = &options;
    if (one_of(8)) {
        place = NULL;
        is_wrong = 0;
    }
    sc_group group = handle(GROUP);
    // Participants cost threads and tasks: few are made.
    if (!is_wrong && !one_of(20)) options.size = 1, place = &options, is_wrong = 1;
    int32_t code = call(group, place, out(&participant, 20), failure_place());
    if (code == SC_OK) keep(kind, participant);
    return code;
}

static int32_t try_sc_main_start(void) { return try_participant(MAIN, sc_main_start); }
static int32_t try_sc_executor_open(void) { return try_participant(EXECUTOR, sc_executor_open); }
static int32_t try_sc_holder_open(void) { return try_participant(HOLDER, sc_holder_open); }
static int32_t try_sc_main_rest(void) { return sc_main_rest(handle(MAIN), failure_place()); }
static int32_t try_sc_main_resume(void) { return sc_main_resume(handle(MAIN), failure_place()); }

static int32_t try_sc_participant_next(void) {
    sc_participant_event event = {0};
    sc_participant participant = handle_of(one_of(4) ? HOLDER : MAIN, EXECUTOR);
    // The third kind is right as well.
    for (int slot = 0; slot < slot_count; slot++) {
        if (open_handles[MAIN][slot] == participant || open_handles[HOLDER][slot] == participant) is_wrong = 0;
    }
    sc_participant_event *place = out(&event, 20);
    int32_t code = sc_participant_next(participant, timeout_with(participant), place, failure_place());
    if (code == SC_OK && event.kind == SC_CORE_START) keep(CORE, event.core);
    if (code == SC_OK && event.baton != NULL) CHECK(event.baton->size == sizeof(sc_baton) && event.baton->call_count > 0);
    for (size_t index = 0; code == SC_OK && index < event.take_count; index++) CHECK(event.takes[index][0] != 0);
    if (code == SC_OK && event.kind == SC_RESULT) keep(TAKEN, event.taken);
    sc_participant_event_free(&event);
    if (code == SC_ENDED && participant != 0) {
        retire(participant);
        sc_close(participant);
    }
    return code;
}

static int32_t try_sc_participant_end(void) {
    sc_participant participant = one_of(50) ? handle_of(MAIN, EXECUTOR) : random_number();
    if (opened(MAIN) != participant && opened(EXECUTOR) != participant) is_wrong = 0;
    return sc_participant_end(participant, failure_place());
}

static int32_t try_sc_executor_ask(void) {
    uint64_t request;
    const char *id = word(0), *of = one_of(4) ? "1" : NULL;
    sc_participant executor = handle(EXECUTOR);
    if (!is_wrong && !one_of(6)) id = NULL, is_wrong = 1;
    return sc_executor_ask(executor, id, of, number(), one_of(4) ? NULL : &request, failure_place());
}

static int32_t try_sc_executor_insist(void) {
    const char *id = word(0), *of = one_of(4) ? "1" : NULL;
    return sc_executor_insist(handle(EXECUTOR), id, of, number(), NULL, failure_place());
}

static int32_t try_sc_executor_finish(void) {
    return sc_executor_finish(one_of(20) ? handle(EXECUTOR) : random_number(), failure_place());
}

static int32_t try_sc_taken_acknowledge(void) {
    int32_t acknowledged;
    sc_taken taken = handle(TAKEN);
    int32_t code = sc_taken_acknowledge(taken, one_of(2) ? NULL : &acknowledged, failure_place());
    if (code == SC_OK) retire(taken);
    return code;
}

static int32_t try_sc_taken_give_back(void) {
    sc_taken taken = handle(TAKEN);
    int32_t code = sc_taken_give_back(taken, failure_place());
    if (code == SC_OK) retire(taken);
    return code;
}

static int32_t try_sc_main_acknowledge(void) {
    int32_t acknowledged;
    const char *id = word(0), *of = one_of(4) ? "1" : NULL;
    return sc_main_acknowledge(handle(MAIN), id, of, one_of(2) ? NULL : &acknowledged, failure_place());
}

static int32_t try_sc_main_pushes(void) {
    sc_pushes pushes = 0;
    int32_t code = sc_main_pushes(handle(MAIN), out(&pushes, 20), failure_place());
    if (code == SC_OK) keep(PUSHES, pushes);
    return code;
}

static int32_t try_sc_pushes_next(void) {
    sc_taken_push taken = 0;
    const sc_push *push = NULL;
    sc_pushes pushes = handle(PUSHES);
    sc_taken_push *taken_place = out(&taken, 20);
    const sc_push **push_place = out(&push, 20);
    int32_t code = sc_pushes_next(pushes, timeout_with(pushes), taken_place, push_place, failure_place());
    if (code == SC_OK) CHECK(push->size == sizeof *push && push->call_id[0] != 0 && push->type[0] != 0);
    if (code == SC_OK) keep(TAKEN_PUSH, taken);
    sc_push_free(&push);
    return code;
}

static int32_t try_sc_push_acknowledge(void) {
    int32_t acknowledged;
    sc_taken_push taken = handle(TAKEN_PUSH);
    int32_t code = sc_push_acknowledge(taken, one_of(2) ? NULL : &acknowledged, failure_place());
    if (code == SC_OK) retire(taken);
    return code;
}

static int32_t try_sc_push_give_back(void) {
    sc_taken_push taken = handle(TAKEN_PUSH);
    int32_t code = sc_push_give_back(taken, failure_place());
    if (code == SC_OK) retire(taken);
    return code;
}

static int32_t try_sc_core_enter_critical_section(void) {
    return sc_core_enter_critical_section(handle(CORE), number(), failure_place());
}

static int32_t try_sc_core_leave_critical_section(void) {
    return sc_core_leave_critical_section(handle(CORE), failure_place());
}

static int32_t try_sc_core_started(void) { return sc_core_started(handle(CORE), failure_place()); }
static int32_t try_sc_core_rested(void) { return sc_core_rested(handle(CORE), failure_place()); }
static int32_t try_sc_core_resumed(void) { return sc_core_resumed(handle(CORE), failure_place()); }

static int32_t try_sc_core_failed(void) {
    const char *reason = word(1);
    return sc_core_failed(one_of(20) ? handle(CORE) : random_number(), reason, failure_place());
}

static int32_t try_sc_core_stopped(void) {
    sc_core core = one_of(20) ? handle(CORE) : random_number();
    int32_t code = sc_core_stopped(core, failure_place());
    if (code == SC_OK) retire(core);
    return code;
}

static const char *sequence(void) {
    static const char *const sequences[] = {NULL, "1", "2", "a.b_C-9", NULL, "1"};
    if (one_of(8)) return word(1);
    return sequences[below(sizeof sequences / sizeof *sequences)];
}

// A message of the caller's memory, with the fields in `fields`.
static const sc_message *some_message(sc_message *message, sc_field fields[40]) {
    *message = (sc_message)SC_MESSAGE_INIT;
    message->call_id = word(0);
    message->sequence = sequence();
    message->kind = one_of(2) ? NULL : word(1);
    message->sender = word(1);
    message->recipient = word(1);
    message->text = one_of(500) ? endless : word(1);
    message->body = some_bytes(&message->body_count);
    if (one_of(2)) {
        message->account = word(1);
        message->conversation = word(1);
        message->content_type = word(1);
    }
    if (one_of(2)) message->time = number();
    if (one_of(4)) {
        message->fields = fields;
        message->field_count = below(40);
        for (size_t index = 0; index < message->field_count; index++) {
            fields[index].name = one_of(4) ? word(0) : names[index % 8];
            fields[index].value = one_of(4) ? word(0) : "x";
        }
    } else if (one_of(20)) {
        is_wrong = 1;
        message->fields = one_of(2) ? NULL : fields;
        message->field_count = message->fields == NULL ? 1 + below(9) : (1 << 20) + 1 + (size_t)below(1000);
    }
    if (one_of(16)) {
        message->size = (size_t)number();
        if (message->size != sizeof *message) is_wrong = 1;
    }
    return out(message, 20);
}

static int32_t try_sc_core_deliver(void) {
    sc_message message;
    sc_field fields[40];
    int32_t duplicate;
    const sc_message *place = some_message(&message, fields);
    return sc_core_deliver(handle(CORE), place, one_of(2) ? NULL : &duplicate, failure_place());
}

static int32_t try_sc_core_update(void) {
    sc_message message;
    sc_field fields[40];
    int32_t change;
    const sc_message *place = some_message(&message, fields);
    return sc_core_update(handle(CORE), place, one_of(2) ? NULL : &change, failure_place());
}

static int32_t try_sc_core_withdraw(void) {
    int32_t change;
    const char *id = word(0), *of = sequence();
    return sc_core_withdraw(handle(CORE), id, of, one_of(2) ? NULL : &change, failure_place());
}

static int32_t try_sc_inbox(void) {
    const sc_inbox_page *page = NULL;
    size_t limit = one_of(4) ? (size_t)number() : 1 + below(4);
    if (limit == 0 || limit > SIZE_MAX / 2) is_wrong = 1;
    uint64_t after = one_of(2) ? 0 : (uint64_t)number();
    int32_t code = sc_inbox(handle(GROUP), after, limit, out(&page, 20), failure_place());
    for (size_t index = 0; code == SC_OK && index < page->count; index++) {
        const sc_message *message = page->messages[index]->message;
        CHECK(message->call_id[0] != 0 && message->kind[0] != 0 && page->messages[index]->stored_at > after);
        for (size_t field = 0; field < message->field_count; field++) CHECK(message->fields[field].name[0] != 0);
    }
    sc_inbox_page_free(&page);
    return code;
}

static int32_t try_sc_status(void) {
    const sc_group_status *status = NULL;
    int32_t code = sc_status(handle(GROUP), out(&status, 20), failure_place());
    for (size_t index = 0; code == SC_OK && index < status->session_count; index++) {
        CHECK(status->sessions[index]->session != 0 && strlen(status->sessions[index]->process.boot_id) == 32);
    }
    for (size_t index = 0; code == SC_OK && index < status->activity_count; index++) {
        CHECK(status->activities[index]->kind[0] != 0 && status->activities[index]->latest_end > 0);
    }
    if (code == SC_OK && status->owner != NULL) CHECK(status->owner->epoch != 0 && status->owner->epoch <= status->revision);
    sc_status_free(&status);
    return code;
}

static int32_t try_sc_timeline(void) {
    const sc_timeline_page *page = NULL;
    size_t limit = one_of(4) ? (size_t)number() : 1 + below(4);
    if (limit == 0 || limit > SIZE_MAX / 2) is_wrong = 1;
    uint64_t after = one_of(2) ? 0 : (uint64_t)number();
    int32_t code = sc_timeline(handle(GROUP), after, limit, out(&page, 20), failure_place());
    for (size_t index = 0; code == SC_OK && index < page->count; index++) {
        CHECK(page->entries[index]->revision > after && page->entries[index]->sentence[0] != 0);
    }
    sc_timeline_page_free(&page);
    return code;
}

static int32_t try_sc_core_report(void) {
    const char *problem = word(0);
    sc_core core = handle(CORE);
    if (!is_wrong && !one_of(4)) problem = NULL, is_wrong = 1;
    return sc_core_report(core, problem, failure_place());
}

static int32_t try_sc_inbox_state(void) {
    int32_t message_state;
    uint64_t taken_by;
    const char *id = word(0), *of = sequence();
    int32_t *place = out(&message_state, 20);
    return sc_inbox_state(handle(GROUP), id, of, place, one_of(2) ? NULL : &taken_by, failure_place());
}

static int32_t try_sc_core_group(void) {
    sc_group group = 0;
    int32_t code = sc_core_group(handle(CORE), out(&group, 20), failure_place());
    if (code == SC_OK) keep(GROUP, group);
    return code;
}

static const char *codec(void) {
    static const char *const codecs[] = {NULL, "bytes", "json", NULL, "bytes"};
    if (one_of(8)) return word(1);
    return codecs[below(sizeof codecs / sizeof *codecs)];
}

static int32_t try_sc_request(void) {
    sc_bytes reply = {0};
    size_t count;
    const char *name = word(0), *form = codec();
    const uint8_t *bytes = some_bytes(&count);
    sc_group group = handle(GROUP);
    sc_bytes *place = out(&reply, 20);
    // Each that is answered by no thread waits for 1 ms at least.
    if (!is_wrong && !one_of(10)) bytes = NULL, count = 1, is_wrong = 1;
    int64_t timeout = one_of(2) ? 5 : timeout_with(group);
    int32_t code = sc_request(group, name, form, bytes, count, timeout, place, failure_place());
    sc_bytes_free(&reply);
    return code == SC_ERR_INCOMPATIBLE ? SC_ERR_REFUSED : code;
}

static int32_t try_sc_request_start(void) {
    sc_pending_request request = 0;
    size_t count;
    const char *name = word(0), *form = codec();
    const uint8_t *bytes = some_bytes(&count);
    int64_t timeout = one_of(2) ? 5 : number();
    int32_t code = sc_request_start(handle(GROUP), name, form, bytes, count, timeout, out(&request, 20), failure_place());
    if (code == SC_OK) keep(PENDING, request);
    return code;
}

static int32_t try_sc_request_next(void) {
    sc_bytes reply = {0};
    sc_pending_request request = handle(PENDING);
    sc_bytes *place = out(&reply, 20);
    int32_t code = sc_request_next(request, timeout_with(request), place, failure_place());
    sc_bytes_free(&reply);
    return code == SC_ERR_INCOMPATIBLE ? SC_ERR_REFUSED : code;
}

static int32_t try_sc_responder_open(void) {
    sc_responder responder = 0;
    const char *name = word(0), *form = codec();
    int32_t code = sc_responder_open(handle(GROUP), name, form, out(&responder, 20), failure_place());
    if (code == SC_OK) keep(RESPONDER, responder);
    return code;
}

static int32_t try_sc_responder_take(void) {
    sc_received request = 0;
    sc_bytes bytes = {0};
    sc_responder responder = handle(RESPONDER);
    sc_received *request_place = out(&request, 20);
    sc_bytes *bytes_place = out(&bytes, 20);
    int32_t code = sc_responder_take(responder, timeout_with(responder), request_place, bytes_place, failure_place());
    if (code == SC_OK) keep(RECEIVED, request);
    sc_bytes_free(&bytes);
    return code;
}

static int32_t try_sc_reply(void) {
    size_t count;
    const uint8_t *bytes = some_bytes(&count);
    sc_received request = handle(RECEIVED);
    int32_t sent, code = sc_reply(request, bytes, count, one_of(2) ? NULL : &sent, failure_place());
    if (code == SC_OK) retire(request);
    return code;
}

static int32_t try_sc_received_give_back(void) {
    sc_received request = handle(RECEIVED);
    int32_t code = sc_received_give_back(request, failure_place());
    if (code == SC_OK) retire(request);
    return code;
}

static int32_t try_sc_refuse(void) {
    const char *reason = word(1);
    sc_received request = handle(RECEIVED);
    int32_t sent, code = sc_refuse(request, reason, one_of(2) ? NULL : &sent, failure_place());
    if (code == SC_OK) retire(request);
    return code;
}

static void check_calls(int32_t code, sc_call_list *list) {
    for (size_t index = 0; code == SC_OK && index < list->count; index++) CHECK(list->calls[index].id[0] != 0);
    sc_call_list_free(list);
}

static int32_t try_sc_calls(void) {
    sc_call_list list = {0};
    int32_t code = sc_calls(handle(GROUP), out(&list, 20), failure_place());
    check_calls(code, &list);
    return code;
}

static int32_t try_sc_calls_watch(void) {
    sc_call_changes changes = 0;
    int32_t code = sc_calls_watch(handle(GROUP), out(&changes, 20), failure_place());
    if (code == SC_OK) keep(CHANGES, changes);
    return code;
}

static int32_t try_sc_calls_next(void) {
    sc_call_list list = {0};
    sc_call_changes changes = handle(CHANGES);
    sc_call_list *place = out(&list, 20);
    int32_t code = sc_calls_next(changes, timeout_with(changes), place, failure_place());
    check_calls(code, &list);
    return code;
}

static int32_t try_sc_call_command(void) {
    const char *id = word(0);
    sc_group group = handle(GROUP);
    int32_t command = one_of(8) ? (int32_t)number() : 1 + (int32_t)below(5);
    return sc_call_command(group, id, command, timeout_with(group), failure_place());
}

static int32_t try_sc_call_acknowledge(void) {
    int32_t acknowledged;
    const char *id = word(0);
    return sc_call_acknowledge(handle(GROUP), id, one_of(2) ? NULL : &acknowledged, failure_place());
}

static int32_t try_sc_call_begin(void) {
    sc_call_info info = {0};
    sc_call call = 0;
    info.id = word(0);
    info.from = word(1);
    info.to = word(1);
    info.account = word(1);
    info.direction = one_of(8) ? (int32_t)number() : 1 + (int32_t)below(2);
    info.media = one_of(8) ? (int32_t)number() : (int32_t)below(4);
    info.state = one_of(8) ? (int32_t)number() : (int32_t)below(5);
    const sc_call_info *place = out(&info, 20);
    int32_t code = sc_call_begin(handle(CORE), place, out(&call, 20), failure_place());
    if (code == SC_OK) keep(TELEPHONE_CALL, call);
    return code;
}

static int32_t try_sc_call_change(void) {
    return sc_call_change(handle(TELEPHONE_CALL), one_of(8) ? (int32_t)number() : (int32_t)below(5), failure_place());
}

static int32_t try_sc_call_change_media(void) {
    return sc_call_change_media(handle(TELEPHONE_CALL), one_of(8) ? (int32_t)number() : (int32_t)below(4), failure_place());
}

static int32_t try_sc_call_set_moves(void) {
    const char *kind = one_of(2) ? "a/1" : word(1);
    return sc_call_set_moves(
        handle(TELEPHONE_CALL), kind, one_of(8) ? (int32_t)number() : 1 + (int32_t)below(2), failure_place());
}

static int32_t try_sc_core_give_baton(void) {
    const char *ids[6];
    int32_t descriptors[20];
    sc_baton baton = SC_BATON_INIT;
    baton.kind = one_of(2) ? "a/1" : word(0);
    baton.bytes = some_bytes(&baton.byte_count);
    baton.calls = ids;
    baton.call_count = below(6);
    for (size_t index = 0; index < baton.call_count; index++) ids[index] = one_of(4) ? word(0) : names[index];
    if (one_of(2)) {
        baton.descriptors = descriptors;
        baton.descriptor_count = below(20);
        for (size_t index = 0; index < baton.descriptor_count; index++)
            descriptors[index] = one_of(8) ? (int32_t)number() : (int32_t)below(3);
    } else if (one_of(20)) {
        baton.descriptor_count = one_of(2) ? 1 : SIZE_MAX - below(1000);
        is_wrong = 1;
    }
    if (one_of(16)) {
        baton.size = (size_t)number();
        if (baton.size != sizeof baton) is_wrong = 1;
    }
    return sc_core_give_baton(handle(CORE), out(&baton, 20), failure_place());
}

static int32_t try_sc_core_take_descriptors(void) {
    int32_t descriptors[SC_BATON_DESCRIPTORS];
    size_t count = 0;
    int32_t code =
        sc_core_take_descriptors(handle(CORE), out(descriptors, 20), out(&count, 20), failure_place());
    for (size_t index = 0; code == SC_OK && index < count; index++) CHECK(close(descriptors[index]) == 0);
    return code;
}

static int32_t try_sc_core_apply_baton(void) {
    sc_call applied[SC_BATON_CALLS] = {0};
    int32_t code = sc_core_apply_baton(handle(CORE), out(applied, 20), failure_place());
    for (int index = 0; code == SC_OK && index < SC_BATON_CALLS; index++) keep(TELEPHONE_CALL, applied[index]);
    return code;
}

static int32_t try_sc_core_refuse_baton(void) {
    const char *reason = word(1);
    return sc_core_refuse_baton(one_of(8) ? handle(CORE) : random_number(), reason, failure_place());
}

static int32_t try_sc_call_end(void) {
    sc_call call = handle(TELEPHONE_CALL);
    if (!is_wrong && !one_of(4)) call = 0, is_wrong = 1;
    const char *reason = one_of(2) ? NULL : "no route";
    int32_t code = sc_call_end(call, one_of(8) ? (int32_t)number() : 1 + (int32_t)below(8), reason, failure_place());
    if (code == SC_OK) retire(call);
    return code;
}

static int32_t try_sc_call_next_command(void) {
    sc_command command = 0;
    int32_t kind;
    sc_call call = handle(TELEPHONE_CALL);
    sc_command *command_place = out(&command, 20);
    int32_t *kind_place = out(&kind, 20);
    int32_t code = sc_call_next_command(call, timeout_with(call), command_place, kind_place, failure_place());
    if (code == SC_OK) keep(COMMAND, command);
    return code;
}

static int32_t try_sc_command_accept(void) {
    sc_command command = handle(COMMAND);
    int32_t code = sc_command_accept(command, failure_place());
    if (code == SC_OK) retire(command);
    return code;
}

static int32_t try_sc_command_refuse(void) {
    const char *reason = word(1);
    sc_command command = handle(COMMAND);
    int32_t code = sc_command_refuse(command, reason, failure_place());
    if (code == SC_OK) retire(command);
    return code;
}

static int32_t try_sc_activity_begin(void) {
    static const char *const kinds[] = {"call", "transfer", "sync"};
    sc_activity activity = 0;
    const char *kind = one_of(4) ? word(0) : kinds[below(3)], *id = word(0);
    int32_t code =
        sc_activity_begin(handle(CORE), kind, one_of(2) ? number() : 60000, id, out(&activity, 20), failure_place());
    if (code == SC_OK) keep(ACTIVITY, activity);
    return code;
}

static int32_t try_sc_activity_end(void) {
    sc_activity activity = handle(ACTIVITY);
    int32_t code = sc_activity_end(activity, failure_place());
    if (code == SC_OK) retire(activity);
    return code;
}

static int32_t try_sc_handle_bus_errors(void) { return sc_handle_bus_errors(failure_place()); }

// The functions that free, with NULL and an empty structure. Results are freed above.
#define FREES(call, type) \
    static int32_t try_##call(void) { \
        type value = {0}; \
        call(NULL); \
        call(&value); \
        return SC_OK; \
    }
FREES(sc_entry_free, sc_entry)
FREES(sc_list_free, sc_list_result)
FREES(sc_event_free, sc_event)
FREES(sc_bytes_free, sc_bytes)
FREES(sc_call_list_free, sc_call_list)
FREES(sc_inbox_page_free, const sc_inbox_page *)
FREES(sc_status_free, const sc_group_status *)
FREES(sc_timeline_page_free, const sc_timeline_page *)
FREES(sc_participant_event_free, sc_participant_event)
FREES(sc_push_free, const sc_push *)

#define CALL(name) {#name, try_##name}
static const struct {
    const char *name;
    int32_t (*call)(void);
} calls[] = {
    CALL(sc_abi),
    CALL(sc_acknowledge),
    CALL(sc_acknowledge_with),
    CALL(sc_activity_begin),
    CALL(sc_activity_end),
    CALL(sc_bytes_free),
    CALL(sc_call_acknowledge),
    CALL(sc_call_begin),
    CALL(sc_call_change),
    CALL(sc_call_change_media),
    CALL(sc_call_command),
    CALL(sc_call_end),
    CALL(sc_call_list_free),
    CALL(sc_call_next_command),
    CALL(sc_call_set_moves),
    CALL(sc_calls),
    CALL(sc_calls_next),
    CALL(sc_calls_watch),
    CALL(sc_close),
    CALL(sc_code_name),
    CALL(sc_command_accept),
    CALL(sc_command_refuse),
    CALL(sc_commit),
    CALL(sc_core_apply_baton),
    CALL(sc_core_deliver),
    CALL(sc_core_enter_critical_section),
    CALL(sc_core_failed),
    CALL(sc_core_give_baton),
    CALL(sc_core_group),
    CALL(sc_core_leave_critical_section),
    CALL(sc_core_refuse_baton),
    CALL(sc_core_report),
    CALL(sc_core_rested),
    CALL(sc_core_resumed),
    CALL(sc_core_started),
    CALL(sc_core_stopped),
    CALL(sc_core_take_descriptors),
    CALL(sc_core_update),
    CALL(sc_core_withdraw),
    CALL(sc_delete),
    CALL(sc_descriptor),
    CALL(sc_entry_free),
    CALL(sc_event_free),
    CALL(sc_executor_ask),
    CALL(sc_executor_finish),
    CALL(sc_executor_insist),
    CALL(sc_executor_open),
    CALL(sc_get),
    CALL(sc_give_back),
    CALL(sc_handle_bus_errors),
    CALL(sc_holder_open),
    CALL(sc_inbox),
    CALL(sc_inbox_page_free),
    CALL(sc_inbox_state),
    CALL(sc_list),
    CALL(sc_list_free),
    CALL(sc_mailbox_open),
    CALL(sc_main_acknowledge),
    CALL(sc_main_pushes),
    CALL(sc_main_rest),
    CALL(sc_main_resume),
    CALL(sc_main_start),
    CALL(sc_observation_next),
    CALL(sc_observe),
    CALL(sc_open),
    CALL(sc_open_configured),
    CALL(sc_participant_end),
    CALL(sc_participant_event_free),
    CALL(sc_participant_next),
    CALL(sc_post),
    CALL(sc_push_acknowledge),
    CALL(sc_push_free),
    CALL(sc_push_give_back),
    CALL(sc_pushes_next),
    CALL(sc_put),
    CALL(sc_received_give_back),
    CALL(sc_refuse),
    CALL(sc_reply),
    CALL(sc_request),
    CALL(sc_request_next),
    CALL(sc_request_start),
    CALL(sc_responder_open),
    CALL(sc_responder_take),
    CALL(sc_send),
    CALL(sc_session),
    CALL(sc_state),
    CALL(sc_status),
    CALL(sc_status_free),
    CALL(sc_sync),
    CALL(sc_take),
    CALL(sc_taken_acknowledge),
    CALL(sc_taken_give_back),
    CALL(sc_timeline),
    CALL(sc_timeline_page_free),
    CALL(sc_version),
    CALL(sc_watch_next),
    CALL(sc_watch_open),
};
enum { call_count = sizeof calls / sizeof *calls };
static _Atomic uint64_t codes[call_count][code_count];

// Returns 1 for a code that the call may return.
static int is_expected(int32_t code) {
    if (is_wrong) {
        return code == SC_ERR_HANDLE || code == SC_ERR_INVALID_ARGUMENT || code == SC_ERR_LIMIT_EXCEEDED ||
            code == SC_ERR_UNSUPPORTED;
    }
    switch (code) {
    case SC_ERR_CORRUPT:
    case SC_ERR_SYSTEM:
    case SC_ERR_INCOMPATIBLE:
    case SC_ERR_FORKED:
    case SC_ERR_UNKNOWN: return 0;
    default: return strcmp(sc_code_name(code), "unknown") != 0;
    }
}

static void call_all(uint64_t count, struct progress *own) {
    for (uint64_t done = 0; done < count; done++) {
        uint64_t index = below(call_count);
        is_wrong = 0;
        failure.code = 0;
        failure.message[0] = 0;
        atomic_store(&own->name, calls[index].name);
        atomic_fetch_add(&own->number, 1);
        int32_t code = calls[index].call();
        if (!is_expected(code)) {
            fprintf(stderr, "%s gave %d (%s)%s: %s [%s]\n", calls[index].name, code, sc_code_name(code),
                is_wrong ? " for an argument that is wrong" : "", failure.message, failure.location);
            exit(1);
        }
        atomic_fetch_add(&codes[index][code], 1);
    }
}

struct share {
    uint64_t count, seed;
    struct progress *progress;
};

static void *call_share(void *argument) {
    struct share *share = argument;
    state = share->seed;
    call_all(share->count, share->progress);
    return NULL;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)status, (void)kind, (void)place;
    return remove(path);
}

// Closes all, mostly in an order that no program has.
static void close_all(struct progress *own) {
    atomic_store(&own->name, "sc_close of all that is open");
    for (int kind = one_of(2) ? 0 : kind_count - 1, done = 0; done < kind_count; done++, kind = (kind + 1) % kind_count) {
        for (int slot = 0; slot < slot_count; slot++) {
            sc_handle handle = open_handles[kind][slot];
            atomic_fetch_add(&own->number, 1);
            if (handle == 0) continue;
            retire(handle);
            int32_t code = sc_close(handle);
            // A core goes with its participant.
            CHECK(code == SC_OK || (kind == CORE && code == SC_ERR_HANDLE));
        }
    }
}

static void child(const char *directory, uint64_t total, uint64_t seed) {
    char path[4096];
    state = seed | 1;
    setenv("SHAREDCORE_CONFIG", "/dev/null", 1);
    setenv("SHAREDCORE_BACKEND", "memory", 1);
    setenv("SHAREDCORE_STATE_DIRECTORY", "/proc/none", 1);
    endless = malloc(large_count + 1);
    large = malloc(large_count + 1);
    memset(endless, 'a', large_count);
    for (size_t index = 0; index < large_count; index++) large[index] = (char)random_number();
    endless[large_count] = large[large_count] = 0;
    for (uint64_t done = 0, round = 0; done < total; done += round_calls, round++) {
        snprintf(path, sizeof path, "%s/%lu", directory, (unsigned long)round);
        CHECK(mkdir(path, 0700) == 0);
        folder = path;
        pthread_t closer, others[2];
        atomic_store(&is_over, 0);
        CHECK(pthread_create(&closer, NULL, close_what_is_waited_with, NULL) == 0);
        CHECK(pthread_create(&others[0], NULL, ask, NULL) == 0);
        CHECK(pthread_create(&others[1], NULL, answer, NULL) == 0);
        uint64_t count = total - done < round_calls ? total - done : round_calls;
        if (round % 2 == 0) {
            call_all(count, &progress[0]);
        } else {
            pthread_t threads[thread_count];
            struct share shares[thread_count];
            for (int index = 0; index < thread_count; index++) {
                shares[index] = (struct share){count / thread_count, random_number() | 1, &progress[index]};
                CHECK(pthread_create(&threads[index], NULL, call_share, &shares[index]) == 0);
            }
            for (int index = 0; index < thread_count; index++) pthread_join(threads[index], NULL);
        }
        atomic_store(&is_over, 1);
        for (int index = 0; index < 2; index++) pthread_join(others[index], NULL);
        while (atomic_load(&closing) != 0) usleep(1000);
        atomic_store(&closing, UINT64_MAX);
        pthread_join(closer, NULL);
        atomic_store(&closing, 0);
        close_all(&progress[0]);
        CHECK(nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0);
    }
}

// How often each function was called, and the codes that it returned.
static void report(uint64_t least) {
    for (int index = 0; index < call_count; index++) {
        uint64_t sum = 0;
        for (int code = 0; code < code_count; code++) sum += codes[index][code];
        if (least > 10000) {
            printf("%-26s %8lu:", calls[index].name, (unsigned long)sum);
            for (int code = 0; code < code_count; code++) {
                if (codes[index][code]) printf(" %s %lu", sc_code_name(code), (unsigned long)codes[index][code]);
            }
            printf("\n");
        }
        CHECK(sum > 0);
    }
}

int main(int count, char **arguments) {
    CHECK(count >= 2 && count <= 4);
    uint64_t each = count > 2 ? strtoull(arguments[2], NULL, 10) : 1000;
    uint64_t seed = count > 3 ? strtoull(arguments[3], NULL, 10) : 1;
    progress = mmap(NULL, sizeof *progress * thread_count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(progress != MAP_FAILED);
    CHECK(mkdir(arguments[1], 0700) == 0);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        child(arguments[1], each * call_count, seed);
        report(each);
        exit(0);
    }
    int status;
    uint64_t former = 0;
    for (int idle = 0; waitpid(pid, &status, WNOHANG) == 0; usleep(100000)) {
        uint64_t sum = 0;
        for (int index = 0; index < thread_count; index++) sum += atomic_load(&progress[index].number);
        idle = sum == former ? idle + 1 : 0;
        former = sum;
        // Minutes without an end of any call: one does not return.
        if (idle == 1200) kill(pid, SIGABRT);
    }
    if (status == 0) {
        puts("fuzz: fine");
        return 0;
    }
    fprintf(stderr, "fuzz: seed %lu ended with status %d of waitpid, in the calls", (unsigned long)seed, status);
    for (int index = 0; index < thread_count; index++) {
        const char *name = atomic_load(&progress[index].name);
        // The programs have the same names at the same addresses: the child is a fork.
        if (name != NULL) fprintf(stderr, " %s (number %lu)", name, (unsigned long)progress[index].number);
    }
    fprintf(stderr, "\n");
    return 1;
}
