// A backend as a plugin: a log in a directory, one file for each record.
//
//     cc -shared -fPIC -O2 -fvisibility=hidden -I ../../Sources/CBackendPlugin/include directory.c -o libsharedcore-directory.so
//
// A record is written to a nameless file that is then linked under its position, so no reader sees a part of a record,
// even if the writer is killed. The lock of the directory (flock) keeps two writers apart, and a reader from a
// compaction. A process that is stopped with the lock delays the others, so SB_STOPPED_WRITERS_TOLERATED is not
// promised.
#define _GNU_SOURCE
#include "sharedcore_backend.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_SIZE = 32, POLL_INTERVAL = 20 };

struct sb_log {
    char *path;
    int directory;
    int is_durable, is_broken;
    int notifications, interruption;
};

static int32_t fail(sb_error *error, const char *what, const char *path) {
    int number = errno;
    snprintf(error->message, sizeof error->message, "%s: %s.", what, strerror(number));
    snprintf(error->location, sizeof error->location, "%s", path);
    switch (number) {
    case ENOSPC:
    case EDQUOT: return SB_ERR_STORAGE_FULL;
    case EACCES:
    case EPERM:
    case EROFS: return SB_ERR_FORBIDDEN;
    default: return SB_ERR_SYSTEM;
    }
}

static int32_t lost(const sb_log *log, sb_error *error) {
    snprintf(error->message, sizeof error->message, "The directory has lost records.");
    snprintf(error->location, sizeof error->location, "%s", log->path);
    return SB_ERR_CORRUPT;
}

static void name_of(char *name, const char *kind, uint64_t position) {
    snprintf(name, NAME_SIZE, "%s-%020" PRIu64, kind, position);
}

static int exists(const sb_log *log, const char *kind, uint64_t position) {
    char name[NAME_SIZE];
    name_of(name, kind, position);
    return faccessat(log->directory, name, F_OK, 0) == 0;
}

// Returns the position of the last snapshot, which the target of the link “start” is; 0 while there is none.
static uint64_t start_of(const sb_log *log) {
    char target[NAME_SIZE] = "";
    ssize_t count = readlinkat(log->directory, "start", target, sizeof target - 1);
    return count > 0 ? strtoull(target, NULL, 10) : 0;
}

static int write_all(int file, const void *bytes, size_t count) {
    for (const char *at = bytes; count > 0;) {
        ssize_t written = write(file, at, count);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return -1;
        at += written;
        count -= (size_t)written;
    }
    return 0;
}

// Returns the bytes of a file, which the caller frees; NULL with ENOENT for none.
static uint8_t *contents(const sb_log *log, const char *kind, uint64_t position, size_t *count) {
    char name[NAME_SIZE];
    struct stat status;
    name_of(name, kind, position);
    int file = openat(log->directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) return NULL;
    uint8_t *bytes = fstat(file, &status) < 0 ? NULL : malloc((size_t)status.st_size + 1);
    *count = bytes ? (size_t)status.st_size : 0;
    for (size_t read_count = 0; bytes && read_count < *count;) {
        ssize_t now = read(file, bytes + read_count, *count - read_count);
        if (now < 0 && errno == EINTR) continue;
        if (now <= 0) {
            free(bytes);
            bytes = NULL;
            errno = EIO;
        } else {
            read_count += (size_t)now;
        }
    }
    close(file);
    return bytes;
}

static void close_log(sb_log *log) {
    if (log->directory >= 0) close(log->directory);
    if (log->notifications >= 0) close(log->notifications);
    if (log->interruption >= 0) close(log->interruption);
    free(log->path);
    free(log);
}

