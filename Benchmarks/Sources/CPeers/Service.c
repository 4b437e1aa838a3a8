#define _GNU_SOURCE
#include "CPeers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pid_t service, echo;

const char *peers_program(const char *name) {
    static const char *const folders[] = {"/usr/bin", "/usr/sbin", "/usr/local/bin", "/bin"};
    static char path[PATH_MAX];
    for (size_t index = 0; index < sizeof folders / sizeof *folders; index++) {
        snprintf(path, sizeof path, "%s/%s", folders[index], name);
        if (access(path, X_OK) == 0) return path;
    }
    snprintf(path, sizeof path, "%s is not installed", name);
    measuring_absent(path);
}

static void end(pid_t process) {
    if (process == 0) return;
    kill(process, SIGKILL);
    waitpid(process, NULL, 0);
}

static void end_all(void) {
    // The other side ends first, because it fails without the service.
    end(echo);
    end(service);
}

void peers_start_echo(char *own, const char *word, const char *directory) {
    char *arguments[] = {own, (char *)word, (char *)directory, NULL};
    echo = measuring_start(arguments, NULL);
}

void peers_start_service(const char *directory, char *const *arguments) {
    char log[PATH_MAX];
    snprintf(log, sizeof log, "%s/log", directory);
    pid_t own = getpid();
    service = fork();
    if (service < 0) measuring_fail("fork", errno);
    if (service == 0) {
        // What this program starts ends with it, however it ends.
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        int file = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (getppid() != own || file < 0 || chdir(directory) < 0) _exit(69);
        dup2(open("/dev/null", O_RDONLY), 0);
        dup2(file, 1);
        dup2(file, 2);
        execv(arguments[0], arguments);
        _exit(69);
    }
    atexit(end_all);
}

int peers_connect(const char *directory, const char *name) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", directory, name) >= (int)sizeof address.sun_path) {
        measuring_fail(name, ENAMETOOLONG);
    }
    for (int attempt = 0; attempt < 3000; attempt++) {
        int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (descriptor < 0) measuring_fail("socket", errno);
        if (connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
        close(descriptor);
        struct timespec pause = {0, 10000000};
        nanosleep(&pause, NULL);
        if (service != 0 && waitpid(service, NULL, WNOHANG) == service) measuring_absent("the service does not start here");
    }
    measuring_fail(address.sun_path, ETIMEDOUT);
}

void peers_write(int descriptor, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = write(descriptor, bytes, count);
        if (written <= 0) measuring_fail("write", errno);
        bytes += written;
        count -= (size_t)written;
    }
}
