// The owner, the Main that waits, the sessions and the activities of a group; its timeline; and a reader that leaves no trace.

#include <ftw.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "participant.h"

static const char *directory;

static int64_t now(void) {
    struct timespec time;
    CHECK(clock_gettime(CLOCK_BOOTTIME, &time) == 0);
    return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static sc_group open_as(const char *role, const char *name, int32_t read_only) {
    sc_options options = SC_OPTIONS_INIT;
    sc_group group;
    options.directory = directory;
    options.role = role;
    options.name = name;
    options.read_only = read_only;
    CHECK_CODE(SC_OK, sc_open(&options, &group, &error));
    return group;
}

static uint64_t session_of(sc_group group) {
    uint64_t session;
    CHECK_CODE(SC_OK, sc_session(group, &session, &error));
    return session;
}

// The checks of a status that every reader makes.
static const sc_group_status *status_of(sc_group group) {
    const sc_group_status *status;
    CHECK_CODE(SC_OK, sc_status(group, &status, &error));
    CHECK(status->size == sizeof(sc_group_status) && status->revision > 0);
    for (size_t index = 0; index < status->session_count; index++) {
        const sc_session_info *session = status->sessions[index];
        CHECK(session->size == sizeof(sc_session_info) && session->process.pid == getpid());
        CHECK(session->process.start_time > 0 && strlen(session->process.boot_id) == 32);
        CHECK(session->since > now() - 600000 && session->since <= now());
        CHECK(index == 0 || session->session > status->sessions[index - 1]->session);
    }
    return status;
}

static const sc_session_info *find(const sc_group_status *status, uint64_t session) {
    for (size_t index = 0; index < status->session_count; index++) {
        if (status->sessions[index]->session == session) return status->sessions[index];
    }
    return NULL;
}

// An Executor owns and is busy, so that a Main waits; then the Main owns. The reader sees each step.
static void owners(sc_group reader) {
    sc_group executor_group = open_as("executor", "push", 0), main_group = open_as("main", "chat", 0);
    sc_participant executor, main;
    sc_activity activity;
    sc_participant_event event;
    const sc_group_status *status = status_of(reader);
    CHECK(status->owner == NULL && status->asked == NULL && status->activity_count == 0);
    CHECK(find(status, session_of(executor_group)) != NULL && find(status, session_of(main_group)) != NULL);
    CHECK(strcmp(find(status, session_of(executor_group))->role, "executor") == 0);
    CHECK(strcmp(find(status, session_of(executor_group))->name, "push") == 0);
    size_t sessions = status->session_count;
    sc_status_free(&status);
    CHECK(status == NULL);
    sc_status_free(&status);

    CHECK_CODE(SC_OK, sc_executor_open(executor_group, NULL, &executor, &error));
    CHECK_CODE(SC_OK, sc_executor_ask(executor, "id", NULL, 60000, NULL, &error));
    CHECK_CODE(SC_OK, sc_participant_next(executor, 30000, &event, &error));
    CHECK(event.kind == SC_CORE_START);
    sc_core core = event.core;
    uint64_t epoch = event.epoch;
    sc_participant_event_free(&event);
    status = status_of(reader);
    CHECK(status->owner != NULL && status->owner->state == SC_OWNER_STARTING);
    sc_status_free(&status);
    CHECK_CODE(SC_OK, sc_core_started(core, &error));
    CHECK_CODE(SC_OK, sc_activity_begin(core, "sync", 60000, "nine", &activity, &error));
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_core_report(core, NULL, &error));
    CHECK_CODE(SC_OK, sc_core_report(core, "a letter has no sender", &error));
    CHECK_CODE(SC_OK, sc_main_start(main_group, NULL, &main, &error));
    for (int attempt = 0; ; attempt++) {
        status = status_of(reader);
        if (status->asked != NULL && status->owner != NULL && status->owner->state == SC_OWNER_RUNNING) break;
        sc_status_free(&status);
        CHECK(attempt < 3000);
        usleep(10000);
    }
    const sc_owner *owner = status->owner;
    CHECK(owner->size == sizeof(sc_owner) && owner->session == session_of(executor_group) && owner->epoch == epoch);
    CHECK(strcmp(owner->role, "executor") == 0 && strcmp(owner->name, "push") == 0);
    CHECK(owner->process.pid == getpid() && strlen(owner->process.boot_id) == 32 && owner->epoch <= status->revision);
    CHECK(owner->since > now() - 600000 && owner->since <= now());
    CHECK(status->asked->size == sizeof(sc_asked) && status->asked->session == session_of(main_group));
    CHECK(strcmp(status->asked->name, "chat") == 0 && status->asked->process.pid == getpid());
    CHECK(status->asked->since >= owner->since && status->asked->takes_over == 0 && status->asked->insists == 0);
    CHECK(status->activity_count == 1 && status->activities[0]->size == sizeof(sc_activity_info));
    CHECK(strcmp(status->activities[0]->kind, "sync") == 0 && strcmp(status->activities[0]->id, "nine") == 0);
    CHECK(status->activities[0]->begun >= owner->since && status->activities[0]->expected_end == -1);
    CHECK(status->activities[0]->latest_end == status->activities[0]->begun + 60000);
    CHECK(status->session_count == sessions);
    sc_status_free(&status);

    CHECK_CODE(SC_OK, sc_activity_end(activity, &error));
    do {
        CHECK_CODE(SC_OK, sc_participant_next(executor, 30000, &event, &error));
        if (event.kind != SC_CORE_STOP) sc_participant_event_free(&event);
    } while (event.kind != SC_CORE_STOP);
    CHECK(strcmp(event.reason, "handover") == 0 && strcmp(event.requester, "chat") == 0);
    sc_participant_event_free(&event);
    CHECK_CODE(SC_OK, sc_core_stopped(core, &error));
    core = next(main, SC_CORE_START);
    CHECK_CODE(SC_OK, sc_core_started(core, &error));
    next(main, SC_STARTED);
    status = status_of(reader);
    CHECK(status->owner != NULL && status->owner->session == session_of(main_group) && status->owner->epoch > epoch);
    CHECK(strcmp(status->owner->role, "main") == 0 && status->asked == NULL && status->activity_count == 0);
    sc_status_free(&status);
    CHECK_CODE(SC_OK, sc_close(executor));
    end_main(main, core);
    CHECK_CODE(SC_OK, sc_close(executor_group));
    CHECK_CODE(SC_OK, sc_close(main_group));
}

