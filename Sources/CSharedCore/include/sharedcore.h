/* The C interface of SharedCore. Docs/Reference/CLibrary.md has a program, the codes and the rules in full.

   Every call returns a code: SC_OK, SC_NOTHING, SC_ENDED or an error. No call calls back, throws or ends the process.
   A handle is a number: after sc_close, each use of it returns SC_ERR_HANDLE. Any thread may make any call. In a forked child each
   call returns SC_ERR_FORKED, and what frees does nothing.
   Text is UTF-8. The length SC_NUL stands for text that ends with a NUL.
   A call waits up to 10 s for each answer of a hub, then returns SC_ERR_UNAVAILABLE, or SC_ERR_OUTCOME_UNKNOWN for a write that the hub
   may have carried out. */
#ifndef SHAREDCORE_H
#define SHAREDCORE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SC_ABI 1
#define SC_NUL ((size_t)-1)
/* A timeout in milliseconds without an end. */
#define SC_FOREVER ((int64_t)-1)

/* The codes that calls return. SC_ERR_INVALID_ARGUMENT to SC_ERR_SYSTEM come from the store, and SC_ERR_REFUSED to
   SC_ERR_NOT_FOUND from a Main or an Executor. The other codes are the library's own. */
enum {
    SC_OK = 0,
    SC_ERR_INVALID_ARGUMENT = 1,
    SC_ERR_LIMIT_EXCEEDED = 2,
    SC_ERR_GUARD_FAILED = 3,
    SC_ERR_CLOSED = 4,
    SC_ERR_SESSION_ENDED = 5,
    SC_ERR_CANCELLED = 6,
    SC_ERR_OUTCOME_UNKNOWN = 7,
    SC_ERR_UNSUPPORTED = 8,
    SC_ERR_STORAGE_FULL = 9,
    SC_ERR_FORBIDDEN = 10,
    SC_ERR_UNAVAILABLE = 11,
    SC_ERR_INCOMPATIBLE = 12,
    SC_ERR_CORRUPT = 13,
    SC_ERR_SYSTEM = 14,
    SC_ERR_REFUSED = 20,
    SC_ERR_TIMEOUT = 21,
    SC_ERR_FENCED = 22,
    SC_ERR_SUPERSEDED = 23,
    SC_ERR_CORE_FAILED = 24,
    SC_ERR_NOT_FOUND = 25,
    /* The handle was closed, was never given, or is of another kind. */
    SC_ERR_HANDLE = 40,
    /* The calling process is a child that was forked after the library was first used. */
    SC_ERR_FORKED = 41,
    SC_ERR_UNKNOWN = 99,
    /* Nothing is there now. */
    SC_NOTHING = 100,
    /* Nothing will come any more. */
    SC_ENDED = 101
};

typedef uint64_t sc_handle;
typedef sc_handle sc_group;
typedef sc_handle sc_watch;
typedef sc_handle sc_observation;
typedef sc_handle sc_mailbox;
typedef sc_handle sc_delivery;
typedef sc_handle sc_responder;
typedef sc_handle sc_received;
typedef sc_handle sc_pending_request;
typedef sc_handle sc_call_changes;
typedef sc_handle sc_call;
typedef sc_handle sc_command;
typedef sc_handle sc_activity;
typedef sc_handle sc_participant;
typedef sc_handle sc_core;
typedef sc_handle sc_taken;
typedef sc_handle sc_pushes;
typedef sc_handle sc_taken_push;

/* Memory of the caller, which a call that returns an error fills in. NULL is allowed. */
typedef struct {
    int32_t code;
    /* With SC_ERR_GUARD_FAILED: the index of the guard, and the revisions of the entry that was found; 0 for no entry. */
    uint32_t guard_index;
    uint64_t found_revision;
    uint64_t found_creation_revision;
    char message[512];
    char location[256];
} sc_error;

uint32_t sc_abi(void);
/* The version of the library; never freed. */
const char *sc_version(void);
/* The name of a code, as `sharedcore` prints it; never NULL, never freed. */
const char *sc_code_name(int32_t code);

/* Closes the object of a handle, and wakes the threads that wait with it. Does nothing for 0. Returns SC_ERR_HANDLE for a
   handle that is closed or unknown, and SC_ERR_FORKED in a forked child, where nothing is closed.
   A program does not close a core: sc_core_stopped does. sc_close counts as a core that has stopped by itself. A Main whose core runs
   starts a new one then, with a new SC_CORE_START; before sc_core_started the start has failed, which ends a Main's first start and so
   the Main with SC_ERR_CORE_FAILED. */
int32_t sc_close(sc_handle handle);
/* Gets the descriptor of a watch, an observation, a participant, the pushes for a Main, a call, a list of calls or a request that was
   started. It is readable while the `next` call of the handle has something to return. Poll it; do not read or close it. It is valid
   until the handle is closed.
   That of a mailbox or a responder is readable while there is a message to take, and sometimes without one: take with a timeout of 0,
   and poll again after SC_NOTHING. The first use of this call opens a watch of the group, which costs what sc_watch_open does: with a
   hub that does not answer it returns SC_ERR_UNAVAILABLE after at most 10 s. */
int32_t sc_descriptor(sc_handle handle, int32_t *descriptor, sc_error *error);

/* Groups. */

typedef struct {
    /* sizeof(sc_options). SC_OPTIONS_INIT sets it; everything else may be 0. */
    size_t size;
    /* "file", "zmq" or "memory"; NULL is "file". */
    const char *backend;
    /* The group's own directory, absolute: /run/user/1000/chat is the group chat below /run/user/1000. */
    const char *directory;
    /* "main", "executor", "tool" or a word of your own; NULL is "tool". */
    const char *role;
    /* The name of this process for people; NULL is empty. */
    const char *name;
    /* "memory", "process" or "disk"; NULL leaves it to the backend. */
    const char *durability;
    /* Settings of the backend, such as "zmq.endpoint=tcp://127.0.0.1:5555". With sc_open_configured: any setting. */
    const char *const *settings;
    size_t setting_count;
    /* The longest wait for a hub in milliseconds; 0 leaves it to the backend. Below 0 is SC_ERR_INVALID_ARGUMENT. */
    int64_t open_timeout;
    /* For sc_open_configured: the path of the file, YAML or JSON. NULL stands for the file that SHAREDCORE_CONFIG
       names, else for sharedcore/config.yaml in $XDG_CONFIG_HOME or ~/.config, if it exists. "/dev/null" reads no file. */
    const char *configuration_file;
    /* 1 opens the group to read it, without a session and without a trace (contract L4): it writes nothing, makes no group and
       starts no hub. SC_ERR_UNAVAILABLE: no participant has opened the group. Calls that write return SC_ERR_FORBIDDEN. */
    int32_t read_only;
    int32_t reserved;
} sc_options;

