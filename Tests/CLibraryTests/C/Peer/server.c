// The server of the cores of a case: messages, gates, and the witness of which cores run. The form is that of SharedServer and
// NotingWitness in Sources/CoreAPITesting.

#include "peer.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *path_in(const char *server, const char *folder, const char *name) {
    static char paths[4][4096];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s%s%s", server, folder, name[0] != 0 ? "/" : "", name);
    return path;
}

// MARK: - Messages

bool next_served(const char *server, const char *after, served *message) {
    memset(message, 0, sizeof *message);
    DIR *folder = opendir(path_in(server, "waiting", ""));
    if (folder == NULL) return false;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.' || strcmp(entry->d_name, after) <= 0) continue;
        if (message->name[0] != 0 && strcmp(entry->d_name, message->name) > 0) continue;
        snprintf(message->name, sizeof message->name, "%s", entry->d_name);
    }
    closedir(folder);
    if (message->name[0] == 0) return false;
    FILE *file = fopen(path_in(server, "waiting", message->name), "re");
    // Another core may have acknowledged it meanwhile.
    if (file == NULL) return true;
    message->text = allocate(65536);
    size_t count = fread(message->text, 1, 65535, file);
    message->text[count] = 0;
    fclose(file);
    for (char *line = message->text; line != NULL && message->count < 8;) {
        message->lines[message->count++] = line;
        line = strchr(line, '\n');
        if (line != NULL) *line++ = 0;
    }
    return true;
}

void free_served(served *message) {
    free(message->text);
    message->text = NULL;
}

void acknowledge_served(const char *server, const char *name) {
    // Another core may have done so.
    rename(path_in(server, "waiting", name), path_in(server, "acknowledged", name));
}

bool is_open(const char *server, const char *gate) {
    // A server that is gone holds up no core.
    return access(path_in(server, "gates", gate), F_OK) == 0 || access(server, F_OK) != 0;
}

// MARK: - The witness

static void make_file(const char *path) {
    int descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    if (descriptor >= 0) close(descriptor);
}

// Whether a thread of a process runs code.
static bool is_running(int pid, const char *thread) {
    char path[128], text[1024];
    snprintf(path, sizeof path, "/proc/%d/task/%s/stat", pid, thread);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return false;
    ssize_t count = read(descriptor, text, sizeof text - 1);
    close(descriptor);
    if (count <= 0) return false;
    text[count] = 0;
    char *end = strrchr(text, ')');
    char state;
    unsigned flags;
    if (end == NULL || sscanf(end + 1, " %c %*d %*d %*d %*d %*d %u", &state, &flags) != 2) return true;
    // PF_EXITING
    return state != 'Z' && state != 'X' && (flags & 4) == 0;
}

static bool is_ending(int pid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *threads = opendir(path);
    if (threads == NULL) return true;
    bool runs = false;
    for (struct dirent *entry; !runs && (entry = readdir(threads)) != NULL;)
        runs = entry->d_name[0] != '.' && is_running(pid, entry->d_name);
    closedir(threads);
    return !runs;
}

// Whether the processes of an epoch's core are known, and none of them runs code.
static bool core_is_ending(const char *server, uint64_t epoch) {
    DIR *folder = opendir(path_in(server, "cores", ""));
    if (folder == NULL) return false;
    bool is_known = false, runs = false;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        uint64_t of;
        int pid;
        if (sscanf(entry->d_name, "%" SCNu64 "-%d", &of, &pid) != 2 || of != epoch) continue;
        is_known = true;
        runs = runs || !is_ending(pid);
    }
    closedir(folder);
    return is_known && !runs;
}

// Notes the other cores whose bytes are locked in a range.
static void note_others(const char *server, int descriptor, uint64_t epoch, int64_t first, int64_t end) {
    while (first < end) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = first, .l_len = end - first};
        if (fcntl(descriptor, F_OFD_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return;
        int64_t other = lock.l_start;
        if (!core_is_ending(server, (uint64_t)other)) {
            char name[64];
            snprintf(name, sizeof name, "%" PRIu64 "-%" PRId64, epoch, other);
            make_file(path_in(server, "seen", name));
        }
        // The kernel gives any of the locks.
        note_others(server, descriptor, epoch, first, other);
        first = other + (lock.l_len > 0 ? lock.l_len : 1);
    }
}

int begin_witness(const char *server, uint64_t epoch) {
    char name[64];
    // Before the lock shows, so that a process that sees it finds the core.
    snprintf(name, sizeof name, "%" PRIu64 "-%d", epoch, (int)getpid());
    make_file(path_in(server, "cores", name));
    int descriptor = open(path_in(server, "witness", ""), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (int64_t)epoch, .l_len = 1};
    if (descriptor < 0) return -1;
    fcntl(descriptor, F_OFD_SETLK, &lock);
    note_others(server, descriptor, epoch, 0, INT64_MAX);
    return descriptor;
}
