#define _GNU_SOURCE
#include "CLimits.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/// What a commit of 256 bytes takes in the journal, about.
enum { record_size = 300, page_size = 4096, growth = 256 << 10, longest = 32 << 20, value_size = 256 };

static int file, bell, is_on_disk;
static _Atomic uint64_t *published;
static off_t reserved;

static int open_file(const char *directory, const char *name) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0) measuring_fail(path, errno);
    return descriptor;
}

static void lock(short type) {
    struct flock range = {.l_type = type, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
    if (fcntl(file, F_OFD_SETLK, &range) < 0) measuring_fail("F_OFD_SETLK", errno);
}

static void put(void) {
    static char record[record_size];
    lock(F_WRLCK);
    uint64_t tail = atomic_load(published);
    if (tail + record_size > longest) tail = page_size;
    if ((off_t)tail + record_size > reserved) {
        int error = posix_fallocate(file, reserved, growth);
        if (error != 0) measuring_fail("posix_fallocate", error);
        reserved += growth;
    }
    memset(record, (int)tail, sizeof record);
    if (pwrite(file, record, record_size, (off_t)tail) != record_size) measuring_fail("pwrite", errno);
    uint64_t expected = atomic_load(published);
    if (!atomic_compare_exchange_strong(published, &expected, tail + record_size)) measuring_fail("publish", EBUSY);
    lock(F_UNLCK);
    if (pwrite(bell, record, 1, 0) != 1) measuring_fail("pwrite", errno);
    if (is_on_disk && fdatasync(file) < 0) measuring_fail("fdatasync", errno);
}

static int take_puts(const char *word, int count, double *samples) {
    if (strcmp(word, "put") != 0) return 0;
    for (int index = 0; index < count; index++) {
        uint64_t begin = measuring_now();
        put();
        samples[index] = (double)(measuring_now() - begin);
    }
    return 1;
}

int limits_journal(const char *directory, const char *durability) {
    is_on_disk = strcmp(durability, "disk") == 0;
    file = open_file(directory, "journal");
    bell = open_file(directory, "bell");
    int error = posix_fallocate(file, 0, growth);
    if (error != 0) measuring_fail("posix_fallocate", error);
    reserved = growth;
    published = mmap(NULL, page_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (published == MAP_FAILED) measuring_fail("mmap", errno);
    atomic_store(published, page_size);
    return measuring_serve(take_puts);
}

// MARK: - Looking

/// How many looks are one sample: one alone takes less time than reading the clock.
enum { looks = 100 };

static const char *value;

static int take_looks(const char *word, int count, double *samples) {
    static volatile char sink;
    char copy[value_size];
    if (strcmp(word, "get") != 0) return 0;
    for (int index = 0; index < count; index++) {
        uint64_t begin = measuring_now();
        for (int look = 0; look < looks; look++) {
            if (atomic_load(published) != page_size) measuring_fail("the tail", EINVAL);
            memcpy(copy, value, sizeof copy);
            sink = copy[look % value_size];
        }
        samples[index] = (double)(measuring_now() - begin) / looks;
    }
    (void)sink;
    return 1;
}

int limits_look(const char *directory) {
    published = limits_page(directory, "look");
    value = (const char *)published + 1024;
    atomic_store(published, page_size);
    return measuring_serve(take_looks);
}