#define SC_OPTIONS_INIT {sizeof(sc_options), NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, 0, 0}

/* Opens a group of the backend in `directory`, which is made with mode 0700 if it is absent. */
int32_t sc_open(const sc_options *options, sc_group *group, sc_error *error);
/* Opens the group that `settings` ("group=chat"), then the variables SHAREDCORE_*, then the configuration file describe, as
   `sharedcore` with these flags does. `backend`, `directory` and `durability` are settings here, and NULL. The timeouts of the
   group are the defaults of its Main and Executors. SC_ERR_FORBIDDEN: the file is another user's, or others may write it. */
int32_t sc_open_configured(const sc_options *options, sc_group *group, sc_error *error);
/* Gets the session of this handle: the revision at which it began, which is its identity in the group. Returns SC_NOTHING, and gets
   0, for a group that is open to read only. */
int32_t sc_session(sc_group group, uint64_t *session, sc_error *error);
/* Returns when this handle shows everything that was committed before. Its watches and observations have it soon: give their next
   call a timeout, or poll their descriptors. */
int32_t sc_sync(sc_group group, sc_error *error);

enum { SC_PERSISTENT = 0, SC_SESSION = 1, SC_EXPIRING = 2 };

typedef struct {
    const char *key; /* ends with a NUL that is not counted; NULL for no entry */
    size_t key_count;
    const uint8_t *value;
    size_t value_count;
    uint64_t revision;
    uint64_t creation_revision;
    uint64_t origin;       /* the session that wrote it */
    int64_t lifetime;      /* with SC_EXPIRING, in milliseconds */
    int32_t lifetime_kind; /* SC_PERSISTENT, SC_SESSION, SC_EXPIRING */
    int32_t reserved;
} sc_entry;

typedef struct {
    uint64_t revision;
    size_t count;
    const sc_entry *entries;
} sc_list_result;

/* Returns SC_NOTHING for no entry. The entry belongs to the library until sc_entry_free. */
int32_t sc_get(sc_group group, const char *key, size_t key_count, sc_entry *entry, sc_error *error);
void sc_entry_free(sc_entry *entry);
/* Gets the entries that a prefix selects, at one revision: "a/b" selects a/b and all keys below it, "" selects all. */
int32_t sc_list(sc_group group, const char *prefix, size_t prefix_count, sc_list_result *list, sc_error *error);
void sc_list_free(sc_list_result *list);
/* Sets or deletes one entry, and gets the revision of the commit. `revision` may be NULL here and below. */
int32_t sc_put(
    sc_group group, const char *key, size_t key_count, const uint8_t *value, size_t value_count, uint64_t *revision,
    sc_error *error);
int32_t sc_delete(sc_group group, const char *key, size_t key_count, uint64_t *revision, sc_error *error);

enum { SC_GUARD_ABSENT = 0, SC_GUARD_EXISTS = 1, SC_GUARD_REVISION = 2, SC_GUARD_EPOCH = 3 };

typedef struct {
    const char *key;
    size_t key_count;
    uint64_t revision; /* with SC_GUARD_REVISION and SC_GUARD_EPOCH */
    int32_t kind;
    int32_t reserved;
} sc_guard;

enum { SC_PUT = 0, SC_DELETE = 1, SC_DELETE_PREFIX = 2, SC_POST = 3, SC_POST_STATE = 4 };

typedef struct {
    const char *key; /* or the prefix, or the name that is posted */
    size_t key_count;
    const uint8_t *value;
    size_t value_count;
    uint64_t state;        /* with SC_POST_STATE */
    int64_t lifetime;      /* with SC_PUT and SC_EXPIRING, in milliseconds */
    int32_t lifetime_kind; /* with SC_PUT */
    int32_t kind;
} sc_operation;

/* Applies all operations in one revision, or none: SC_ERR_GUARD_FAILED. With a request number above 0, which rises within a
   session, a repeated commit is applied once. */
int32_t sc_commit(
    sc_group group, const sc_guard *guards, size_t guard_count, const sc_operation *operations, size_t operation_count,
    uint64_t request_number, uint64_t *revision, sc_error *error);

/* Watches and observations. */

enum { SC_FROM_SNAPSHOT = 0, SC_FROM_NOW = 1, SC_FROM_REVISION = 2 };
enum { SC_EVENT_SNAPSHOT = 0, SC_EVENT_CHANGES = 1, SC_EVENT_LAGGED = 2 };
enum { SC_CHANGE_PRESENT = 0, SC_CHANGE_PUT = 1, SC_CHANGE_DELETED = 2, SC_CHANGE_EXPIRED = 3, SC_CHANGE_SESSION_ENDED = 4 };

typedef struct {
    /* The entry after the change. Its value is NULL if there is none; its key is always set. */
    sc_entry entry;
    /* The entry before the change; its key is NULL if there was none. */
    sc_entry old;
    int32_t kind; /* SC_CHANGE_PRESENT in a snapshot */
    int32_t reserved;
} sc_change;

typedef struct {
    uint64_t revision;
    uint64_t origin; /* the session that made the commit; 0 for a snapshot */
    size_t count;
    const sc_change *changes;
    int32_t kind; /* with SC_EVENT_SNAPSHOT and SC_EVENT_LAGGED the changes replace all that is known */
    int32_t reserved;
} sc_event;

int32_t sc_watch_open(
    sc_group group, const char *prefix, size_t prefix_count, int32_t start, uint64_t after, sc_watch *watch,
    sc_error *error);
/* Waits for an event for at most `timeout` ms; 0 never waits. Returns SC_NOTHING at the timeout, SC_ENDED after the
   last event. An error ends the watch: open another one. The same holds for an observation and for a watch of the
   calls. The event belongs to the library until sc_event_free. */
int32_t sc_watch_next(sc_watch watch, int64_t timeout, sc_event *event, sc_error *error);
void sc_event_free(sc_event *event);

