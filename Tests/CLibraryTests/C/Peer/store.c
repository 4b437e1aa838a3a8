// Orders about entries, posts, watches and sessions.

#include "peer.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

sc_group group;

int32_t open_address(const arguments *given, int index, const char *role, const char *name, sc_group *opened) {
    sc_options options = SC_OPTIONS_INIT;
    char setting[4096];
    const char *settings[1] = {setting};
    options.role = role;
    options.name = name;
    options.directory = word(given, index);
    if (strcmp(word(given, index), "zmq") == 0) {
        if (given->count != index + 2) return limit("the peer uses no keys");
        options.backend = "zmq";
        // The hub knows the group by its name; the directory above it is not read.
        options.directory = "/tmp/group";
        options.settings = settings;
        options.setting_count = 1;
        options.open_timeout = 60000;
        snprintf(setting, sizeof setting, "zmq.endpoint=%s", word(given, index + 1));
    } else if (strcmp(word(given, index + 1), "disk") == 0) {
        options.durability = "disk";
    } else if (given->count > index + 1) {
        return limit("the peer knows no such option of a group");
    }
    return sc_open(&options, opened, &failure);
}

static int32_t open_order(const arguments *given, FILE *answer) {
    uint64_t session;
    int32_t code = open_address(given, 0, "executor", "peer", &group);
    if (code == SC_OK) code = sc_session(group, &session, &failure);
    if (code == SC_OK) fprintf(answer, "%" PRIu64, session);
    return code;
}

static int32_t close_order(const arguments *given, FILE *answer) {
    (void)given, (void)answer;
    int32_t code = sc_close(group);
    group = 0;
    return code;
}

// Debug builds of the library have this function, which no header has.
static int32_t arm_order(const arguments *given, FILE *answer) {
    (void)answer;
    void (*arm)(const char *);
    *(void **)&arm = dlsym(RTLD_DEFAULT, "sharedcore_arm_fail_point");
    if (arm == NULL) return limit("fail points exist in debug builds only");
    arm(word(given, 0));
    return SC_OK;
}

// A child that holds every descriptor, and waits to be killed.
static int32_t child_order(const arguments *given, FILE *answer) {
    (void)given;
    pid_t child = fork();
    if (child == 0)
        while (true) pause();
    fprintf(answer, "%d", (int)child);
    return SC_OK;
}

// MARK: - Entries

// Commits operations, and answers with the revision.
static int32_t commit(const sc_operation *operations, size_t count, FILE *answer) {
    uint64_t revision;
    int32_t code = sc_commit(group, NULL, 0, operations, count, 0, &revision, &failure);
    if (code == SC_OK && answer != NULL) fprintf(answer, "%" PRIu64, revision);
    return code;
}

static sc_operation put_of(const char *key, const char *text, int32_t lifetime_kind) {
    return (sc_operation){.kind = SC_PUT, .key = key, .key_count = SC_NUL, .value = (const uint8_t *)text,
        .value_count = strlen(text), .lifetime_kind = lifetime_kind};
}

static sc_operation post_of(const char *name, uint64_t state) {
    return (sc_operation){.kind = SC_POST_STATE, .key = name, .key_count = SC_NUL, .state = state};
}

static int32_t put_order(const arguments *given, FILE *answer) {
    uint64_t revision;
    const char *text = word(given, 1);
    int32_t code = sc_put(group, word(given, 0), SC_NUL, (const uint8_t *)text, strlen(text), &revision, &failure);
    if (code == SC_OK) fprintf(answer, "%" PRIu64, revision);
    return code;
}

static int32_t hold_order(const arguments *given, FILE *answer) {
    sc_operation put = put_of(word(given, 0), word(given, 1), SC_SESSION);
    return commit(&put, 1, answer);
}

static int32_t get_order(const arguments *given, FILE *answer) {
    sc_entry entry;
    int32_t code = sc_get(group, word(given, 0), SC_NUL, &entry, &failure);
    if (code == SC_NOTHING) {
        fputs("nothing", answer);
        return SC_OK;
    }
    if (code != SC_OK) return code;
    fputs("value ", answer);
    fwrite(entry.value, 1, entry.value_count, answer);
    sc_entry_free(&entry);
    return SC_OK;
}

static int32_t delete_order(const arguments *given, FILE *answer) {
    uint64_t revision;
    int32_t code = sc_delete(group, word(given, 0), SC_NUL, &revision, &failure);
    if (code == SC_OK) fprintf(answer, "%" PRIu64, revision);
    return code;
}

static int32_t puts_order(const arguments *given, FILE *answer) {
    uint64_t revision = 0;
    for (uint64_t index = 0; index < number(given, 1); index++) {
        char key[512], text[32];
        snprintf(key, sizeof key, "%s%" PRIu64, word(given, 0), index);
        int count = snprintf(text, sizeof text, "%" PRIu64, index);
        int32_t code = sc_put(group, key, SC_NUL, (const uint8_t *)text, (size_t)count, &revision, &failure);
        if (code != SC_OK) return code;
    }
    fprintf(answer, "%" PRIu64, revision);
    return SC_OK;
}

static int32_t increment_order(const arguments *given, FILE *answer) {
    (void)answer;
    for (uint64_t done = 0; done < number(given, 1);) {
        sc_entry entry;
        char text[32] = "0";
        int32_t code = sc_get(group, word(given, 0), SC_NUL, &entry, &failure);
        if (code != SC_OK && code != SC_NOTHING) return code;
        sc_guard guard = {.key = word(given, 0), .key_count = SC_NUL, .kind = SC_GUARD_ABSENT};
        if (code == SC_OK) {
            size_t count = entry.value_count < sizeof text - 1 ? entry.value_count : sizeof text - 1;
            memcpy(text, entry.value, count);
            text[count] = 0;
            guard.kind = SC_GUARD_REVISION;
            guard.revision = entry.revision;
            sc_entry_free(&entry);
        }
        snprintf(text, sizeof text, "%" PRIu64, (uint64_t)strtoull(text, NULL, 10) + 1);
        sc_operation put = put_of(word(given, 0), text, SC_PERSISTENT);
        code = sc_commit(group, &guard, 1, &put, 1, 0, NULL, &failure);
        if (code == SC_OK) done++;
        else if (code != SC_ERR_GUARD_FAILED) return code;
    }
    return SC_OK;
}

