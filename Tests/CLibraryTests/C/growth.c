// Makes many calls and compares the process before and after: neither its memory nor its descriptors may grow with them.
//
//   growth GROUP CALLS [SETTING]...
//
// Without settings GROUP is the directory of a group in files. With settings, such as group=name and zmq.endpoint=..., it is unused, and the
// group is the one that they describe.

#include <dirent.h>
#include <malloc.h>
#include <unistd.h>

#include "check.h"

enum {
    // More than a warm allocator and the group's mapped files vary by, and less than the smallest block for each round of 10^6 calls.
    largest_growth = 2 << 20,
    // The number of wake channels of a group in files, which a process opens as it needs them.
    channels = 512,
    calls_of_round = 14
};

// The sanitizer keeps what is freed for a while. It finds by itself what is not.
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

static long resident(void) {
    long size, pages;
    // Otherwise the order of frees decides how much the allocator keeps.
    malloc_trim(0);
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file != NULL && fscanf(file, "%ld %ld", &size, &pages) == 2 && fclose(file) == 0);
    return pages * sysconf(_SC_PAGESIZE);
}

static long descriptors(void) {
    long count = 0;
    DIR *directory = opendir("/proc/self/fd");
    CHECK(directory != NULL);
    while (readdir(directory) != NULL) count++;
    CHECK(closedir(directory) == 0);
    return count;
}

// Makes so many calls, or a few more.
static void make_calls(sc_group group, long calls) {
    static const uint8_t value[200];
    sc_watch watch;
    sc_observation observation;
    sc_mailbox mailbox;
    CHECK_CODE(SC_OK, sc_watch_open(group, "g", SC_NUL, SC_FROM_NOW, 0, &watch, &error));
    CHECK_CODE(SC_OK, sc_observe(group, "bell", SC_NUL, &observation, &error));
    CHECK_CODE(SC_OK, sc_mailbox_open(group, "letters", 0, SC_REFUSE, &mailbox, &error));
    for (long made = 0; made < calls; made += calls_of_round) {
        char key[32];
        sc_entry entry;
        sc_list_result list;
        sc_event event;
        sc_notification notification;
        sc_watch other;
        sc_delivery delivery;
        sc_bytes bytes;
        uint64_t state = (uint64_t)made;
        snprintf(key, sizeof key, "g/%ld", made % 16);
        CHECK_CODE(SC_OK, sc_put(group, key, SC_NUL, value, sizeof value, NULL, &error));
        CHECK_CODE(SC_OK, sc_get(group, key, SC_NUL, &entry, &error));
        sc_entry_free(&entry);
        CHECK_CODE(SC_NOTHING, sc_get(group, "none", SC_NUL, &entry, &error));
        CHECK_CODE(SC_OK, sc_list(group, "g", SC_NUL, &list, &error));
        sc_list_free(&list);
        CHECK_CODE(SC_OK, sc_watch_next(watch, 10000, &event, &error));
        sc_event_free(&event);
        CHECK_CODE(SC_OK, sc_watch_open(group, "g", SC_NUL, SC_FROM_SNAPSHOT, 0, &other, &error));
        CHECK_CODE(SC_OK, sc_close(other));
        CHECK_CODE(SC_OK, sc_post(group, "bell", SC_NUL, &state, NULL, &error));
        CHECK_CODE(SC_OK, sc_observation_next(observation, 10000, &notification, &error));
        CHECK(notification.state == state && notification.count == 1);
        CHECK_CODE(SC_ERR_GUARD_FAILED, sc_commit(group, &(sc_guard){.key = key, .key_count = SC_NUL, .kind = SC_GUARD_ABSENT}, 1, NULL, 0,
            0, NULL, &error));
        CHECK_CODE(SC_OK, sc_send(mailbox, value, sizeof value, NULL, &error));
        CHECK_CODE(SC_OK, sc_take(mailbox, 0, &delivery, &bytes, &error));
        sc_bytes_free(&bytes);
        CHECK_CODE(SC_OK, sc_acknowledge(delivery, NULL, &error));
        CHECK_CODE(SC_ERR_HANDLE, sc_close(delivery));
    }
    CHECK_CODE(SC_OK, sc_close(watch));
    CHECK_CODE(SC_OK, sc_close(observation));
    CHECK_CODE(SC_OK, sc_close(mailbox));
}

static sc_group open_configured(const char *const *settings, size_t count) {
    sc_options options = SC_OPTIONS_INIT;
    sc_group group;
    options.settings = settings;
    options.setting_count = count;
    options.configuration_file = "/dev/null";
    CHECK_CODE(SC_OK, sc_open_configured(&options, &group, &error));
    return group;
}

int main(int count, char **arguments) {
    CHECK(count >= 3);
    long calls = atol(arguments[2]);
    CHECK(calls > 0);
    sc_group group =
        count > 3 ? open_configured((const char *const *)arguments + 3, (size_t)count - 3) : open_group(arguments[1], NULL);
    // The first tenth fills caches, and lets the group reach the size that it keeps.
    make_calls(group, calls / 10);
    long memory = resident(), open = descriptors();
    make_calls(group, calls);
    long after = resident();
    printf("growth: %ld calls%s, resident %ld then %ld KiB, descriptors %ld then %ld\n", calls, count > 3 ? " through a hub" : "",
        memory >> 10, after >> 10, open, descriptors());
    CHECK(SANITIZED || after - memory < largest_growth);
    CHECK(descriptors() <= open + channels);
    CHECK_CODE(SC_OK, sc_close(group));
    return 0;
}