typedef struct {
    uint64_t state;
    uint64_t count; /* the number of posts that this delivery stands for */
    uint64_t revision;
    uint64_t origin;
} sc_notification;

/* Posts a name, with a state if `state` is not NULL. */
int32_t sc_post(sc_group group, const char *name, size_t name_count, const uint64_t *state, uint64_t *revision, sc_error *error);
/* Gets the state of a name. */
int32_t sc_state(sc_group group, const char *name, size_t name_count, sc_notification *state, sc_error *error);
/* Observes the posts of a name. Take them with sc_observation_next, whose timeout is that of sc_watch_next. */
int32_t sc_observe(sc_group group, const char *name, size_t name_count, sc_observation *observation, sc_error *error);
int32_t sc_observation_next(sc_observation observation, int64_t timeout, sc_notification *notification, sc_error *error);

/* Mailboxes. */

enum { SC_REFUSE = 0, SC_DROP_OLDEST = 1 };

typedef struct {
    const uint8_t *bytes;
    size_t count;
} sc_bytes;

void sc_bytes_free(sc_bytes *bytes);
/* Opens the queue at a path. `capacity` is the largest number of messages; 0 for no limit. `overflow` says what a send to a
   full queue does: SC_REFUSE returns SC_ERR_LIMIT_EXCEEDED, SC_DROP_OLDEST removes the oldest message. */
int32_t sc_mailbox_open(
    sc_group group, const char *path, uint64_t capacity, int32_t overflow, sc_mailbox *mailbox, sc_error *error);
int32_t sc_send(sc_mailbox mailbox, const uint8_t *bytes, size_t count, uint64_t *revision, sc_error *error);
/* Takes a message. Waits for one for at most `timeout` ms, then returns SC_NOTHING. Free the bytes with sc_bytes_free. It
   waits up to 10 s for each answer of a hub, also where `timeout` is shorter or 0: SC_ERR_UNAVAILABLE, and SC_ERR_OUTCOME_UNKNOWN where
   the message may have been taken. The library gives such a message back when the hub answers again. */
int32_t sc_take(sc_mailbox mailbox, int64_t timeout, sc_delivery *delivery, sc_bytes *bytes, sc_error *error);
/* sc_acknowledge removes the message, and sc_give_back lets other processes take it. Both close the delivery.
   `acknowledged` is 0 if the take had ended before; it may be NULL. */
int32_t sc_acknowledge(sc_delivery delivery, int32_t *acknowledged, sc_error *error);
int32_t sc_give_back(sc_delivery delivery, sc_error *error);
/* Removes the message in one commit with `operations`, if the guards hold. So a program that is killed stores the
   result of a message once or not at all. Closes the delivery, unless it returns an error. SC_ERR_GUARD_FAILED: a guard
   of the program failed. If `acknowledged` is 0, the take had ended before, perhaps by an earlier call that returned
   SC_ERR_OUTCOME_UNKNOWN, and this call stored nothing: read what the earlier call would have stored. `acknowledged`
   and `revision` may be NULL. */
int32_t sc_acknowledge_with(
    sc_delivery delivery, const sc_guard *guards, size_t guard_count, const sc_operation *operations, size_t operation_count,
    int32_t *acknowledged, uint64_t *revision, sc_error *error);

/* Requests with replies. In Swift they belong to the RequestID of the same name. `codec` names the form of both
   messages; NULL is "bytes". The default of Swift programs is "json". */

/* Sends a request and waits for the reply. Returns SC_ERR_TIMEOUT without one, SC_ERR_REFUSED with the reason as the message, and
   SC_ERR_INCOMPATIBLE for a reply of another codec. Free the reply with sc_bytes_free. With a hub that does not answer it returns
   SC_ERR_UNAVAILABLE, or SC_ERR_OUTCOME_UNKNOWN for a request that may have been sent. It needs two answers of a hub, and `timeout`
   begins with the first: it returns 10 s after `timeout` at the latest, or 20 s after the call where that is later. No call but
   sc_close of the group ends it before: use sc_request_start for a request that may have to end. */
int32_t sc_request(
    sc_group group, const char *name, const char *codec, const uint8_t *bytes, size_t count, int64_t timeout,
    sc_bytes *reply, sc_error *error);
/* Begins to send a request, as sc_request with the same arguments, and returns at once. sc_close of the handle ends the wait for the
   reply. A request that was sent stays in the group until it is answered or its timeout has passed. */
int32_t sc_request_start(
    sc_group group, const char *name, const char *codec, const uint8_t *bytes, size_t count, int64_t timeout,
    sc_pending_request *request, sc_error *error);
/* Waits for the outcome for at most `timeout` ms; 0 never waits. Returns SC_NOTHING at that timeout, else what sc_request returns: once.
   After it calls return SC_ENDED, the first ones perhaps SC_NOTHING. The timeout of the request itself goes on. Free the reply with sc_bytes_free. */
int32_t sc_request_next(sc_pending_request request, int64_t timeout, sc_bytes *reply, sc_error *error);
int32_t sc_responder_open(
    sc_group group, const char *name, const char *codec, sc_responder *responder, sc_error *error);
/* Takes a request. Waits for one for at most `timeout` ms, then returns SC_NOTHING. Refuses requests of another codec by itself. It waits for a
   hub and returns as sc_take does. */
int32_t sc_responder_take(
    sc_responder responder, int64_t timeout, sc_received *request, sc_bytes *bytes, sc_error *error);
/* Replies, or refuses. Each closes the request. `sent` is 0 if the take had ended before: nothing was sent. It may be NULL. */
int32_t sc_reply(sc_received request, const uint8_t *bytes, size_t count, int32_t *sent, sc_error *error);
int32_t sc_refuse(sc_received request, const char *reason, int32_t *sent, sc_error *error);
/* Lets another program take the request, and closes it. */
int32_t sc_received_give_back(sc_received request, sc_error *error);

/* Main and Executor. The program brings the core: events tell it to start and to stop, and the program answers with calls. */

