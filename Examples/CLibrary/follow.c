#include <poll.h>
#include <stdio.h>

#include "sharedcore.h"

int main(int count, char **arguments) {
    sc_error error;
    sc_options options = SC_OPTIONS_INIT;
    sc_group group;
    sc_watch watch;
    int32_t descriptor;
    options.directory = count > 1 ? arguments[1] : "/tmp/sharedcore-first";
    if (sc_open(&options, &group, &error) != SC_OK) goto failed;
    if (sc_watch_open(group, "greetings", SC_NUL, SC_FROM_NOW, 0, &watch, &error) != SC_OK) goto failed;
    if (sc_put(group, "greetings/c", SC_NUL, (const uint8_t *)"hello", 5, NULL, &error) != SC_OK) goto failed;

    // Any loop can wait for the descriptor; sc_watch_next never waits with a timeout of 0.
    if (sc_descriptor(watch, &descriptor, &error) != SC_OK) goto failed;
    struct pollfd poll_entry = {.fd = descriptor, .events = POLLIN};
    poll(&poll_entry, 1, 5000);
    sc_event event;
    if (sc_watch_next(watch, 0, &event, &error) != SC_OK) goto failed;
    const sc_entry *entry = &event.changes[0].entry;
    printf("%s: %.*s\n", entry->key, (int)entry->value_count, (const char *)entry->value);
    sc_event_free(&event);
    sc_close(watch);
    sc_close(group);
    return 0;

failed:
    fprintf(stderr, "%s: %s [%s]\n", sc_code_name(error.code), error.message, error.location);
    return 1;
}
