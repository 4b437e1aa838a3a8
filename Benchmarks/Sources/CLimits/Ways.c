#define _GNU_SOURCE
#include "CLimits.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/// The two directions. What is sent lies in the page; what wakes is beside it.
struct direction {
    _Atomic uint32_t turn;
    _Atomic uint64_t value;
};

static struct direction *outgoing, *incoming;
static uint32_t heard;
static int bell, events;

void *limits_page(const char *directory, const char *name) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, 4096) < 0) measuring_fail(path, errno);
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (page == MAP_FAILED) measuring_fail(path, errno);
    close(file);
    return page;
}

static void open_ways(const char *directory, int is_echo) {
    struct direction *page = limits_page(directory, "ways");
    outgoing = is_echo ? page + 1 : page;
    incoming = is_echo ? page : page + 1;
}

// MARK: - inotify

static int open_bell(const char *directory, const char *name) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) measuring_fail(path, errno);
    return file;
}

static void open_bells(const char *directory, int is_echo) {
    char path[PATH_MAX];
    open_ways(directory, is_echo);
    bell = open_bell(directory, is_echo ? "back" : "there");
    snprintf(path, sizeof path, "%s/%s", directory, is_echo ? "there" : "back");
    close(open_bell(directory, is_echo ? "there" : "back"));
    events = inotify_init1(IN_CLOEXEC);
    if (events < 0 || inotify_add_watch(events, path, IN_MODIFY) < 0) measuring_fail("inotify", errno);
}

static void ring(uint64_t value) {
    char byte = 0;
    atomic_store(&outgoing->value, value);
    atomic_fetch_add(&outgoing->turn, 1);
    if (pwrite(bell, &byte, 1, 0) != 1) measuring_fail("pwrite", errno);
}

static uint64_t hear(void) {
    char buffer[4096];
    // A bell may ring for what was taken before.
    while (atomic_load(&incoming->turn) == heard) {
        if (read(events, buffer, sizeof buffer) <= 0) measuring_fail("read", errno);
    }
    heard++;
    return atomic_load(&incoming->value);
}

static const struct measuring_way bells = {ring, hear};

static int take_bells(const char *word, int count, double *samples) {
    (void)word;
    measuring_ping(&bells, count, samples);
    return 1;
}

int limits_inotify(char *own, const char *directory) {
    char *arguments[] = {own, "inotify-echo", (char *)directory, NULL};
    open_bells(directory, 0);
    measuring_start(arguments, NULL);
    return measuring_serve(take_bells);
}

int limits_inotify_echo(const char *directory) {
    measuring_end_with_parent();
    open_bells(directory, 1);
    measuring_echo(&bells);
}

// MARK: - futex

static void wake(uint64_t value) {
    atomic_store(&outgoing->value, value);
    atomic_fetch_add(&outgoing->turn, 1);
    syscall(SYS_futex, &outgoing->turn, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static uint64_t sleep_at_word(void) {
    while (atomic_load(&incoming->turn) == heard) {
        syscall(SYS_futex, &incoming->turn, FUTEX_WAIT, heard, NULL, NULL, 0);
    }
    heard++;
    return atomic_load(&incoming->value);
}

static const struct measuring_way words = {wake, sleep_at_word};

static int take_words(const char *word, int count, double *samples) {
    (void)word;
    measuring_ping(&words, count, samples);
    return 1;
}

int limits_futex(char *own, const char *directory) {
    char *arguments[] = {own, "futex-echo", (char *)directory, NULL};
    open_ways(directory, 0);
    measuring_start(arguments, NULL);
    return measuring_serve(take_words);
}

int limits_futex_echo(const char *directory) {
    measuring_end_with_parent();
    open_ways(directory, 1);
    measuring_echo(&words);
}