typedef struct {
    size_t size; /* sizeof(sc_participant_options) */
    /* Milliseconds; 0 for the default, which sc_open_configured reads. The same in all processes of a group. A time that breaks a rule
       here, or is below 0, is SC_ERR_INVALID_ARGUMENT. */
    /* At most `handover_maximum_timeout`. Its default is 500 ms. */
    int64_t handover_timeout;
    int64_t stop_timeout;
    int64_t executor_budget;
    int64_t core_linger;
    /* The longest that critical sections make the wait for a hand-over (contract C3). Its default is 5 s. */
    int64_t handover_maximum_timeout;
    /* How long a Main that rests has to resume when it is woken (contract C26). */
    int64_t wake_timeout;
    /* How long a baton that a core of this participant gives is kept: 1 s to 60 s (contract C25). */
    int64_t baton_lifetime;
    /* The kinds of batons that the cores of this participant take, at most 4: each 1 to 64 of a-z, 0-9, '-', '.', '/'. */
    const char *const *takes_batons;
    size_t takes_baton_count;
    /* For a Main: 1 asks another Main that owns to hand over, and fences it if it does not (contract C14). */
    int32_t takes_over;
    /* For a Main: 1 does not wait for the owner's activities (contract C17). */
    int32_t insists;
} sc_participant_options;

#define SC_PARTICIPANT_OPTIONS_INIT {sizeof(sc_participant_options), 0, 0, 0, 0, 0, 0, 0, NULL, 0, 0, 0}

enum {
    /* Start the core, then answer with sc_core_started or sc_core_failed. */
    SC_CORE_START = 1,
    /* Stop the core within `timeout` ms, then answer with sc_core_stopped. It comes also after sc_core_failed. With `takes` the answer
       may be sc_core_give_baton instead. It may come before SC_CORE_START was answered: end the start first, so that nothing of the
       core runs when this is answered. SC_CORE_START needs no answer then. */
    SC_CORE_STOP = 2,
    /* A Main's first start has ended: it owns with `code` SC_OK, else `code` is the error. */
    SC_STARTED = 3,
    /* The answer to sc_executor_ask. */
    SC_RESULT = 4,
    /* The answer to sc_executor_finish: the Executor has served all calls. */
    SC_FINISHED = 5,
    /* The last event: the participation has ended, with `code` SC_OK after sc_participant_end, else the error. */
    SC_PARTICIPANT_ENDED = 6,
    /* A Main is about to rest: stay registered, send and write nothing, then answer with sc_core_rested. */
    SC_CORE_REST = 7,
    /* The rest is over: go on, then answer with sc_core_resumed. `reason` says what for: "call", "push", "user" .. */
    SC_CORE_RESUME = 8,
    /* The answer to sc_main_rest: it rests with `code` SC_OK, else `code` says why not. */
    SC_RESTED = 9,
    /* The answer to sc_main_resume. */
    SC_RESUMED = 10,
    /* The end of the baton that the core has given: `baton_end` says which. Close what is open, then answer with sc_core_stopped. */
    SC_BATON_ENDED = 11
};

enum { SC_RESULT_MESSAGE = 1, SC_RESULT_CALL = 2, SC_RESULT_NOTHING = 3 };

/* The part of a baton that reaches the Main that asked. */
enum { SC_REACH_NONE = 0, SC_REACH_BYTES = 1, SC_REACH_DESCRIPTORS = 2 };

/* The outcome of a baton. */
enum {
    /* Another owner has the calls: send nothing for them. A shutdown of a socket would end that of the new owner. */
    SC_BATON_APPLIED = 1,
    /* An owner could not use the baton. This core must end the calls over the network. */
    SC_BATON_FAILED = 2,
    /* The time of the baton has passed. This core must end the calls over the network. */
    SC_BATON_EXPIRED = 3,
    /* The baton was not offered. This core must end the calls over the network. */
    SC_BATON_REFUSED = 4,
    /* An owner may have the calls: send nothing for them. */
    SC_BATON_UNKNOWN = 5
};

/* The most calls and descriptors of a baton. */
#define SC_BATON_CALLS 4
#define SC_BATON_DESCRIPTORS 15

/* What the next owner's core needs to continue the calls of a core (contract C25). */
typedef struct {
    size_t size;      /* sizeof(sc_baton). SC_BATON_INIT sets it */
    const char *kind; /* the format and version of the bytes: 1 to 64 of a-z, 0-9, '-', '.', '/' */
    const uint8_t *bytes;
    size_t byte_count;        /* at most 65,536 */
    const char *const *calls; /* the ids of the calls that move: 1 to SC_BATON_CALLS */
    size_t call_count;
    /* For sc_core_give_baton: open descriptors, at most SC_BATON_DESCRIPTORS, which the library duplicates. In an event
       it is NULL, and sc_core_take_descriptors gets them. */
    const int32_t *descriptors;
    size_t descriptor_count;
    uint64_t from; /* in an event: the epoch that gave it */
} sc_baton;

#define SC_BATON_INIT {sizeof(sc_baton), NULL, NULL, 0, NULL, 0, NULL, 0, 0}

/* A field that the application keeps with a message: a name as a `kind` has it, and at most 1,024 bytes. */
typedef struct {
    const char *name;
    const char *value;
} sc_field;

/* Milliseconds since 1970 that stand for no time. */
#define SC_NO_TIME INT64_MIN

/* What a core received (contract C20). Texts end with a NUL. In a result, texts are NULL only where "NULL for none" is said. */
typedef struct {
    /* sizeof(sc_message). SC_MESSAGE_INIT sets it, and no time; everything else but `call_id` may be 0. */
    size_t size;
    const char *call_id;  /* the identifier that its push announced; not empty */
    const char *sequence; /* tells it from others of the call-id: 1 to 64 of A-Z, a-z, 0-9, '-', '.', '_'; NULL for none (C21) */
    /* "text", "invitation", "too-large", "nothing", or your own of 1 to 64 of a-z, 0-9, '-', '.'; NULL is "text". Show a kind
       that you do not know by its sender and text. */
    const char *kind;
    const char *sender;
    const char *recipient;
    const char *text;
    const uint8_t *body;
    size_t body_count;
    const char *account;      /* at most 256 bytes; NULL for none */
    const char *conversation; /* at most 512 bytes; NULL for none */
    const char *content_type; /* of the body (RFC 2045), at most 256 bytes; NULL for none */
    int64_t time;             /* that its sender gave it, milliseconds since 1970 within 2^53; SC_NO_TIME for none */
    const sc_field *fields;   /* at most 32, each name once; in a result in the order of the names */
    size_t field_count;
} sc_message;

#define SC_MESSAGE_INIT {sizeof(sc_message), NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, SC_NO_TIME, NULL, 0}

