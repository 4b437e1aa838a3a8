#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

// The C library reserves two signals (32 and 33): its functions neither report nor change their actions. So these functions
// call the kernel.

/// The kernel's form of an action. Only the handler is read or set here.
struct kernel_action {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

static uint64_t started_ignored, started_blocked;

uint64_t clinux_ignored_signals(void) {
    uint64_t ignored = 0;
    for (int signal = 1; signal <= CLINUX_SIGNAL_COUNT; signal++) {
        struct kernel_action action = {0};
        if (syscall(SYS_rt_sigaction, signal, NULL, &action, sizeof action.mask) == 0 && action.handler == SIG_IGN) {
            ignored |= UINT64_C(1) << (signal - 1);
        }
    }
    return ignored;
}

/// Records the signals with which this process was started, before other code changes them.
__attribute__((constructor)) static void note_signals(void) {
    started_ignored = clinux_ignored_signals();
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &started_blocked, sizeof started_blocked);
}

void clinux_started_signals(uint64_t *ignored, uint64_t *blocked) {
    *ignored = started_ignored;
    *blocked = started_blocked;
}

void clinux_set_signals(uint64_t ignored, uint64_t blocked) {
    for (int signal = 1; signal <= CLINUX_SIGNAL_COUNT; signal++) {
        struct kernel_action action = {0};
        action.handler = ignored >> (signal - 1) & 1 ? SIG_IGN : SIG_DFL;
        // Two cannot be changed, SIGKILL and SIGSTOP.
        syscall(SYS_rt_sigaction, signal, &action, NULL, sizeof action.mask);
    }
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &blocked, NULL, sizeof blocked);
}

int clinux_end_with_parent(pid_t parent) {
    // By syscall(), because a child calls this between fork and execve (StartedProgram.c).
    if (syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0) return -errno;
    // The kernel does not signal the end of a parent that ended before that call.
    return syscall(SYS_getppid) == parent ? 0 : -ESRCH;
}

int clinux_become(const char *name, char *const *arguments, char *const *environment) {
    execvpe(name, arguments, environment);
    return -errno;
}

static bool ignores_signal(int signal) {
    struct sigaction action;
    return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

// The descriptor of each signal that is reported.
static volatile int report_descriptors[CLINUX_SIGNAL_COUNT + 1];

static void report(int signal, siginfo_t *information, void *context) {
    (void)context;
    int saved = errno;
    // The terminal's signals come from the kernel, and go to all processes of the foreground. The exception is SIGHUP of a
    // terminal that has gone, which only the leader of the session gets.
    bool is_alone = signal == SIGHUP && getsid(0) == getpid();
    unsigned char note[2] = {(unsigned char)signal, information->si_code == SI_KERNEL && !is_alone};
    ssize_t written = write(report_descriptors[signal], note, sizeof note);
    (void)written;
    errno = saved;
}

int clinux_report_signals(const int *signals, int count, int descriptor, bool takes_ignored) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = report;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigfillset(&action.sa_mask);
    for (int index = 0; index < count; index++) {
        // A signal that the parent process wants ignored stays ignored, also in the program that is started.
        if (!takes_ignored && ignores_signal(signals[index])) continue;
        report_descriptors[signals[index]] = descriptor;
        if (sigaction(signals[index], &action, NULL) < 0) return -errno;
    }
    return 0;
}
