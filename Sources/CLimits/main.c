// The limits of the machine, as a static program that needs nothing but the kernel. Without arguments it ends at once:
// that is the least that a process can cost.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_BOOTTIME, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void fail(const char *what, int error) {
    fprintf(stderr, "sharedcore-limits: %s: %s\n", what, strerror(error));
    exit(69);
}

static pid_t start(char *const *arguments, posix_spawn_file_actions_t *actions) {
    pid_t process = 0;
    int error = posix_spawn(&process, arguments[0], actions, NULL, arguments, environ);
    if (error != 0) fail(arguments[0], error);
    return process;
}

/// Runs a program to its end and prints: its number, when it was started, when it had ended, the most memory that it had
/// in kB, its status. From here and not from a large process: a child that shares its parent's memory until it becomes
/// another program counts that memory as its own.
static int measure(char *const *arguments) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    uint64_t begin = now();
    pid_t process = start(arguments, &actions);
    struct rusage usage;
    int status = 0;
    if (wait4(process, &status, 0, &usage) < 0) fail("wait4", errno);
    uint64_t end = now();
    printf("%d %llu %llu %ld %d\n", process, (unsigned long long)begin, (unsigned long long)end, usage.ru_maxrss,
        WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return 0;
}

/// Prints how long it takes from SIGKILL to the report of the kernel that the process is gone.
static int killing(char *own) {
    char *arguments[] = {own, "pause", NULL};
    pid_t process = start(arguments, NULL);
    int descriptor = (int)syscall(SYS_pidfd_open, process, 0);
    if (descriptor < 0) fail("pidfd_open", errno);
    struct timespec settle = {0, 20000000};
    nanosleep(&settle, NULL);
    struct pollfd entry = {.fd = descriptor, .events = POLLIN};
    uint64_t begin = now();
    kill(process, SIGKILL);
    if (poll(&entry, 1, -1) != 1) fail("poll", errno);
    printf("%llu\n", (unsigned long long)(now() - begin));
    return 0;
}

/// Prints how long two round trips between two processes take: ask and hear, take and hear.
static int round_trips(char *own) {
    int there[2], back[2];
    if (pipe2(there, O_CLOEXEC) < 0 || pipe2(back, O_CLOEXEC) < 0) fail("pipe2", errno);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, there[0], 0);
    posix_spawn_file_actions_adddup2(&actions, back[1], 1);
    char *arguments[] = {own, "echo", NULL};
    pid_t process = start(arguments, &actions);
    char byte = 1;
    uint64_t begin = 0;
    // The first one waits for the other's start.
    for (int trip = 0; trip < 3; trip++) {
        if (trip == 1) begin = now();
        if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1) fail("pipe", errno);
    }
    uint64_t end = now();
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
    uint64_t begin = now();
    for (int number = 0; number < count; number++) start(arguments, NULL);
    for (int number = 0; number < count; number++) {
        if (waitpid(-1, NULL, 0) < 0) fail("waitpid", errno);
    }
    printf("%llu\n", (unsigned long long)(now() - begin));
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
    fprintf(stderr, "usage: sharedcore-limits [kill | roundtrips | starts N | measure PROGRAM ARGUMENT...]\n");
    return 64;
}