typedef struct {
    sc_core core;     /* with SC_CORE_START, SC_CORE_STOP, SC_CORE_REST, SC_CORE_RESUME and SC_BATON_ENDED */
    uint64_t epoch;   /* with SC_CORE_START: the revision that fences the core's writes */
    uint64_t request; /* with SC_RESULT: the request of sc_executor_ask */
    sc_taken taken;   /* with SC_RESULT_MESSAGE: acknowledge it, or give it back */
    int64_t timeout;  /* with SC_CORE_STOP */
    const sc_message *message; /* with SC_RESULT_MESSAGE; with SC_RESULT_CALL its `call_id` alone says which call; else NULL */
    const char *reason;    /* with SC_CORE_STOP: "handover", "served", "budget", "closing" ..; with SC_BATON_ENDED: "applied" ..; else the error's text */
    const char *requester; /* with SC_CORE_STOP: the name of the Main that asked; else NULL */
    int32_t kind;
    int32_t code;
    int32_t result;    /* SC_RESULT_MESSAGE, SC_RESULT_CALL, SC_RESULT_NOTHING */
    int32_t from_core; /* with SC_RESULT: 1 if a core of this participant received it */
    const sc_baton *baton;    /* with SC_CORE_START: the baton of a former owner; else NULL */
    const char *const *takes; /* with SC_CORE_STOP: the kinds of batons that the asking Main takes; else NULL */
    size_t take_count;
    int32_t reach;     /* with `takes`: SC_REACH_BYTES, SC_REACH_DESCRIPTORS */
    int32_t baton_end; /* with SC_BATON_ENDED: SC_BATON_APPLIED .. */
} sc_participant_event;

/* Begins to take part. The group must be open with the role "main", or "executor". `options` may be NULL. */
int32_t sc_main_start(
    sc_group group, const sc_participant_options *options, sc_participant *participant, sc_error *error);
int32_t sc_executor_open(
    sc_group group, const sc_participant_options *options, sc_participant *participant, sc_error *error);
/* Waits for an event for at most `timeout` ms; 0 never waits. The event belongs to the library until sc_participant_event_free. */
int32_t sc_participant_next(
    sc_participant participant, int64_t timeout, sc_participant_event *event, sc_error *error);
void sc_participant_event_free(sc_participant_event *event);
/* Begins to end the participation: SC_CORE_STOP comes if a core runs, then SC_PARTICIPANT_ENDED. sc_close instead ends it at
   once, and treats a running core as stopped. */
int32_t sc_participant_end(sc_participant participant, sc_error *error);
/* Asks for the message of a call-id. If `sequence` is NULL, a message of any sequence matches; otherwise one with that
   sequence or with none. SC_RESULT comes within `timeout` ms. */
int32_t sc_executor_ask(
    sc_participant executor, const char *call_id, const char *sequence, int64_t timeout, uint64_t *request, sc_error *error);
/* As sc_executor_ask, and the core has to run here, also when the inbox has the message: SC_ERR_REFUSED while a Main owns. */
int32_t sc_executor_insist(
    sc_participant executor, const char *call_id, const char *sequence, int64_t timeout, uint64_t *request, sc_error *error);
/* Asks for SC_FINISHED, which comes when the core of this participant, if one runs, has served all calls and stopped. */
int32_t sc_executor_finish(sc_participant executor, sc_error *error);
/* sc_taken_acknowledge removes the message, and sc_taken_give_back lets other participants take it. Both close the
   handle. `acknowledged` is 0 if the take had ended before; it may be NULL. */
int32_t sc_taken_acknowledge(sc_taken taken, int32_t *acknowledged, sc_error *error);
int32_t sc_taken_give_back(sc_taken taken, sc_error *error);
/* Acknowledges a message that a Main has shown, of exactly this identity: `sequence` is NULL for a message without one.
   `acknowledged` is 0 if none waited; it may be NULL. */
int32_t sc_main_acknowledge(
    sc_participant main, const char *call_id, const char *sequence, int32_t *acknowledged, sc_error *error);

/* Begins to rest (contract C26): SC_CORE_REST comes, then SC_RESTED. The holder of the group owns for this Main then, under the same
   epoch, and wakes it with SC_CORE_RESUME for a push, a call or a request for hand-over. SC_RESTED has the code SC_ERR_UNAVAILABLE
   without a holder, SC_ERR_REFUSED while an activity, a request for hand-over or a call keeps it awake, and SC_ERR_UNSUPPORTED where
   the session has a lease. */
int32_t sc_main_rest(sc_participant main, sc_error *error);
/* Begins to end a rest: SC_CORE_RESUME comes, then SC_RESUMED. */
int32_t sc_main_resume(sc_participant main, sc_error *error);
/* Begins to own for a Main that rests. The group must be open with another role than "main" and "executor". It runs no core; its one
   event is SC_PARTICIPANT_ENDED. A group has one holder at a time; others wait to take its place. */
int32_t sc_holder_open(
    sc_group group, const sc_participant_options *options, sc_participant *participant, sc_error *error);

/* Pushes that the host routes to Main (contract P13). */

typedef struct {
    size_t size; /* the bytes of the structure in this library */
    const char *call_id;
    const char *type;    /* "message", "call", or your own of 1 to 64 of a-z, 0-9, '-', '.' */
    const char *account; /* empty for none */
    const uint8_t *payload;
    size_t payload_count;
} sc_push;

/* Begins to take the pushes for a Main, while it owns. The pushes of an earlier call for this Main end. The library
   takes one push ahead of sc_pushes_next, and gives it back at sc_close and at sc_participant_end. */
int32_t sc_main_pushes(sc_participant main, sc_pushes *pushes, sc_error *error);
/* Takes a push, the oldest first. Waits for one for at most `timeout` ms. Returns SC_ENDED when the Main has ended.
   After an error of the store (SC_ERR_INVALID_ARGUMENT to SC_ERR_SYSTEM) call again. The push belongs to the library
   until sc_push_free, which sets the pointer to NULL. The Main has the push in hand until sc_push_acknowledge or
   sc_push_give_back closes `taken`. After sc_close alone it has the push until the group is closed. */
int32_t sc_pushes_next(sc_pushes pushes, int64_t timeout, sc_taken_push *taken, const sc_push **push, sc_error *error);
void sc_push_free(const sc_push **push);
/* sc_push_acknowledge says that the push was handled, and sc_push_give_back lets a Main take it again. Both close the
   handle, unless they return an error. `acknowledged` is 0 if the take had ended before; it may be NULL. */
