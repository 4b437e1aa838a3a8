// Every call on a group, a watch, an observation and a mailbox: what it gives, and what it refuses.

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static const uint8_t *text(const char *text) { return (const uint8_t *)text; }

static void entries(sc_group group) {
    sc_entry entry;
    uint64_t first, second;
    CHECK_CODE(SC_NOTHING, sc_get(group, "a/1", SC_NUL, &entry, &error));
    CHECK_CODE(SC_OK, sc_put(group, "a/1", SC_NUL, text("one"), 3, &first, &error));
    CHECK_CODE(SC_OK, sc_put(group, "a/2", 3, NULL, 0, &second, &error));
    CHECK(second > first);
    CHECK_CODE(SC_OK, sc_get(group, "a/1", SC_NUL, &entry, &error));
    CHECK(entry.value_count == 3 && memcmp(entry.value, "one", 3) == 0 && entry.revision == first);
    CHECK(strcmp(entry.key, "a/1") == 0 && entry.key_count == 3 && entry.lifetime_kind == SC_PERSISTENT);
    sc_entry_free(&entry);
    sc_entry_free(&entry);
    CHECK(entry.key == NULL);
    CHECK_CODE(SC_OK, sc_get(group, "a/2", SC_NUL, &entry, &error));
    CHECK(entry.value != NULL && entry.value_count == 0);
    sc_entry_free(&entry);
    // A key is its bytes, a NUL among them.
    CHECK_CODE(SC_OK, sc_put(group, "a/\0", 3, text("nul"), 3, NULL, &error));
    sc_list_result list;
    CHECK_CODE(SC_OK, sc_list(group, "a", SC_NUL, &list, &error));
    CHECK(list.count == 3 && list.entries[0].key_count == 3 && memcmp(list.entries[0].key, "a/\0", 3) == 0);
    sc_list_free(&list);
    CHECK_CODE(SC_OK, sc_delete(group, "a/2", SC_NUL, NULL, &error));
    CHECK_CODE(SC_OK, sc_delete(group, "a/2", SC_NUL, NULL, &error));
    CHECK_CODE(SC_OK, sc_list(group, "nothing", SC_NUL, &list, &error));
    CHECK(list.count == 0);
    sc_list_free(&list);
}

static void transactions(sc_group group) {
    sc_guard guards[2] = {{.key = "t/1", .key_count = SC_NUL, .kind = SC_GUARD_ABSENT},
        {.key = "t/2", .key_count = SC_NUL, .kind = SC_GUARD_ABSENT}};
    sc_operation operations[3] = {
        {.key = "t/1", .key_count = SC_NUL, .value = text("x"), .value_count = 1, .kind = SC_PUT, .lifetime_kind = SC_SESSION},
        {.key = "t/2", .key_count = SC_NUL, .kind = SC_PUT, .lifetime_kind = SC_EXPIRING, .lifetime = 60000},
        {.key = "bell", .key_count = SC_NUL, .kind = SC_POST_STATE, .state = 7}};
    uint64_t revision;
    CHECK_CODE(SC_OK, sc_commit(group, guards, 2, operations, 3, 0, &revision, &error));
    CHECK_CODE(SC_ERR_GUARD_FAILED, sc_commit(group, guards, 2, operations, 3, 0, NULL, &error));
    CHECK(error.code == SC_ERR_GUARD_FAILED && error.guard_index == 0 && error.found_revision == revision);
    CHECK(error.found_creation_revision == revision && strcmp(error.location, "t/1") == 0);
    guards[0] = (sc_guard){.key = "t/1", .key_count = SC_NUL, .kind = SC_GUARD_REVISION, .revision = revision};
    CHECK_CODE(SC_OK, sc_commit(group, guards, 1, operations, 1, 0, NULL, &error));
    guards[0].kind = SC_GUARD_EPOCH;
    CHECK_CODE(SC_OK, sc_commit(group, guards, 1, operations, 1, 0, NULL, &error));
    sc_entry entry;
    CHECK_CODE(SC_OK, sc_get(group, "t/2", SC_NUL, &entry, &error));
    CHECK(entry.lifetime_kind == SC_EXPIRING && entry.lifetime == 60000);
    sc_entry_free(&entry);
    sc_notification state;
    CHECK_CODE(SC_OK, sc_state(group, "bell", SC_NUL, &state, &error));
    CHECK(state.state == 7 && state.count == 1);
    // A request number makes a repetition safe.
    uint64_t again;
    operations[0] = (sc_operation){.key = "t/3", .key_count = SC_NUL, .kind = SC_PUT};
    CHECK_CODE(SC_OK, sc_commit(group, NULL, 0, operations, 1, 1, &revision, &error));
    CHECK_CODE(SC_OK, sc_commit(group, NULL, 0, operations, 1, 1, &again, &error));
    CHECK(again == revision);
}

