// Prints each change of a group, in one loop that polls the watch's descriptor and standard input, until standard input ends.
//
//   observer PREFIX     in the group that the environment describes
//
// A line has the kind of the change, its revision and the key. The first one is "ready".

#include <poll.h>
#include <unistd.h>

#include "check.h"

static void print(const sc_event *event) {
    static const char *const kinds[] = {"present", "put", "deleted", "expired", "sessionEnded"};
    if (event->kind == SC_EVENT_LAGGED) puts("lagged");
    for (size_t index = 0; index < event->count; index++) {
        const sc_change *change = &event->changes[index];
        CHECK(change->kind >= 0 && change->kind < (int)(sizeof kinds / sizeof *kinds));
        printf("%s %llu %.*s\n", kinds[change->kind], (unsigned long long)event->revision, (int)change->entry.key_count,
            change->entry.key);
    }
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    sc_options options = SC_OPTIONS_INIT;
    sc_group group;
    sc_watch watch;
    int32_t descriptor;
    options.name = "observer";
    CHECK_CODE(SC_OK, sc_open_configured(&options, &group, &error));
    CHECK_CODE(SC_OK, sc_watch_open(group, arguments[1], SC_NUL, SC_FROM_NOW, 0, &watch, &error));
    CHECK_CODE(SC_OK, sc_descriptor(watch, &descriptor, &error));
    puts("ready");
    fflush(stdout);
    struct pollfd polled[] = {{.fd = descriptor, .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
    while (polled[1].revents == 0) {
        CHECK(poll(polled, 2, -1) > 0);
        // At the end, all that was committed before is printed.
        if (polled[1].revents != 0) CHECK_CODE(SC_OK, sc_sync(group, &error));
        sc_event event;
        int32_t code;
        while ((code = sc_watch_next(watch, 0, &event, &error)) == SC_OK) {
            print(&event);
            sc_event_free(&event);
        }
        CHECK_CODE(SC_NOTHING, code);
        fflush(stdout);
    }
    CHECK_CODE(SC_OK, sc_close(watch));
    CHECK_CODE(SC_OK, sc_close(group));
    return 0;
}