int32_t sc_push_acknowledge(sc_taken_push taken, int32_t *acknowledged, sc_error *error);
int32_t sc_push_give_back(sc_taken_push taken, sc_error *error);

/* The core runs: the answer to SC_CORE_START. */
int32_t sc_core_started(sc_core core, sc_error *error);
/* The core could not start, or has ended by itself. `reason` may be NULL. */
int32_t sc_core_failed(sc_core core, const char *reason, sc_error *error);
/* The core has stopped: the answer to SC_CORE_STOP. Closes the handle of the core. */
int32_t sc_core_stopped(sc_core core, sc_error *error);
/* Gives a baton: the answer to SC_CORE_STOP with `takes`, in place of sc_core_stopped. From then on the core reads and sends nothing for
   its calls, and keeps its sockets open until SC_BATON_ENDED. `bytes` and `descriptors` are copied and duplicated before the call returns:
   the program's descriptors stay its own to close. SC_ERR_REFUSED: the core is not told to stop by a Main that takes batons, or the event
   was answered. SC_ERR_INVALID_ARGUMENT: the baton breaks a rule, or a descriptor is not open. With an error the event is not answered. */
int32_t sc_core_give_baton(sc_core core, const sc_baton *baton, sc_error *error);

/* The three calls for the baton of SC_CORE_START. Use them before sc_core_started; after it, and without a baton, they return SC_NOTHING. */

/* Gets the descriptors once, in the order in which they were given; `descriptors` has SC_BATON_DESCRIPTORS places. The
   program must close them; they are close-on-exec. The library closes those that were not taken when SC_CORE_START is
   answered. */
int32_t sc_core_take_descriptors(sc_core core, int32_t *descriptors, size_t *count, sc_error *error);
/* Takes the calls over. Prepare the core before this call, and send nothing for the calls before it has returned SC_OK.
   `calls` has SC_BATON_CALLS places, which get a handle each in the order of the baton's calls; 0 for a call that is
   not open any more. SC_ERR_GUARD_FAILED: the baton is over, or the core is superseded or told to stop. Send nothing
   for the calls then. A core that has not applied its baton at sc_core_started has refused it; after sc_core_failed the
   next epoch gets the baton. */
int32_t sc_core_apply_baton(sc_core core, sc_call *calls, sc_error *error);
/* Says that the core cannot use the baton: the calls are over, and the former owner ends them. `reason` may be NULL. */
int32_t sc_core_refuse_baton(sc_core core, const char *reason, sc_error *error);
/* sc_core_rested answers SC_CORE_REST: the core is quiet. sc_core_resumed answers SC_CORE_RESUME: the core goes on.
   Answer each such event once, in their order. After sc_core_failed the core is told to stop instead. */
int32_t sc_core_rested(sc_core core, sc_error *error);
int32_t sc_core_resumed(sc_core core, sc_error *error);
/* Stores a message. Acknowledge it to its server only after SC_OK. `duplicate` is 1 if it was stored before; it may be NULL.
   SC_ERR_INVALID_ARGUMENT: a value of the message breaks its rule. SC_ERR_LIMIT_EXCEEDED: the message is larger than a value can
   be; deliver one of the kind "too-large" in its place. SC_ERR_STORAGE_FULL: deliver it again later. SC_ERR_GUARD_FAILED: the core
   is superseded. */
int32_t sc_core_deliver(sc_core core, const sc_message *message, int32_t *duplicate, sc_error *error);

/* The outcome of an update or a withdrawal (contract C22). */
enum {
    /* The message waited. Participants that ask from now on get the result of the change. */
    SC_UPDATE_CHANGED = 1,
    /* As SC_UPDATE_CHANGED, but a participant had the message in hand and may have shown the former content. */
    SC_UPDATE_CHANGED_IN_HAND = 2,
    /* The message was acknowledged before, or had nothing to show: nothing was changed. */
    SC_UPDATE_OVER = 3,
    /* There is no message of this identity: nothing was changed. */
    SC_UPDATE_ABSENT = 4
};

/* Replaces the content of a message that waits to be acknowledged; `call_id` and `sequence` are exactly those with which it was
   delivered. `change` may be NULL. Errors are those of sc_core_deliver. */
int32_t sc_core_update(sc_core core, const sc_message *message, int32_t *change, sc_error *error);
/* Withdraws a message that waits to be acknowledged: a wait for it ends with nothing to show. `sequence` may be NULL
   for a message without one, and `change` may be NULL. */
int32_t sc_core_withdraw(sc_core core, const char *call_id, const char *sequence, int32_t *change, sc_error *error);
/* Puts a sentence about something that the core had to set aside on the timeline. */
int32_t sc_core_report(sc_core core, const char *problem, sc_error *error);
/* Enters a section of work that a request for hand-over waits for, `maximum` ms at most and within `handover_maximum_timeout`
   (contract C3); below 0 is 0. SC_ERR_GUARD_FAILED: a request is pending, the core is in a section already, or it is superseded. */
int32_t sc_core_enter_critical_section(sc_core core, int64_t maximum, sc_error *error);
/* Leaves the section. SC_CORE_STOP comes then if a request waits. */
int32_t sc_core_leave_critical_section(sc_core core, sc_error *error);
/* Gets a handle of the group whose writes all have the core's epoch as a guard. Close it after use; the group stays open. */
int32_t sc_core_group(sc_core core, sc_group *group, sc_error *error);

/* The inbox, for every process of the group. Reading takes no message. */

enum {
    /* There is no message of the identity, or it has expired. */
    SC_MESSAGE_ABSENT = 0,
    /* The message waits, and the first participant that asks takes it. */
    SC_MESSAGE_STORED = 1,
    /* It is in the hand of a participant that has not acknowledged it. */
    SC_MESSAGE_TAKEN = 2,
    /* It was shown. */
    SC_MESSAGE_ACKNOWLEDGED = 3,
    /* It had nothing to show, or was withdrawn. */
    SC_MESSAGE_NOTHING = 4
};

typedef struct {
    size_t size; /* the bytes of the structure in this library */
    const sc_message *message;
    uint64_t stored_at; /* the revision at which it was first stored */
    uint64_t taken_by;  /* the session that has it in hand; 0 for none */
    int32_t state;      /* SC_MESSAGE_STORED, SC_MESSAGE_TAKEN */
    int32_t reserved;
} sc_listed_message;