static void watches(sc_group group) {
    sc_watch watch;
    sc_event event;
    int32_t descriptor;
    CHECK_CODE(SC_OK, sc_put(group, "w/1", SC_NUL, text("old"), 3, NULL, &error));
    CHECK_CODE(SC_OK, sc_watch_open(group, "w", SC_NUL, SC_FROM_SNAPSHOT, 0, &watch, &error));
    CHECK_CODE(SC_OK, sc_watch_next(watch, SC_FOREVER, &event, &error));
    CHECK(event.kind == SC_EVENT_SNAPSHOT && event.count == 1 && event.changes[0].kind == SC_CHANGE_PRESENT);
    sc_event_free(&event);
    sc_event_free(&event);
    CHECK_CODE(SC_NOTHING, sc_watch_next(watch, 0, &event, &error));
    CHECK_CODE(SC_NOTHING, sc_watch_next(watch, 30, &event, &error));
    CHECK_CODE(SC_OK, sc_descriptor(watch, &descriptor, &error));
    struct pollfd poll_entry = {.fd = descriptor, .events = POLLIN};
    CHECK(poll(&poll_entry, 1, 0) == 0);
    CHECK_CODE(SC_OK, sc_put(group, "w/1", SC_NUL, text("new"), 3, NULL, &error));
    CHECK(poll(&poll_entry, 1, 10000) == 1);
    CHECK_CODE(SC_OK, sc_watch_next(watch, 0, &event, &error));
    CHECK(event.kind == SC_EVENT_CHANGES && event.count == 1 && event.changes[0].kind == SC_CHANGE_PUT);
    CHECK(memcmp(event.changes[0].entry.value, "new", 3) == 0 && memcmp(event.changes[0].old.value, "old", 3) == 0);
    sc_event_free(&event);
    CHECK_CODE(SC_OK, sc_delete(group, "w/1", SC_NUL, NULL, &error));
    CHECK_CODE(SC_OK, sc_watch_next(watch, SC_FOREVER, &event, &error));
    CHECK(event.changes[0].kind == SC_CHANGE_DELETED && event.changes[0].entry.value == NULL);
    CHECK(strcmp(event.changes[0].entry.key, "w/1") == 0);
    sc_event_free(&event);
    CHECK_CODE(SC_OK, sc_close(watch));
    CHECK_CODE(SC_ERR_HANDLE, sc_watch_next(watch, 0, &event, &error));
}

static void observations(sc_group group) {
    sc_observation observation;
    sc_notification notification;
    uint64_t state = 42;
    CHECK_CODE(SC_OK, sc_observe(group, "calls", SC_NUL, &observation, &error));
    CHECK_CODE(SC_OK, sc_post(group, "calls", SC_NUL, &state, NULL, &error));
    CHECK_CODE(SC_OK, sc_observation_next(observation, SC_FOREVER, &notification, &error));
    CHECK(notification.state == 42 && notification.count == 1);
    CHECK_CODE(SC_NOTHING, sc_observation_next(observation, 0, &notification, &error));
    CHECK_CODE(SC_OK, sc_post(group, "calls", SC_NUL, NULL, NULL, &error));
    CHECK_CODE(SC_OK, sc_observation_next(observation, 10000, &notification, &error));
    CHECK(notification.state == 42);
    CHECK_CODE(SC_OK, sc_close(observation));
}

