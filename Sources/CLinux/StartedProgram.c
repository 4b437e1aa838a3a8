#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

// posix_spawn suspends the thread that calls it until the child has become the program, and only the child's end or
// its exec ends that wait: a child that is stopped before its exec would hold the thread for as long as it is stopped, and
// its process number would be unknown. So the child is forked, and reports a failure through a pipe, which execve closes.
//
// The child has one thread, and other threads of the parent may have held locks at the time of the fork. So between fork
// and execve the child makes system calls alone: no allocation, no handlers of fork, no code in Swift. It makes
// them by syscall(), since the thread sanitizer replaces the functions of the C library by some that take locks.

/// Blocks signals. It knows also the two that the C library leaves out of its own sets.
static void set_blocked(uint64_t blocked, uint64_t *former) {
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &blocked, former, sizeof blocked);
}

static _Noreturn void fail(int report, const char *call, int number) {
    // Where the parent is gone, the write must not end the child by SIGPIPE in place of a status.
    set_blocked(~UINT64_C(0), NULL);
    struct clinux_start_failure failure = {.call = call, .number = number};
    syscall(SYS_write, report, &failure, sizeof failure);
    while (true) syscall(SYS_exit_group, number == ENOENT ? 127 : 126);
}

/// Takes over the streams, and closes all other descriptors: the locks that belong to them are the parent's.
static void take_streams(const int *streams, int count, int *report) {
    for (int number = 0; number < count; number++) {
        if (syscall(SYS_dup3, streams[number], number, 0) < 0) fail(*report, "dup3", errno);
    }
    if (*report != count) {
        if (syscall(SYS_dup3, *report, count, O_CLOEXEC) < 0) fail(*report, "dup3", errno);
        *report = count;
    }
    if (syscall(SYS_close_range, (unsigned)count + 1, ~0U, 0) < 0) fail(*report, "close_range", errno);
}

int clinux_start_program(
    const char *path, char *const *arguments, char *const *environment, const int *streams, int count,
    const char *directory, int options, int report) {
    pid_t parent = getpid();
    uint64_t ignored = options & CLINUX_KEEPS_STREAMS ? clinux_ignored_signals() : 0;
    // So that no handler of the parent runs in the child.
    uint64_t former;
    set_blocked(~UINT64_C(0), &former);
    pid_t process = _Fork();
    int error = errno;
    if (process != 0) {
        set_blocked(former, NULL);
        return process < 0 ? -error : process;
    }
    // First of all: from here on the child is gone when the parent is, also where it is stopped. Before, a child that is
    // stopped outlives a parent that is killed, and fails here when it is continued.
    if (options & CLINUX_ENDS_WITH_THREAD) {
        int tied = clinux_end_with_parent(parent);
        if (tied < 0) fail(report, "prctl", -tied);
    }
    if (!(options & CLINUX_KEEPS_STREAMS)) take_streams(streams, count, &report);
#ifdef FAIL_POINTS
    if (options & CLINUX_STOPS_BEFORE_EXEC) syscall(SYS_kill, (pid_t)syscall(SYS_getpid), SIGSTOP);
#endif
    if (options & CLINUX_OWN_SESSION && syscall(SYS_setsid) < 0) fail(report, "setsid", errno);
    if (directory != NULL && syscall(SYS_chdir, directory) < 0) fail(report, "chdir", errno);
    clinux_set_signals(ignored, 0);
    syscall(SYS_execve, path, arguments, environment);
    fail(report, "execve", errno);
}