typedef struct {
    size_t size; /* the bytes of the structure in this library */
    size_t count;
    const sc_listed_message *const *messages;
    uint64_t next; /* `after` of the next page; 0 if this is the last one */
} sc_inbox_page;

/* Gets a page of the messages that wait to be acknowledged, the oldest first, at one revision: at most `limit`, which is 1 or
   more, INT64_MAX at most, of those stored after the revision `after`; 0 for the first page (contract C20). A message that this version cannot read is
   left out. The page belongs to the library until sc_inbox_page_free, which sets the pointer to NULL. */
int32_t sc_inbox(sc_group group, uint64_t after, size_t limit, const sc_inbox_page **page, sc_error *error);
void sc_inbox_page_free(const sc_inbox_page **page);
/* Gets the state of an identity. Of the messages that match, it is the state of the oldest one that can be taken, else
   of one in hand. Without a message, it says whether the identity was acknowledged or had nothing to show. `sequence`
   is NULL for any sequence. `taken_by` is the session with SC_MESSAGE_TAKEN, else 0; it may be NULL. */
int32_t sc_inbox_state(
    sc_group group, const char *call_id, const char *sequence, int32_t *state, uint64_t *taken_by, sc_error *error);

/* The state of a group, for every process of it. Structures that begin with a size have that many bytes in this library. Times are
   milliseconds since the machine's start, by CLOCK_BOOTTIME. */

/* A process. It is identified together with the boot of its machine. */
typedef struct {
    const char *boot_id; /* the boot of the machine: 32 hexadecimal digits */
    uint64_t start_time; /* clock ticks since the machine's start; 0 if it is not known */
    int32_t pid;
    int32_t reserved;
} sc_process;

typedef struct {
    size_t size;
    uint64_t session;
    const char *role;
    const char *name;
    sc_process process;
    int64_t since;
} sc_session_info;

enum { SC_OWNER_STARTING = 1, SC_OWNER_RUNNING = 2, SC_OWNER_STOPPING = 3 };

/* The owner of the core (contract C1). */
typedef struct {
    size_t size;
    uint64_t session;
    uint64_t epoch; /* the revision of its acquisition */
    const char *role;
    const char *name;
    sc_process process;
    int64_t since; /* its acquisition */
    int32_t state; /* SC_OWNER_STARTING, SC_OWNER_RUNNING, SC_OWNER_STOPPING */
    int32_t reserved;
} sc_owner;

/* A Main that has asked for the core and does not own it yet (contract C3). */
typedef struct {
    size_t size;
    uint64_t session;
    const char *name;
    sc_process process; /* with the pid 0 if it is not known */
    int64_t since;
    int32_t takes_over; /* 1 if another Main must hand over too */
    int32_t insists;    /* 1 if it does not wait for the owner's activities */
} sc_asked;

/* Work of the owner that a hand-over waits for (contract C17). */
typedef struct {
    size_t size;
    const char *kind;
    const char *id;
    int64_t begun;
    int64_t expected_end; /* -1 if it is not known */
    int64_t latest_end;   /* from then on it delays no hand-over */
} sc_activity_info;

/* A Main that rests: the owner is the holder, which owns for it under the epoch of its core (contract C26). */
typedef struct {
    size_t size;
    uint64_t session;
    uint64_t epoch;
    const char *name;
    sc_process process;
    sc_process holder;
    const char *wake; /* why it was woken and has not resumed yet: "call", "push", "user" ..; NULL while it sleeps */
} sc_rest_info;

typedef struct {
    size_t size;
    /* The sessions of the group, the oldest first. */
    const sc_session_info *const *sessions;
    size_t session_count;
    /* The revision of all fields from here to `rest`. */
    uint64_t revision;
    const sc_owner *owner; /* NULL for none */
    const sc_asked *asked; /* NULL for none */
    const sc_activity_info *const *activities;
    size_t activity_count;
    const sc_rest_info *rest; /* NULL for none */
    /* The numbers from here on were counted after that revision. Of the open calls, those with a baton that no core has applied
       yet are moving (contract C25). */
    uint64_t open_call_count;
    uint64_t moving_call_count;
    uint64_t ended_call_count;
    /* The pushes that a host keeps: waiting for an Executor, in the hand of a host, given up; and those for a Main, waiting or in
       its hand (contract P13). */
    uint64_t waiting_push_count;
    uint64_t taken_push_count;
    uint64_t given_up_push_count;
    uint64_t main_push_count;
} sc_group_status;

/* Gets the state of a group. It belongs to the library until sc_status_free, which sets the pointer to NULL. If the
   backend can detect dead processes, a dead owner is not reported. */
int32_t sc_status(sc_group group, const sc_group_status **status, sc_error *error);
void sc_status_free(const sc_group_status **status);

/* An event in the history of the ownership of the core (contract C15). */
typedef struct {
    size_t size;
    uint64_t revision;
    const char *event;    /* "acquired", as `sharedcore timeline --json` has it; later versions have more */
    const char *sentence; /* for people, without the time */
    uint64_t session;     /* of the participant that did it */
    const char *role;
    const char *name;
    sc_process process; /* without its start time */
    int64_t at;
    uint64_t epoch;           /* of the participant's own ownership; 0 for none */
    uint64_t other;           /* of the ownership that this is about; 0 for none */
    uint64_t previous_epoch;  /* with an acquisition: of the ownership before it; 0 for none */
    const char *previous_end; /* how that ended: "released", "sessionEnded", "unanswered", "deadlinePassed", "replaced"; NULL for none */
    const char *reason;
    int64_t bound; /* a duration in milliseconds; -1 for none */
    int32_t from;  /* the owner's state before and after, SC_OWNER_RUNNING; 0 for none */
    int32_t to;
} sc_timeline_entry;

typedef struct {
    size_t size;
    const sc_timeline_entry *const *entries;
    size_t count;
    uint64_t next;            /* `after` of the next page; 0 if this is the last one */
    uint64_t dropped_count;   /* how many entries the group has dropped since its beginning, the oldest first */
    uint64_t dropped_through; /* the revision of the last of them; 0 for none */
    uint64_t damaged_count;   /* how many entries of the timeline cannot be read or are not the participant's own */
} sc_timeline_page;