static int32_t announce_order(const arguments *given, FILE *answer) {
    sc_operation operations[] = {
        put_of(word(given, 0), word(given, 1), SC_PERSISTENT), post_of(word(given, 2), number(given, 3))};
    return commit(operations, 2, answer);
}

static int32_t pair_order(const arguments *given, FILE *answer) {
    char keys[2][256], text[32];
    size_t count = number(given, 2);
    uint8_t *value = allocate(count + 1);
    int length = snprintf(text, sizeof text, "%" PRIu64 " ", number(given, 1));
    for (size_t index = 0; index < count; index++) value[index] = (uint8_t)text[index % (size_t)length];
    snprintf(keys[0], sizeof keys[0], "%s/a", word(given, 0));
    snprintf(keys[1], sizeof keys[1], "%s/b", word(given, 0));
    sc_operation operations[3] = {{0}, {0}, post_of(word(given, 0), number(given, 1))};
    for (int index = 0; index < 2; index++) {
        operations[index] = (sc_operation){
            .kind = SC_PUT, .key = keys[index], .key_count = SC_NUL, .value = value, .value_count = count};
    }
    int32_t code = commit(operations, 3, answer);
    free(value);
    return code;
}

// MARK: - Posts

static uint64_t seen_count, seen_state;

static int32_t post_order(const arguments *given, FILE *answer) {
    uint64_t state = number(given, 1), revision;
    int32_t code = sc_post(group, word(given, 0), SC_NUL, &state, &revision, &failure);
    if (code == SC_OK) fprintf(answer, "%" PRIu64, revision);
    return code;
}

static int32_t posts_order(const arguments *given, FILE *answer) {
    (void)answer;
    for (uint64_t state = 1; state <= number(given, 1); state++) {
        int32_t code = sc_post(group, word(given, 0), SC_NUL, &state, NULL, &failure);
        if (code != SC_OK) return code;
    }
    return SC_OK;
}

static void take_posts(void *object) {
    sc_observation observation = *(sc_observation *)object;
    sc_notification post;
    int32_t code;
    while ((code = sc_observation_next(observation, 0, &post, &failure)) == SC_OK) {
        seen_count += post.count;
        seen_state = post.state;
    }
    if (code != SC_NOTHING) forget(observation);
}

static int32_t observe_order(const arguments *given, FILE *answer) {
    (void)answer;
    sc_observation *observation = allocate(sizeof *observation);
    int32_t code = sc_observe(group, word(given, 0), SC_NUL, observation, &failure);
    if (code == SC_OK) attend(*observation, take_posts, observation);
    return code;
}

static int32_t seen_order(const arguments *given, FILE *answer) {
    (void)given;
    fprintf(answer, "%" PRIu64 " %" PRIu64, seen_count, seen_state);
    return SC_OK;
}

// MARK: - Watches

static uint64_t change_sets, lagged, breaches, watched_revision;

static void take_events(void *object) {
    sc_watch watch = *(sc_watch *)object;
    sc_event event;
    int32_t code;
    while ((code = sc_watch_next(watch, 0, &event, &failure)) == SC_OK) {
        if (event.revision < watched_revision) breaches++;
        watched_revision = event.revision;
        if (event.kind == SC_EVENT_CHANGES) change_sets++;
        if (event.kind == SC_EVENT_LAGGED) lagged++;
        sc_event_free(&event);
    }
    if (code != SC_NOTHING) forget(watch);
}

static int32_t watch_order(const arguments *given, FILE *answer) {
    (void)answer;
    sc_watch *watch = allocate(sizeof *watch);
    int32_t code = sc_watch_open(group, word(given, 0), SC_NUL, SC_FROM_SNAPSHOT, 0, watch, &failure);
    if (code == SC_OK) attend(*watch, take_events, watch);
    return code;
}

static bool has_watched(const void *revision) { return watched_revision >= *(const uint64_t *)revision; }

static int32_t watched_order(const arguments *given, FILE *answer) {
    uint64_t revision = number(given, 0);
    run_until(has_watched, &revision);
    fprintf(answer, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, change_sets, lagged, breaches, watched_revision);
    return SC_OK;
}

static int32_t sessions_order(const arguments *given, FILE *answer) {
    (void)given;
    const sc_group_status *status;
    int32_t code = sc_status(group, &status, &failure);
    if (code != SC_OK) return code;
    for (size_t index = 0; index < status->session_count; index++)
        fprintf(answer, "%s%" PRIu64, index > 0 ? " " : "", status->sessions[index]->session);
    sc_status_free(&status);
    return SC_OK;
}

const named_order store_orders[] = {
    {"open", open_order}, {"close", close_order}, {"arm", arm_order}, {"child", child_order}, {"put", put_order},
    {"hold", hold_order}, {"get", get_order}, {"delete", delete_order}, {"puts", puts_order},
    {"increment", increment_order}, {"announce", announce_order}, {"pair", pair_order}, {"post", post_order},
    {"posts", posts_order}, {"observe", observe_order}, {"seen", seen_order}, {"watch", watch_order},
    {"watched", watched_order}, {"sessions", sessions_order}, {NULL, NULL},
};