// Counts the entries of the timeline in pages of a size, and finds what the owners did.
static size_t timeline(sc_group reader, size_t limit) {
    size_t count = 0;
    uint64_t after = 0, first_epoch = 0, last = 0;
    int asked = 0, problem = 0, moved = 0, released = 0, replaced = 0;
    do {
        const sc_timeline_page *page;
        CHECK_CODE(SC_OK, sc_timeline(reader, after, limit, &page, &error));
        CHECK(page->size == sizeof(sc_timeline_page) && page->count > 0);
        CHECK(page->dropped_count == 0 && page->dropped_through == 0 && page->damaged_count == 0);
        CHECK(page->entries[0]->revision > last);
        for (size_t index = 0; index < page->count; index++) {
            const sc_timeline_entry *entry = page->entries[index];
            CHECK(entry->size == sizeof(sc_timeline_entry) && entry->revision > after && entry->revision >= last);
            CHECK(entry->process.pid == getpid() && strlen(entry->process.boot_id) == 32 && entry->sentence[0] != 0);
            CHECK(entry->at > now() - 600000 && entry->at <= now() && entry->session > 0);
            last = entry->revision;
            if (strcmp(entry->event, "acquired") == 0 && first_epoch == 0) {
                CHECK(entry->epoch == entry->revision && strcmp(entry->role, "executor") == 0);
                CHECK(strcmp(entry->name, "push") == 0 && entry->previous_end == NULL && entry->previous_epoch == 0);
                CHECK(strstr(entry->sentence, "owns the core now") != NULL);
                first_epoch = entry->epoch;
            } else if (strcmp(entry->event, "acquired") == 0) {
                CHECK(entry->previous_epoch == first_epoch && strcmp(entry->previous_end, "released") == 0);
                CHECK(strcmp(entry->role, "main") == 0);
                replaced++;
            } else if (strcmp(entry->event, "asked") == 0) {
                CHECK(entry->other == first_epoch && entry->epoch == 0 && entry->bound > 0);
                asked++;
            } else if (strcmp(entry->event, "problem") == 0) {
                CHECK(strcmp(entry->reason, "a letter has no sender") == 0 && entry->bound == -1);
                problem++;
            } else if (strcmp(entry->event, "stateChanged") == 0 && entry->epoch == first_epoch) {
                CHECK(entry->from == SC_OWNER_STARTING || entry->from == SC_OWNER_RUNNING);
                CHECK(entry->to == entry->from + 1);
                moved++;
            } else if (strcmp(entry->event, "released") == 0) {
                released++;
            }
        }
        count += page->count;
        after = page->next;
        CHECK(after == 0 || after == last);
        sc_timeline_page_free(&page);
        CHECK(page == NULL);
        sc_timeline_page_free(&page);
    } while (after != 0);
    CHECK(asked == 1 && problem == 1 && moved == 2 && released == 2 && replaced == 1);
    return count;
}