/* Gets a page of the timeline, the oldest entries first. It has the entries after the revision `after`, which is 0 for
   the first page: `limit` of them, from 1 to INT64_MAX, and those that share the commit of the last one. The page belongs
   to the library until sc_timeline_page_free, which sets the pointer to NULL. */
int32_t sc_timeline(sc_group group, uint64_t after, size_t limit, const sc_timeline_page **page, sc_error *error);
void sc_timeline_page_free(const sc_timeline_page **page);

/* Calls, for every process of the group. */

enum { SC_DIRECTION_INCOMING = 1, SC_DIRECTION_OUTGOING = 2 };
enum { SC_AUDIO = 1, SC_VIDEO = 2 };
enum {
    SC_CALL_INCOMING = 0,
    SC_CALL_RINGING = 1,
    SC_CALL_ANSWERED = 2,
    SC_CALL_HELD = 3,
    SC_CALL_REMOTELY_HELD = 4,
    SC_CALL_ENDED = 5
};
enum {
    SC_END_HUNG_UP = 1,
    SC_END_REMOTE_HUNG_UP = 2,
    SC_END_DECLINED = 3,
    SC_END_MISSED = 4,
    SC_END_ANSWERED_ELSEWHERE = 5,
    SC_END_BUSY = 6,
    SC_END_FAILED = 7,
    SC_END_LOST = 8
};
enum { SC_COMMAND_ANSWER = 1, SC_COMMAND_DECLINE = 2, SC_COMMAND_HOLD = 3, SC_COMMAND_RESUME = 4, SC_COMMAND_HANG_UP = 5 };

typedef struct {
    const char *id;
    const char *from;
    const char *to;
    const char *account;  /* empty for the only one */
    const char *end_text; /* with SC_END_FAILED, the reason for people */
    uint64_t holder;      /* the session whose core has the call; 0 for none */
    /* Milliseconds since the machine started; -1 for a call that was not answered, or has not ended. */
    int64_t began;
    int64_t answered;
    int64_t ended;
    int32_t direction;
    int32_t media; /* SC_AUDIO | SC_VIDEO */
    int32_t state;
    int32_t end_reason; /* with SC_CALL_ENDED */
} sc_call_info;

typedef struct {
    size_t count;
    const sc_call_info *calls;
} sc_call_list;

/* Gets the open calls, the oldest first, then the ended ones that were not acknowledged, the newest first. */
int32_t sc_calls(sc_group group, sc_call_list *list, sc_error *error);
void sc_call_list_free(sc_call_list *list);
/* Watches that list. sc_calls_next gets it once at the beginning, then after each change. Free it with sc_call_list_free. */
int32_t sc_calls_watch(sc_group group, sc_call_changes *changes, sc_error *error);
int32_t sc_calls_next(sc_call_changes changes, int64_t timeout, sc_call_list *list, sc_error *error);
/* Sends a command to the holder of an open call, and returns when the holder has carried it out. SC_ERR_TIMEOUT: the
   holder has not taken it, and never will. SC_ERR_OUTCOME_UNKNOWN: the holder has taken it and has not answered, or the
   group has not answered. SC_ERR_REFUSED: the holder has refused it, with its reason. SC_ERR_NOT_FOUND: no such call is
   open. */
int32_t sc_call_command(sc_group group, const char *call_id, int32_t command, int64_t timeout, sc_error *error);
/* Removes an ended call from the list. `acknowledged` is 0 if there was none; it may be NULL. */
int32_t sc_call_acknowledge(sc_group group, const char *call_id, int32_t *acknowledged, sc_error *error);

/* Calls and activities of a core. Both keep an Executor's core past its budget, and delay a hand-over. */

/* Begins a call. Reads `id`, `from`, `to`, `account`, `direction`, `media` and `state` of the description. */
int32_t sc_call_begin(sc_core core, const sc_call_info *description, sc_call *call, sc_error *error);
int32_t sc_call_change(sc_call call, int32_t state, sc_error *error);
/* Sets the media of the call: SC_AUDIO and SC_VIDEO, or 0 for none, for example while it is held. */
int32_t sc_call_change_media(sc_call call, int32_t media, sc_error *error);
/* What the next core needs of a baton in order to continue a call. */
enum { SC_NEEDS_BYTES = 1, SC_NEEDS_DESCRIPTORS = 2 };

/* Says that the call can move with a baton of a kind from now on (contract C25). NULL says that it cannot, as at its
   beginning. `needs` is SC_NEEDS_DESCRIPTORS or, for a call that also moves to another machine, SC_NEEDS_BYTES.
   SC_ERR_GUARD_FAILED: the call is over, or a Main that takes the baton has asked for the core. */
int32_t sc_call_set_moves(sc_call call, const char *kind, int32_t needs, sc_error *error);
/* Ends the call and closes its handle. `text` is for SC_END_FAILED; NULL is empty. After sc_close alone the call goes on, and
   is lost when the ownership ends. */
int32_t sc_call_end(sc_call call, int32_t reason, const char *text, sc_error *error);
/* Takes a command for the call. Waits for one for at most `timeout` ms. Returns SC_ENDED when the call or the ownership
   has ended. After an error of the store call again: the library tries again a second later. Nothing follows
   SC_ERR_CLOSED, SC_ERR_SESSION_ENDED and SC_ERR_GUARD_FAILED, which says that the core is superseded. The first use of
   this call, or of sc_descriptor, begins to take commands: the program must answer each from then on. */
int32_t sc_call_next_command(sc_call call, int64_t timeout, sc_command *command, int32_t *kind, sc_error *error);
/* Says that the command was carried out, or that it is not. Each closes the handle of the command. */
int32_t sc_command_accept(sc_command command, sc_error *error);
int32_t sc_command_refuse(sc_command command, const char *reason, sc_error *error);
/* Begins an activity. `kind` is "call" (4 hours at most), "transfer" (10 minutes), or a word of your own. `bound` is for such
   a word: 1 s to 1 hour, in milliseconds. */
int32_t sc_activity_begin(
    sc_core core, const char *kind, int64_t bound, const char *id, sc_activity *activity, sc_error *error);
/* Ends the activity and closes its handle. After sc_close alone it goes on until its bound. */
int32_t sc_activity_end(sc_activity activity, sc_error *error);

/* Keeps the process alive when a file of an open group is cut by another program: installs a handler of SIGBUS, which the
   library does on no other occasion. */
int32_t sc_handle_bus_errors(sc_error *error);

#ifdef __cplusplus
}
#endif
#endif
