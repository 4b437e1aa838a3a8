#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

// posix_spawn suspends the calling thread until the child's exec or its end. A child that is stopped before its exec would
// block the thread for as long as it is stopped, and its process number would be unknown. So the child is forked, and
// reports a failure through a pipe, which execve closes.
//
// The price is a copy of the page tables. On two cores the median start took 1.8 ms in a process with 20 MiB of
// touched memory and 12 ms with 300 MiB (posix_spawn: 0.24 and 0.26 ms). After it, the first write to each page took
// 0.7 us more. A start is rare, and its program takes longer to begin. A child that shares the memory (CLONE_VM) without a
// wait would cost as little as posix_spawn, but needs a stack and arguments that stay valid while it is stopped.
//
// The child has one thread, and other threads of the parent may have held locks at the time of the fork. So between fork
// and execve the child makes system calls alone: no allocation, no handlers of fork, no code in Swift. It makes
// them by syscall(), since the thread sanitizer replaces the functions of the C library by some that take locks.

/// Blocks signals, also the two that the C library leaves out of its own sets.
static void set_blocked(uint64_t blocked, uint64_t *former) {
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &blocked, former, sizeof blocked);
}

static _Noreturn void fail(int report, const char *call, int number) {
    // If the parent has ended, the write must not end the child by SIGPIPE in place of a status.
    set_blocked(~UINT64_C(0), NULL);
    struct clinux_start_failure failure = {.call = call, .number = number};
    syscall(SYS_write, report, &failure, sizeof failure);
    while (true) syscall(SYS_exit_group, number == ENOENT ? 127 : 126);
}

/// Closes the descriptors from a number on one by one, as `/proc` lists them. Returns a negated error number.
static int close_listed(int first) {
    struct entry {
        uint64_t number;
        int64_t offset;
        unsigned short length;
        unsigned char kind;
        char name[];
    };
    int directory = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (directory < 0) return -errno;
    // The listing is ordered by number, so that closing a descriptor hides none that follows.
    _Alignas(struct entry) char buffer[4096];
    while (true) {
        long count = syscall(SYS_getdents64, directory, buffer, sizeof buffer);
        if (count < 0) return -errno;
        if (count == 0) break;
        for (long place = 0; place < count;) {
            struct entry *entry = (struct entry *)(buffer + place);
            place += entry->length;
            int number = 0;
            const char *digit = entry->name;
            while (*digit >= '0' && *digit <= '9') number = number * 10 + (*digit++ - '0');
            if (digit > entry->name && number >= first && number != directory) syscall(SYS_close, number);
        }
    }
    syscall(SYS_close, directory);
    return 0;
}

/// Closes all descriptors from a number on. Returns a negated error number.
static int close_from(int first, int options) {
    bool lacks_call = options & CLINUX_LACKS_CLOSE_RANGE;
    if (!lacks_call && syscall(SYS_close_range, (unsigned)first, ~0U, 0) == 0) return 0;
    int error = lacks_call ? ENOSYS : errno;
    // Linux before 5.9 does not have this call, and the filter of a container may refuse a call that it does not know.
    return (error == ENOSYS || error == EPERM) && close_listed(first) == 0 ? 0 : -error;
}

/// Takes over the streams, and closes all other descriptors: the locks that belong to them are the parent's.
static void take_streams(const int *streams, int count, int options, int *report) {
    for (int number = 0; number < count; number++) {
        if (syscall(SYS_dup3, streams[number], number, 0) < 0) fail(*report, "dup3", errno);
    }
    if (*report != count) {
        if (syscall(SYS_dup3, *report, count, O_CLOEXEC) < 0) fail(*report, "dup3", errno);
        *report = count;
    }
    int closed = close_from(count + 1, options);
    if (closed < 0) fail(*report, "close_range", -closed);
}

/// Forks, and opens the child in the same call: where the parent ignores SIGCHLD, the kernel reaps a child at its end, and
/// no later call could open it.
static pid_t fork_with_handle(int *handle) {
    // The third argument is the place for the descriptor, as the system call has it on x86-64 and on arm64.
    // clone3() is not used: the filters of containers refuse it.
    return (pid_t)syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, NULL, handle, NULL, NULL);
}

int clinux_start_program(
    const char *path, char *const *arguments, char *const *environment, const int *streams, int count,
    const char *directory, int options, int report, int *handle) {
    pid_t parent = getpid();
    uint64_t ignored = options & CLINUX_KEEPS_STREAMS ? clinux_ignored_signals() : 0;
    // Blocked, so that no handler of the parent runs in the child.
    uint64_t former;
    set_blocked(~UINT64_C(0), &former);
    pid_t process = fork_with_handle(handle);
    int error = errno;
    if (process != 0) {
        set_blocked(former, NULL);
        return process < 0 ? -error : process;
    }
    // This must be the child's first call: from here on the child ends with the parent, also while it is stopped. A
    // child that is stopped before this call outlives a killed parent, and fails here when it is continued.
    if (options & CLINUX_ENDS_WITH_THREAD) {
        int tied = clinux_end_with_parent(parent);
        if (tied < 0) fail(report, "prctl", -tied);
    }
    if (options & CLINUX_KEEPS_STREAMS) {
        for (int index = 0; index < count; index++) {
            if (syscall(SYS_fcntl, streams[index], F_SETFD, 0) < 0) fail(report, "fcntl", errno);
        }
    } else {
        take_streams(streams, count, options, &report);
    }
#ifdef FAIL_POINTS
    if (options & CLINUX_STOPS_BEFORE_EXEC) syscall(SYS_kill, (pid_t)syscall(SYS_getpid), SIGSTOP);
#endif
    if (options & CLINUX_OWN_SESSION && syscall(SYS_setsid) < 0) fail(report, "setsid", errno);
    if (directory != NULL && syscall(SYS_chdir, directory) < 0) fail(report, "chdir", errno);
    clinux_set_signals(ignored, 0);
    syscall(SYS_execve, path, arguments, environment);
    fail(report, "execve", errno);
}
