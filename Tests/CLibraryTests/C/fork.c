// After a fork: every call of the header returns SC_ERR_FORKED in the child, at once, and what frees or closes does nothing. The
// parent goes on. The session of a killed parent ends, although its child lives.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
// Written by forked_calls.py from the header.
#include "forked_calls.h"

static void child(sc_group group, sc_watch watch, sc_mailbox mailbox, const char *directory) {
    // A call that would wait for a thread that is not there is ended by this.
    alarm(20);
    sc_options options = SC_OPTIONS_INIT;
    options.directory = directory;
    uint64_t handle;
    sc_entry entry;
    sc_event event;
    sc_bytes bytes;
    sc_list_result list;
    CHECK_CODE(SC_ERR_FORKED, sc_get(group, "a", SC_NUL, &entry, &error));
    CHECK_CODE(SC_ERR_FORKED, sc_put(group, "a", SC_NUL, NULL, 0, NULL, &error));
    CHECK_CODE(SC_ERR_FORKED, sc_list(group, "", 0, &list, &error));
    CHECK_CODE(SC_ERR_FORKED, sc_watch_next(watch, SC_FOREVER, &event, &error));
    CHECK_CODE(SC_ERR_FORKED, sc_take(mailbox, SC_FOREVER, &handle, &bytes, &error));
    CHECK_CODE(SC_ERR_FORKED, sc_open(&options, &handle, &error));
    CHECK_CODE(SC_ERR_FORKED, sc_close(group));
    CHECK_CODE(SC_ERR_FORKED, sc_close(watch));
    CHECK(strlen(error.message) > 0);
    make_forked_calls(group);
    make_forked_calls(0);
    // A child of the child, too.
    pid_t grandchild = fork();
    if (grandchild == 0) _exit(sc_close(group) == SC_ERR_FORKED ? 0 : 1);
    int status;
    CHECK(waitpid(grandchild, &status, 0) == grandchild && status == 0);
    _exit(0);
}

// In a process that has not used the library: another one is killed that has, while a child of it lives on.
static void outlived(const char *directory) {
    int ends[2];
    pid_t child;
    CHECK(pipe(ends) == 0);
    pid_t parent = fork();
    if (parent == 0) {
        sc_group group = open_group(directory, NULL);
        sc_operation operation = {.key = "s", .key_count = SC_NUL, .kind = SC_PUT, .lifetime_kind = SC_SESSION};
        CHECK_CODE(SC_OK, sc_commit(group, NULL, 0, &operation, 1, 0, NULL, &error));
        child = fork();
        if (child != 0) CHECK(write(ends[1], &child, sizeof child) == sizeof child);
        for (;;) pause();
    }
    CHECK(read(ends[0], &child, sizeof child) == sizeof child);
    pid_t observer = fork();
    if (observer == 0) {
        sc_group group = open_group(directory, NULL);
        sc_watch watch;
        sc_event event;
        CHECK_CODE(SC_OK, sc_watch_open(group, "s", SC_NUL, SC_FROM_SNAPSHOT, 0, &watch, &error));
        CHECK_CODE(SC_OK, sc_watch_next(watch, 30000, &event, &error));
        CHECK(event.count == 1);
        sc_event_free(&event);
        CHECK(kill(parent, SIGKILL) == 0);
        // Although the child keeps its files open (contract L3).
        CHECK_CODE(SC_OK, sc_watch_next(watch, 5000, &event, &error));
        CHECK(event.count == 1 && event.changes[0].kind == SC_CHANGE_SESSION_ENDED);
        sc_event_free(&event);
        CHECK_CODE(SC_OK, sc_close(group));
        _exit(0);
    }
    int status;
    CHECK(waitpid(observer, &status, 0) == observer);
    kill(parent, SIGKILL);
    CHECK(waitpid(parent, NULL, 0) == parent);
    CHECK(kill(child, SIGKILL) == 0);
    CHECK(status == 0);
}

// In a process that has not used the library: the calls in a child that is forked while the threads of the library begin their
// work. Each of them then may hold a lock that nothing frees in the child.
static void forked(const char *directory) {
    sc_group group = open_group(directory, NULL);
    sc_watch watch;
    sc_mailbox mailbox;
    sc_entry entry;
    CHECK_CODE(SC_OK, sc_watch_open(group, "", 0, SC_FROM_NOW, 0, &watch, &error));
    CHECK_CODE(SC_OK, sc_mailbox_open(group, "m", 0, SC_REFUSE, &mailbox, &error));
    pid_t process = fork();
    if (process == 0) child(group, watch, mailbox, directory);
    int status;
    CHECK(waitpid(process, &status, 0) == process && status == 0);
    CHECK_CODE(SC_OK, sc_put(group, "a", SC_NUL, NULL, 0, NULL, &error));
    CHECK_CODE(SC_OK, sc_get(group, "a", SC_NUL, &entry, &error));
    sc_entry_free(&entry);
    CHECK_CODE(SC_OK, sc_close(watch));
    CHECK_CODE(SC_OK, sc_close(mailbox));
    CHECK_CODE(SC_OK, sc_close(group));
    _exit(0);
}

enum { rounds = 20 };

int main(int count, char **arguments) {
    CHECK(count == 2);
    outlived(arguments[1]);
    // This process does not use the library, so that a child of it may.
    for (int round = 0; round < rounds; round++) {
        pid_t process = fork();
        if (process == 0) forked(arguments[1]);
        int status;
        CHECK(waitpid(process, &status, 0) == process && status == 0);
    }
    printf("fork: fine, %d calls in each of %d children\n", forked_call_count, rounds);
    return 0;
}