static int32_t open_log(const sb_place *place, sb_log **result, sb_promises *promises, sb_error *error) {
    sb_log *log = calloc(1, sizeof *log);
    if (!log) return SB_ERR_SYSTEM;
    log->directory = log->notifications = log->interruption = -1;
    int size = asprintf(&log->path, "%s/%s.log", place->values[0] ? place->values[0] : place->state_directory, place->group);
    int32_t code = SB_OK;
    if (size < 0) {
        log->path = NULL;
        code = SB_ERR_SYSTEM;
    } else if (!place->reads_only && mkdir(log->path, 0700) < 0 && errno != EEXIST) {
        code = fail(error, "The directory cannot be made", log->path);
    } else if ((log->directory = open(log->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)) < 0) {
        code = fail(error, "The directory cannot be opened", log->path);
        if (errno == ENOENT) code = SB_ERR_UNAVAILABLE;
    } else if ((log->interruption = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0) {
        code = fail(error, "There is no descriptor left", log->path);
    }
    if (code != SB_OK) {
        close_log(log);
        return code;
    }
    // A user has 128 inotify instances. Without one, a wait looks every POLL_INTERVAL.
    log->notifications = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (log->notifications >= 0 && inotify_add_watch(log->notifications, log->path, IN_CREATE | IN_MOVED_TO | IN_ONLYDIR) < 0) {
        close(log->notifications);
        log->notifications = -1;
    }
    if (log->notifications < 0) promises->poll_interval = POLL_INTERVAL;
    log->is_durable = place->durability == SB_DURABILITY_DISK;
    promises->durability = log->is_durable ? SB_DURABILITY_DISK : SB_DURABILITY_PROCESS;
    *result = log;
    return SB_OK;
}

// Makes a file that has no name yet. Returns its descriptor.
static int make_file(const sb_log *log, const uint8_t *bytes, size_t count) {
    int file = openat(log->directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    int result = file < 0 ? -1 : write_all(file, bytes, count);
    if (result == 0 && log->is_durable) result = fdatasync(file);
    if (result < 0 && file >= 0) {
        int number = errno;
        close(file);
        errno = number;
        file = -1;
    }
    return file;
}

static int32_t link_file(sb_log *log, int file, const char *name, sb_error *error) {
    char path[NAME_SIZE];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    int32_t code = SB_OK;
    if (linkat(AT_FDCWD, path, log->directory, name, AT_SYMLINK_FOLLOW) < 0) {
        code = errno == EEXIST ? SB_NOT_APPENDED : fail(error, "The file gets no name", log->path);
    } else if (log->is_durable && fsync(log->directory) < 0) {
        // No reader has seen it, because they wait for the lock. A later sync says nothing of this one, so the handle ends.
        code = fail(error, "The directory is not on the disk", log->path);
        unlinkat(log->directory, name, 0);
        log->is_broken = 1;
    }
    close(file);
    return code;
}

static int32_t append(sb_log *log, uint64_t position, const uint8_t *record, size_t count, sb_error *error) {
    char name[NAME_SIZE];
    if (log->is_broken) {
        snprintf(error->message, sizeof error->message, "A sync has failed. Open the group again.");
        return SB_ERR_CORRUPT;
    }
    if (flock(log->directory, LOCK_EX) < 0) return fail(error, "The log cannot be locked", log->path);
    uint64_t start = start_of(log);
    int32_t code = SB_NOT_APPENDED;
    if (position >= start && !exists(log, "record", position) && (position == start || exists(log, "record", position - 1))) {
        int file = make_file(log, record, count);
        name_of(name, "record", position);
        code = file < 0 ? fail(error, "The record cannot be written", log->path) : link_file(log, file, name, error);
    }
    flock(log->directory, LOCK_UN);
    return code;
}

static int32_t read_log(sb_log *log, uint64_t position, size_t limit, sb_slice *slice, sb_error *error) {
    if (flock(log->directory, LOCK_SH) < 0) return fail(error, "The log cannot be locked", log->path);
    uint64_t start = start_of(log);
    int32_t code = SB_OK;
    uint64_t end = start > position ? start : position;
    while (exists(log, "record", end)) end++;
    // As after the restore of an older copy.
    if (position > start && !exists(log, "record", position - 1)) code = lost(log, error);
    if (code == SB_OK) slice->begin(slice, start, end);
    if (start > position) {
        size_t count;
        uint8_t *bytes = contents(log, "snapshot", start, &count);
        if (bytes) slice->snapshot(slice, bytes, count);
        else code = fail(error, "The snapshot cannot be read", log->path);
        free(bytes);
        position = start;
    }
    for (; code == SB_OK && limit > 0; limit--, position++) {
        size_t count;
        uint8_t *bytes = contents(log, "record", position, &count);
        if (!bytes) {
            if (errno != ENOENT) code = fail(error, "A record cannot be read", log->path);
            break;
        }
        slice->record(slice, bytes, count);
        free(bytes);
    }
    flock(log->directory, LOCK_UN);
    return code;
}

static int32_t wait_log(sb_log *log, uint64_t position, int64_t timeout, sb_error *error) {
    (void)error;
    struct pollfd entries[] = { { .fd = log->interruption, .events = POLLIN }, { .fd = log->notifications, .events = POLLIN } };
    char events[4096];
    for (;;) {
        // The notifications come first, then the look: a record that is linked in between is notified.
        while (log->notifications >= 0 && read(log->notifications, events, sizeof events) > 0) {}
        if (exists(log, "record", position) || start_of(log) > position) return SB_OK;
        if (timeout <= 0) return SB_NOTHING;
        int64_t step = log->notifications < 0 ? POLL_INTERVAL : timeout;
        int ready = poll(entries, log->notifications < 0 ? 1 : 2, step > INT32_MAX ? INT32_MAX : (int)step);
        uint64_t count;
        if (ready > 0 && entries[0].revents && read(log->interruption, &count, sizeof count) > 0) return SB_NOTHING;
        if (ready == 0) timeout -= step;
    }
}

static void interrupt(sb_log *log) {
    uint64_t one = 1;
    if (write(log->interruption, &one, sizeof one) < 0) return; // it is raised already
}

static int32_t write_snapshot(sb_log *log, uint64_t position, const uint8_t *bytes, size_t count, sb_error *error) {
    char name[NAME_SIZE], target[NAME_SIZE];
    name_of(name, "snapshot", position);
    int file = make_file(log, bytes, count);
    int32_t code = file < 0 ? fail(error, "The snapshot cannot be written", log->path) : link_file(log, file, name, error);
    // A killed process may have left it behind.
    if (code != SB_OK && code != SB_NOT_APPENDED) return code;
    snprintf(target, sizeof target, "%" PRIu64, position);
    unlinkat(log->directory, "start.new", 0);
    if (symlinkat(target, log->directory, "start.new") < 0
        || renameat(log->directory, "start.new", log->directory, "start") < 0 || (log->is_durable && fsync(log->directory) < 0))
        return fail(error, "The snapshot gets no place", log->path);
    return SB_OK;
}

static int32_t compact(sb_log *log, uint64_t position, const uint8_t *snapshot, size_t count, sb_error *error) {
    if (flock(log->directory, LOCK_EX) < 0) return fail(error, "The log cannot be locked", log->path);
    int32_t code = start_of(log) >= position ? SB_OK : write_snapshot(log, position, snapshot, count, error);
    // What is before the snapshot is not read any more.
    int copy = code == SB_OK ? openat(log->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    DIR *listing = copy < 0 ? NULL : fdopendir(copy);
    struct dirent *entry;
    while (listing && (entry = readdir(listing))) {
        uint64_t found;
        int is_old = sscanf(entry->d_name, "record-%20" SCNu64, &found) == 1
            || sscanf(entry->d_name, "snapshot-%20" SCNu64, &found) == 1;
        if (is_old && found < position) unlinkat(log->directory, entry->d_name, 0);
    }
    if (listing) closedir(listing);
    else if (copy >= 0) close(copy);
    flock(log->directory, LOCK_UN);
    return code;
}

static const sb_setting settings[] = {
    { "path", NULL, "The directory in which logs are; the state directory unless it is given.", SB_SETTING_PATH, 0 },
};

static const sb_promises promises = { sizeof promises, SB_DURABILITY_DISK, 0, 0 };

static const sb_backend backend = {
    .abi = SB_ABI,
    .size = sizeof backend,
    .name = "directory",
    .version = "1.0",
    .promises = &promises,
    .settings = settings,
    .setting_count = 1,
    .open = open_log,
    .append = append,
    .read = read_log,
    .wait = wait_log,
    .interrupt = interrupt,
    .compact = compact,
    .close = close_log,
};

const sb_backend *sharedcore_backend(uint32_t abi) { return abi == SB_ABI ? &backend : NULL; }