static uint64_t files_sum;

static int add(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)kind, (void)place;
    for (; *path; path++) files_sum = files_sum * 31 + (uint8_t)*path;
    files_sum = files_sum * 31 + (uint64_t)status->st_mtim.tv_sec;
    files_sum = files_sum * 31 + (uint64_t)status->st_mtim.tv_nsec;
    files_sum = files_sum * 31 + (uint64_t)status->st_size;
    return 0;
}

// The names, sizes and times of all files of the group.
static uint64_t files(void) {
    files_sum = 1;
    CHECK(nftw(directory, add, 16, FTW_PHYS) == 0);
    return files_sum;
}

// A reader has no session, and changes no file of a group; it makes none.
static void reads(void) {
    uint64_t session = 1, number, before = files();
    const sc_inbox_page *page;
    sc_group reader = open_as(NULL, "reader", 1);
    CHECK_CODE(SC_NOTHING, sc_session(reader, &session, &error));
    CHECK(session == 0);
    const sc_group_status *status = status_of(reader);
    CHECK(status->session_count == 0 && status->owner == NULL);
    sc_status_free(&status);
    timeline(reader, 3);
    CHECK_CODE(SC_OK, sc_inbox(reader, 0, 5, &page, &error));
    CHECK(page->count == 0);
    sc_inbox_page_free(&page);
    CHECK_CODE(SC_ERR_FORBIDDEN, sc_put(reader, "a", SC_NUL, NULL, 0, NULL, &error));
    CHECK_CODE(SC_OK, sc_close(reader));
    // No participant is one that only reads.
    reader = open_as("main", "reader", 1);
    CHECK_CODE(SC_ERR_FORBIDDEN, sc_main_start(reader, NULL, &number, &error));
    CHECK_CODE(SC_OK, sc_close(reader));
    reader = open_as("executor", "reader", 1);
    CHECK_CODE(SC_ERR_FORBIDDEN, sc_executor_open(reader, NULL, &number, &error));
    CHECK_CODE(SC_OK, sc_close(reader));
    CHECK(files() == before);

    char path[4096];
    sc_options options = SC_OPTIONS_INIT;
    snprintf(path, sizeof path, "%s-none", directory);
    options.directory = path;
    options.read_only = 1;
    CHECK_CODE(SC_ERR_UNAVAILABLE, sc_open(&options, &reader, &error));
    CHECK(access(path, F_OK) == -1);
}

// The same by the configuration.
static void configured(void) {
    char state_directory[4096], group_setting[4096];
    const char *slash = strrchr(directory, '/');
    uint64_t session, before = files();
    sc_group reader;
    snprintf(state_directory, sizeof state_directory, "stateDirectory=%.*s", (int)(slash - directory), directory);
    snprintf(group_setting, sizeof group_setting, "group=%s", slash + 1);
    const char *settings[] = {state_directory, group_setting};
    sc_options options = SC_OPTIONS_INIT;
    options.settings = settings;
    options.setting_count = 2;
    options.configuration_file = "/dev/null";
    options.read_only = 1;
    CHECK_CODE(SC_OK, sc_open_configured(&options, &reader, &error));
    CHECK_CODE(SC_NOTHING, sc_session(reader, &session, &error));
    timeline(reader, 100);
    CHECK_CODE(SC_OK, sc_close(reader));
    CHECK(files() == before);
}

int main(int count, char **arguments) {
    const sc_timeline_page *page;
    CHECK(count == 2);
    directory = arguments[1];
    sc_group group = open_as(NULL, "tool", 0);
    sc_group reader = open_as(NULL, "reader", 1);
    CHECK_CODE(SC_OK, sc_timeline(reader, 0, 5, &page, &error));
    CHECK(page->count == 0 && page->next == 0);
    sc_timeline_page_free(&page);
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_timeline(reader, 0, 0, &page, &error));
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_timeline(reader, 0, (size_t)INT64_MAX + 1, &page, &error));
    CHECK(strstr(error.message, "not 9223372036854775808") != NULL);
    CHECK(page == NULL);
    owners(reader);
    CHECK(timeline(reader, 1) == timeline(reader, 1000));
    CHECK(timeline(group, 4) == timeline(reader, 1000));
    CHECK_CODE(SC_OK, sc_close(reader));
    CHECK_CODE(SC_ERR_HANDLE, sc_status(reader, (const sc_group_status **)&page, &error));
    CHECK_CODE(SC_OK, sc_close(group));
    reads();
    configured();
    puts("status: fine");
    return 0;
}