static void mailboxes(sc_group group) {
    sc_mailbox mailbox;
    sc_delivery delivery;
    sc_bytes bytes;
    int32_t acknowledged = -1;
    CHECK_CODE(SC_OK, sc_mailbox_open(group, "outbox", 2, SC_REFUSE, &mailbox, &error));
    CHECK_CODE(SC_NOTHING, sc_take(mailbox, 0, &delivery, &bytes, &error));
    CHECK_CODE(SC_NOTHING, sc_take(mailbox, 30, &delivery, &bytes, &error));
    CHECK_CODE(SC_OK, sc_send(mailbox, text("hello"), 5, NULL, &error));
    CHECK_CODE(SC_OK, sc_send(mailbox, NULL, 0, NULL, &error));
    CHECK_CODE(SC_ERR_LIMIT_EXCEEDED, sc_send(mailbox, NULL, 0, NULL, &error));
    CHECK_CODE(SC_OK, sc_take(mailbox, 0, &delivery, &bytes, &error));
    CHECK(bytes.count == 5 && memcmp(bytes.bytes, "hello", 5) == 0);
    sc_bytes_free(&bytes);
    CHECK_CODE(SC_OK, sc_give_back(delivery, &error));
    CHECK_CODE(SC_ERR_HANDLE, sc_acknowledge(delivery, &acknowledged, &error));
    for (int count = 0; count < 2; count++) {
        CHECK_CODE(SC_OK, sc_take(mailbox, SC_FOREVER, &delivery, &bytes, &error));
        sc_bytes_free(&bytes);
        CHECK_CODE(SC_OK, sc_acknowledge(delivery, &acknowledged, &error));
        CHECK(acknowledged == 1);
    }
    CHECK_CODE(SC_OK, sc_close(mailbox));
}

// No input ends the program.
static void wrong_input(sc_group group) {
    static char endless[1 << 16];
    memset(endless, 'x', sizeof endless - 1);
    const uint64_t handles[] = {0, 1, UINT64_MAX, group + 1, group ^ (UINT64_C(1) << 40), UINT64_C(1) << 63};
    sc_entry entry;
    sc_event event;
    sc_bytes bytes;
    sc_list_result list;
    sc_notification notification;
    sc_participant_event participant_event;
    uint64_t number;
    int32_t descriptor;
    for (size_t index = 0; index < sizeof handles / sizeof *handles; index++) {
        uint64_t handle = handles[index];
        CHECK_CODE(SC_ERR_HANDLE, sc_get(handle, "a", SC_NUL, &entry, &error));
        CHECK_CODE(SC_ERR_HANDLE, sc_put(handle, "a", SC_NUL, NULL, 0, NULL, &error));
        CHECK_CODE(SC_ERR_HANDLE, sc_watch_next(handle, SC_FOREVER, &event, &error));
        CHECK_CODE(SC_ERR_HANDLE, sc_observation_next(handle, SC_FOREVER, &notification, &error));
        CHECK_CODE(SC_ERR_HANDLE, sc_take(handle, SC_FOREVER, &number, &bytes, &error));
        CHECK_CODE(SC_ERR_HANDLE, sc_acknowledge(handle, NULL, &error));
        CHECK_CODE(SC_ERR_HANDLE, sc_descriptor(handle, &descriptor, &error));
        CHECK_CODE(SC_ERR_HANDLE, sc_participant_next(handle, SC_FOREVER, &participant_event, &error));
        CHECK_CODE(SC_ERR_HANDLE, sc_core_started(handle, &error));
        CHECK_CODE(SC_ERR_HANDLE, sc_taken_acknowledge(handle, NULL, &error));
        CHECK_CODE(handle ? SC_ERR_HANDLE : SC_OK, sc_close(handle));
    }
    // A handle of another kind.
    CHECK_CODE(SC_ERR_HANDLE, sc_watch_next(group, 0, &event, &error));
    CHECK_CODE(SC_ERR_HANDLE, sc_descriptor(group, &descriptor, &error));
    CHECK_CODE(SC_ERR_HANDLE, sc_executor_ask(group, "id", NULL, 0, NULL, &error));
    // NULL, with and without a place for the error.
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_open(NULL, &number, &error));
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_open(NULL, NULL, NULL));
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_get(group, NULL, SC_NUL, &entry, NULL));
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_get(group, "a", SC_NUL, NULL, NULL));
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_list(group, NULL, 0, &list, NULL));
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_put(group, "a", SC_NUL, NULL, 1, NULL, NULL));
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_commit(group, NULL, 1, NULL, 0, 0, NULL, NULL));
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_session(group, NULL, &error));
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_mailbox_open(group, NULL, 0, SC_REFUSE, &number, &error));
    // Lengths.
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_get(group, "a", SC_NUL - 1, &entry, &error));
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_get(group, "a", 0, &entry, &error));
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_get(group, endless, SC_NUL, &entry, &error));
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_get(group, endless, 513, &entry, &error));
    CHECK_CODE(SC_ERR_LIMIT_EXCEEDED, sc_put(group, "a", SC_NUL, text("x"), SIZE_MAX, NULL, &error));
    CHECK_CODE(SC_ERR_LIMIT_EXCEEDED, sc_put(group, "a", SC_NUL, text("x"), SIZE_MAX / 2, NULL, &error));
    sc_guard guard = {.key = "a", .key_count = SC_NUL, .kind = 99};
    CHECK_CODE(SC_ERR_LIMIT_EXCEEDED, sc_commit(group, &guard, SIZE_MAX, NULL, 0, 0, NULL, &error));
    // What is not UTF-8.
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_get(group, "\xff\xfe", SC_NUL, &entry, &error));
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_get(group, "\xc3", 1, &entry, &error));
    // Numbers that mean nothing.
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_commit(group, &guard, 1, NULL, 0, 0, NULL, &error));
    sc_operation operation = {.key = "a", .key_count = SC_NUL, .kind = -1};
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_commit(group, NULL, 0, &operation, 1, 0, NULL, &error));
    operation = (sc_operation){.key = "a", .key_count = SC_NUL, .kind = SC_PUT, .lifetime_kind = 9};
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_commit(group, NULL, 0, &operation, 1, 0, NULL, &error));
    operation = (sc_operation){
        .key = "a", .key_count = SC_NUL, .kind = SC_PUT, .lifetime_kind = SC_EXPIRING, .lifetime = INT64_MAX};
    CHECK_CODE(SC_OK, sc_commit(group, NULL, 0, &operation, 1, 0, NULL, &error));
    operation.lifetime = INT64_MIN;
    int code = sc_commit(group, NULL, 0, &operation, 1, 0, NULL, &error);
    CHECK(code == SC_OK || code == SC_ERR_INVALID_ARGUMENT);
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_watch_open(group, "", SC_NUL, 7, 0, &number, &error));
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_mailbox_open(group, "m", 0, 5, &number, &error));
    CHECK_CODE(SC_OK, sc_mailbox_open(group, "m", UINT64_MAX, SC_DROP_OLDEST, &number, &error));
    CHECK_CODE(SC_OK, sc_close(number));
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_main_start(group, NULL, &number, &error));
    sc_participant_options wrong = {0};
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_executor_open(group, &wrong, &number, &error));
    sc_options options = SC_OPTIONS_INIT;
    const char *const settings[] = {"none", NULL};
    const char *const directories[] = {NULL, "", "/", "///", "relative/path", "\xff", endless};
    for (size_t index = 0; index < sizeof directories / sizeof *directories; index++) {
        options.directory = directories[index];
        CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_open(&options, &number, &error));
    }
    options.directory = "/nowhere/there";
    options.backend = "none";
    CHECK_CODE(SC_ERR_UNSUPPORTED, sc_open(&options, &number, &error));
    options.backend = NULL;
    options.settings = settings;
    for (size_t count = 1; count <= 2; count++) {
        options.setting_count = count;
        CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_open(&options, &number, &error));
    }
    sc_entry_free(NULL);
    sc_list_free(NULL);
    sc_event_free(NULL);
    sc_bytes_free(NULL);
    sc_participant_event_free(NULL);
    CHECK(strcmp(sc_code_name(-1), "unknown") == 0 && strcmp(sc_code_name(SC_ERR_FORKED), "forked") == 0);
}

