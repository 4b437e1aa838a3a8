#define _GNU_SOURCE
#include "CMeasuring.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

uint64_t measuring_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_BOOTTIME, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

void measuring_fail(const char *what, int error) {
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(error));
    exit(69);
}

void measuring_absent(const char *what) {
    printf("absent %s\n", what);
    fflush(stdout);
    exit(0);
}

pid_t measuring_start(char *const *arguments, posix_spawn_file_actions_t *actions) {
    pid_t process = 0;
    int error = posix_spawn(&process, arguments[0], actions, NULL, arguments, environ);
    if (error != 0) measuring_fail(arguments[0], error);
    return process;
}

void measuring_end_with_parent(void) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // It may have ended before.
    if (getppid() == 1) exit(0);
}

int measuring_serve(measuring_take take) {
    char word[32];
    int count;
    printf("ready\n");
    fflush(stdout);
    while (scanf("%31s %d", word, &count) == 2) {
        if (count < 1 || count > 1000000) measuring_fail("an order", ERANGE);
        double *samples = calloc((size_t)count, sizeof *samples);
        if (samples == NULL) measuring_fail("calloc", errno);
        if (!take(word, count, samples)) measuring_fail(word, ENOTSUP);
        printf("done");
        for (int index = 0; index < count; index++) printf(" %.2f", samples[index]);
        printf("\n");
        fflush(stdout);
        free(samples);
    }
    return 0;
}

void measuring_ping(const struct measuring_way *way, int count, double *samples) {
    for (int index = 0; index < count; index++) {
        way->send(measuring_now());
        samples[index] = (double)way->receive();
    }
}

void measuring_echo(const struct measuring_way *way) {
    while (1) {
        uint64_t sent = way->receive();
        way->send(measuring_now() - sent);
    }
}
