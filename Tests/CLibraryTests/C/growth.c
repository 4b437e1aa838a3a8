// Makes many calls and compares the process before and after: neither its memory nor its descriptors may grow with them.
//
//   growth GROUP CALLS

#include <dirent.h>
#include <unistd.h>

#include "check.h"

enum {
    // More than a warm allocator and the group's mapped files vary by, and less than the smallest block for each 11 of 10^6 calls.
    largest_growth = 2 << 20,
    // The number of wake channels of a group in files, which a process opens as it needs them.
    channels = 512
};

static long resident(void) {
    long size, pages;
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
    sc_mailbox mailbox;
    CHECK_CODE(SC_OK, sc_watch_open(group, "g", SC_NUL, SC_FROM_NOW, 0, &watch, &error));
    CHECK_CODE(SC_OK, sc_mailbox_open(group, "letters", 0, SC_REFUSE, &mailbox, &error));
    for (long made = 0; made < calls; made += 11) {
        char key[32];
        sc_entry entry;
        sc_list_result list;
        sc_event event;
        sc_watch other;
        sc_delivery delivery;
        sc_bytes bytes;
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
        CHECK_CODE(SC_OK, sc_send(mailbox, value, sizeof value, NULL, &error));
        CHECK_CODE(SC_OK, sc_take(mailbox, 0, &delivery, &bytes, &error));
        sc_bytes_free(&bytes);
        CHECK_CODE(SC_OK, sc_acknowledge(delivery, NULL, &error));
        CHECK_CODE(SC_ERR_HANDLE, sc_close(delivery));
    }
    CHECK_CODE(SC_OK, sc_close(watch));
    CHECK_CODE(SC_OK, sc_close(mailbox));
}

int main(int count, char **arguments) {
    CHECK(count == 3);
    long calls = atol(arguments[2]);
    CHECK(calls > 0);
    sc_group group = open_group(arguments[1], NULL);
    // The first tenth fills caches, and lets the group reach the size that it keeps.
    make_calls(group, calls / 10);
    long memory = resident(), open = descriptors();
    make_calls(group, calls);
    printf("growth: %ld calls, resident %ld then %ld KiB, descriptors %ld then %ld\n", calls, memory >> 10, resident() >> 10,
        open, descriptors());
    CHECK(resident() - memory < largest_growth);
    CHECK(descriptors() <= open + channels);
    CHECK_CODE(SC_OK, sc_close(group));
    return 0;
}