// The group that settings and variables describe is the one at the directory that they name.
static void configured(sc_group group, const char *directory) {
    sc_group other;
    sc_entry entry;
    char state_directory[4096], group_setting[4096], file[4096];
    const char *slash = strrchr(directory, '/');
    snprintf(state_directory, sizeof state_directory, "%.*s", (int)(slash - directory), directory);
    snprintf(group_setting, sizeof group_setting, "group=%s", slash + 1);
    CHECK(setenv("SHAREDCORE_CONFIG", "/dev/null", 1) == 0);
    CHECK(setenv("SHAREDCORE_STATE_DIRECTORY", state_directory, 1) == 0);
    CHECK(setenv("SHAREDCORE_GROUP", "another", 1) == 0);
    const char *settings[] = {group_setting, NULL};
    sc_options options = SC_OPTIONS_INIT;
    options.settings = settings;
    options.setting_count = 1;
    CHECK_CODE(SC_OK, sc_open_configured(&options, &other, &error));
    CHECK_CODE(SC_OK, sc_put(other, "configured", SC_NUL, text("x"), 1, NULL, &error));
    CHECK_CODE(SC_OK, sc_get(group, "configured", SC_NUL, &entry, &error));
    sc_entry_free(&entry);
    CHECK_CODE(SC_OK, sc_close(other));
    // Without the setting, the variable decides.
    options.setting_count = 0;
    CHECK_CODE(SC_OK, sc_open_configured(&options, &other, &error));
    CHECK_CODE(SC_NOTHING, sc_get(other, "configured", SC_NUL, &entry, &error));
    CHECK_CODE(SC_OK, sc_close(other));
    // What is wrong is refused at its place.
    options.setting_count = 1;
    settings[0] = "grop=x";
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_open_configured(&options, &other, &error));
    CHECK(strcmp(error.location, "values[\"grop\"]") == 0 && strstr(error.message, "group") != NULL);
    settings[0] = "group=";
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_open_configured(&options, &other, &error));
    settings[0] = group_setting;
    CHECK(setenv("SHAREDCORE_DURABILITY", "often", 1) == 0);
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_open_configured(&options, &other, &error));
    CHECK(strcmp(error.location, "SHAREDCORE_DURABILITY") == 0);
    CHECK(unsetenv("SHAREDCORE_DURABILITY") == 0);
    options.directory = directory;
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_open_configured(&options, &other, &error));
    options.directory = NULL;
    // The file comes after settings and variables, by its variable or by the option.
    snprintf(file, sizeof file, "%s/sharedcore.yaml", state_directory);
    FILE *written = fopen(file, "wx");
    CHECK(written != NULL && fprintf(written, "stateDirectory: /nowhere\ngroup: %s\n", slash + 1) > 0 && fclose(written) == 0);
    CHECK(setenv("SHAREDCORE_CONFIG", file, 1) == 0 && unsetenv("SHAREDCORE_GROUP") == 0);
    options.setting_count = 0;
    CHECK_CODE(SC_OK, sc_open_configured(&options, &other, &error));
    CHECK_CODE(SC_OK, sc_get(other, "configured", SC_NUL, &entry, &error));
    sc_entry_free(&entry);
    CHECK_CODE(SC_OK, sc_close(other));
    CHECK(setenv("SHAREDCORE_CONFIG", "/dev/null", 1) == 0);
    options.configuration_file = file;
    CHECK_CODE(SC_OK, sc_open_configured(&options, &other, &error));
    CHECK_CODE(SC_OK, sc_get(other, "configured", SC_NUL, &entry, &error));
    sc_entry_free(&entry);
    CHECK_CODE(SC_OK, sc_close(other));
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_open(&options, &other, &error));
    CHECK(chmod(file, 0666) == 0);
    CHECK_CODE(SC_ERR_FORBIDDEN, sc_open_configured(&options, &other, &error));
    CHECK(strcmp(error.location, file) == 0 && chmod(file, 0600) == 0);
    written = fopen(file, "w");
    CHECK(written != NULL && fputs("group: a\ngruop: b\n", written) > 0 && fclose(written) == 0);
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_open_configured(&options, &other, &error));
    CHECK(strncmp(error.location, file, strlen(file)) == 0 && strcmp(error.location + strlen(file), ":2:1") == 0);
    CHECK(remove(file) == 0);
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_open_configured(&options, &other, &error));
    CHECK(setenv("SHAREDCORE_CONFIG", "/dev/null", 1) == 0);
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    CHECK(sc_abi() == SC_ABI && strlen(sc_version()) > 0);
    sc_group group = open_group(arguments[1], NULL);
    uint64_t session;
    CHECK_CODE(SC_OK, sc_session(group, &session, &error));
    CHECK_CODE(SC_OK, sc_sync(group, &error));
    entries(group);
    transactions(group);
    watches(group);
    observations(group);
    mailboxes(group);
    wrong_input(group);
    configured(group, arguments[1]);
    // After the end.
    sc_watch watch;
    sc_event event;
    sc_entry entry;
    CHECK_CODE(SC_OK, sc_watch_open(group, "", 0, SC_FROM_NOW, 0, &watch, &error));
    CHECK_CODE(SC_OK, sc_close(group));
    CHECK_CODE(SC_ERR_HANDLE, sc_close(group));
    CHECK_CODE(SC_ERR_HANDLE, sc_get(group, "a", SC_NUL, &entry, &error));
    CHECK_CODE(SC_ENDED, sc_watch_next(watch, 10000, &event, &error));
    CHECK_CODE(SC_OK, sc_close(watch));
    // The slot is used again, and the former handle is not valid.
    sc_group next = open_group(arguments[1], NULL);
    CHECK(next != group);
    CHECK_CODE(SC_ERR_HANDLE, sc_get(group, "a", SC_NUL, &entry, &error));
    CHECK_CODE(SC_OK, sc_close(next));
    puts("group: fine");
    return 0;
}
