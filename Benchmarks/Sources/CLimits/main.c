// The limits of the machine, as a static program that needs nothing but the kernel. Without arguments it ends at once:
// that is the least that a process can cost.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "CLimits.h"

/// Runs a program to its end and prints: its number, when it was started, when it had ended, the most memory that it had
/// in kB, its status. From here and not from a large process: a child that shares its parent's memory until it becomes
/// another program counts that memory as its own.
static int measure(char *const *arguments) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    uint64_t begin = measuring_now();
    pid_t process = measuring_start(arguments, &actions);
    struct rusage usage;
    int status = 0;
    if (wait4(process, &status, 0, &usage) < 0) measuring_fail("wait4", errno);
    uint64_t end = measuring_now();
    printf("%d %llu %llu %ld %d\n", process, (unsigned long long)begin, (unsigned long long)end, usage.ru_maxrss,
        WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return 0;
}

/// Prints how long it takes from SIGKILL to the report of the kernel that the process is gone.
static int killing(char *own) {
    char *arguments[] = {own, "pause", NULL};
    pid_t process = measuring_start(arguments, NULL);
    int descriptor = (int)syscall(SYS_pidfd_open, process, 0);
    if (descriptor < 0) measuring_fail("pidfd_open", errno);
    struct timespec settle = {0, 20000000};
    nanosleep(&settle, NULL);
    struct pollfd entry = {.fd = descriptor, .events = POLLIN};
    uint64_t begin = measuring_now();
    kill(process, SIGKILL);
    if (poll(&entry, 1, -1) != 1) measuring_fail("poll", errno);
    printf("%llu\n", (unsigned long long)(measuring_now() - begin));
    return 0;
}

/// Prints how long two round trips between two processes take: ask and hear, take and hear.
static int round_trips(char *own) {
    int there[2], back[2];
    if (pipe2(there, O_CLOEXEC) < 0 || pipe2(back, O_CLOEXEC) < 0) measuring_fail("pipe2", errno);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, there[0], 0);
    posix_spawn_file_actions_adddup2(&actions, back[1], 1);
    char *arguments[] = {own, "echo", NULL};
    pid_t process = measuring_start(arguments, &actions);
    char byte = 1;
    uint64_t begin = 0;
    // The first one waits for the other's start.
    for (int trip = 0; trip < 3; trip++) {
        if (trip == 1) begin = measuring_now();
        if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1) measuring_fail("pipe", errno);
    }
    uint64_t end = measuring_now();
    close(there[1]);
    waitpid(process, NULL, 0);
    printf("%llu\n", (unsigned long long)(end - begin));
    return 0;
}

static int echo(void) {
    char byte;
    while (read(0, &byte, 1) == 1) {
        if (write(1, &byte, 1) != 1) return 1;
    }
    return 0;
}

/// Prints how long it takes to start many processes at once and to hear that all have ended.
static int starts(char *own, int count) {
    char *arguments[] = {own, NULL};
    uint64_t begin = measuring_now();
    for (int number = 0; number < count; number++) measuring_start(arguments, NULL);
    for (int number = 0; number < count; number++) {
        if (waitpid(-1, NULL, 0) < 0) measuring_fail("waitpid", errno);
    }
    printf("%llu\n", (unsigned long long)(measuring_now() - begin));
    return 0;
}

int main(int count, char **arguments) {
    if (count < 2) return 0;
    const char *mode = arguments[1];
    if (strcmp(mode, "pause") == 0) {
        while (1) pause();
    }
    if (strcmp(mode, "echo") == 0) return echo();
    if (strcmp(mode, "kill") == 0) return killing(arguments[0]);
    if (strcmp(mode, "roundtrips") == 0) return round_trips(arguments[0]);
    if (strcmp(mode, "starts") == 0 && count == 3) return starts(arguments[0], atoi(arguments[2]));
    if (strcmp(mode, "measure") == 0 && count > 2) return measure(arguments + 2);
    if (strcmp(mode, "inotify") == 0 && count == 3) return limits_inotify(arguments[0], arguments[2]);
    if (strcmp(mode, "inotify-echo") == 0 && count == 3) return limits_inotify_echo(arguments[2]);
    if (strcmp(mode, "futex") == 0 && count == 3) return limits_futex(arguments[0], arguments[2]);
    if (strcmp(mode, "futex-echo") == 0 && count == 3) return limits_futex_echo(arguments[2]);
    if (strcmp(mode, "journal") == 0 && count == 4) return limits_journal(arguments[2], arguments[3]);
    if (strcmp(mode, "look") == 0 && count == 3) return limits_look(arguments[2]);
    fprintf(stderr, "usage: sharedcore-limits [kill | roundtrips | starts N | measure PROGRAM ARGUMENT...\n"
                    "       | inotify DIRECTORY | futex DIRECTORY | journal DIRECTORY process|disk | look DIRECTORY]\n");
    return 64;
}
