#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/timerfd.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static struct flock byte_range(short type, int64_t offset) {
    struct flock range;
    memset(&range, 0, sizeof range);
    range.l_type = type;
    range.l_whence = SEEK_SET;
    range.l_start = offset;
    range.l_len = 1;
    return range;
}

static int result(long value) {
    return value < 0 ? -errno : (int)value;
}

int clinux_lock_byte(int descriptor, int64_t offset) {
    struct flock range = byte_range(F_WRLCK, offset);
    int error = result(fcntl(descriptor, F_OFD_SETLK, &range));
    return error == -EACCES ? -EAGAIN : error;
}

int clinux_unlock_byte(int descriptor, int64_t offset) {
    struct flock range = byte_range(F_UNLCK, offset);
    return result(fcntl(descriptor, F_OFD_SETLK, &range));
}

int clinux_probe_byte(int descriptor, int64_t offset) {
    struct flock range = byte_range(F_WRLCK, offset);
    int error = result(fcntl(descriptor, F_OFD_GETLK, &range));
    return error < 0 ? error : range.l_type != F_UNLCK;
}

int clinux_find_locked_byte(int descriptor, int64_t offset, int64_t length, int64_t *found) {
    struct flock range = byte_range(F_WRLCK, offset);
    range.l_len = length;
    int error = result(fcntl(descriptor, F_OFD_GETLK, &range));
    if (error < 0) return error;
    if (range.l_type == F_UNLCK) return 0;
    *found = range.l_start;
    return 1;
}

int clinux_move_without_replacing(int from_directory, const char *from, int to_directory, const char *to) {
    return result(renameat2(from_directory, from, to_directory, to, RENAME_NOREPLACE));
}

int clinux_open_unnamed(int directory) {
    return result(openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
}

int clinux_memory_file(const char *name) {
    return result(memfd_create(name, MFD_CLOEXEC));
}

int clinux_sealable_memory_file(const char *name) {
    return result(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
}

static const int all_seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

int clinux_seal(int descriptor) {
    return result(fcntl(descriptor, F_ADD_SEALS, all_seals));
}

int clinux_is_sealed(int descriptor) {
    int seals = fcntl(descriptor, F_GET_SEALS);
    return seals >= 0 && (seals & all_seals) == all_seals;
}

int clinux_name_file(int descriptor, int directory, const char *name) {
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    int error = result(linkat(AT_FDCWD, path, directory, name, AT_SYMLINK_FOLLOW));
    // This works without /proc. The kernel requires a capability then or, since 6.10, the user that opened the file.
    return error == -ENOENT ? result(linkat(descriptor, "", directory, name, AT_EMPTY_PATH)) : error;
}

int clinux_direct_flag(void) {
    return O_DIRECT;
}

int clinux_punch(int descriptor, int64_t offset, int64_t length) {
    return result(fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, length));
}

int clinux_link(int from_directory, const char *from, int to_directory, const char *to) {
    return result(linkat(from_directory, from, to_directory, to, 0));
}

int clinux_probe_writers(int descriptor) {
    // The kernel grants a read lease only while no process has the file open for writing. If a process opens the file
    // for writing during the lease, its open waits until the lease ends, and the kernel sends a signal to this process.
    // SIGIO would end it, so SIGURG is set first, which is ignored by default.
    if (fcntl(descriptor, F_SETSIG, SIGURG) < 0) return -errno;
    if (fcntl(descriptor, F_SETLEASE, F_RDLCK) < 0) return errno == EAGAIN ? 1 : -errno;
    return result(fcntl(descriptor, F_SETLEASE, F_UNLCK));
}

int clinux_allocate(int descriptor, int64_t offset, int64_t length) {
    return -posix_fallocate(descriptor, offset, length);
}

int clinux_attribute(const char *path, const char *name, void *value, size_t count) {
    return result(getxattr(path, name, value, count));
}

int clinux_open_process(pid_t process) {
    return result(syscall(SYS_pidfd_open, process, 0));
}

int clinux_signal_process(int process_descriptor, int signal) {
    return result(syscall(SYS_pidfd_send_signal, process_descriptor, signal, NULL, 0));
}

int clinux_event_counter(void) {
    return result(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
}

int clinux_file_events(void) {
    return result(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
}

int clinux_watch_writes(int instance, const char *path) {
    return result(inotify_add_watch(instance, path, IN_MODIFY | IN_CLOSE_WRITE));
}

int clinux_watch_arrivals(int instance, const char *path) {
    return result(inotify_add_watch(instance, path, IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_ONLYDIR));
}

int clinux_watch_completions(int instance, const char *path) {
    return result(inotify_add_watch(instance, path, IN_CLOSE_WRITE | IN_MOVED_TO | IN_ONLYDIR));
}

int clinux_watch_departures(int instance, const char *path) {
    uint32_t of_names = IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO;
    return result(inotify_add_watch(instance, path, of_names | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR));
}

int clinux_remove_watch(int instance, int watch) {
    return result(inotify_rm_watch(instance, watch));
}

int64_t clinux_next_event(const void *bytes, size_t count, size_t offset, int32_t *watch, uint32_t *mask) {
    struct inotify_event event;
    if (offset + sizeof event > count) return -EINVAL;
    memcpy(&event, (const char *)bytes + offset, sizeof event);
    if (event.len > count - offset - sizeof event) return -EINVAL;
    *watch = event.wd;
    *mask = event.mask;
    return (int64_t)(offset + sizeof event + event.len);
}

bool clinux_event_is_overflow(uint32_t mask) {
    return (mask & IN_Q_OVERFLOW) != 0;
}

bool clinux_event_is_close(uint32_t mask) {
    return (mask & IN_CLOSE_WRITE) != 0;
}

bool clinux_event_is_end(uint32_t mask) {
    return (mask & IN_IGNORED) != 0;
}

int clinux_file_system(int descriptor, uint64_t *kind) {
    struct statfs status;
    int error = result(fstatfs(descriptor, &status));
    if (error == 0) *kind = (uint64_t)status.f_type & 0xffffffff;
    return error;
}

int clinux_sleep_at(const void *address, uint32_t expected, uint32_t mask) {
    return result(syscall(SYS_futex, address, FUTEX_WAIT_BITSET, expected, NULL, NULL, mask));
}

// A part of the kernel's interface that the headers of older systems do not have.
struct waiter {
    uint64_t value;
    uint64_t address;
    uint32_t flags;
    uint32_t reserved;
};

int clinux_sleep_at_any(const void *const *addresses, const uint32_t *expected, unsigned count) {
    enum { size_of_32_bits = 2, number_of_call = 449 };
    struct waiter waiters[clinux_word_limit];
    if (count > clinux_word_limit) return -EINVAL;
    for (unsigned index = 0; index < count; index++) {
        waiters[index] = (struct waiter){expected[index], (uintptr_t)addresses[index], size_of_32_bits, 0};
    }
    return result(syscall(number_of_call, waiters, count, 0, NULL, CLOCK_MONOTONIC));
}

int clinux_wake_at(void *address, uint32_t mask) {
    return result(syscall(SYS_futex, address, FUTEX_WAKE_BITSET, INT_MAX, NULL, NULL, mask));
}

int clinux_name_thread(const char *name) {
    return -pthread_setname_np(pthread_self(), name);
}

void clinux_block_signals(void) {
    sigset_t all;
    sigfillset(&all);
    // The signals of the thread's own faults stay unblocked: a blocked one would end the process without calling its handler.
    const int faults[] = {SIGBUS, SIGSEGV, SIGILL, SIGFPE, SIGTRAP};
    for (size_t index = 0; index < sizeof faults / sizeof *faults; index++) sigdelset(&all, faults[index]);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
}

int clinux_readiness_set(void) {
    return result(epoll_create1(EPOLL_CLOEXEC));
}

int clinux_add_readiness(int set, int descriptor, uint64_t key) {
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data = {.u64 = key}};
    return result(epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event));
}

int clinux_remove_readiness(int set, int descriptor) {
    return result(epoll_ctl(set, EPOLL_CTL_DEL, descriptor, NULL));
}

int clinux_take_ready(int set, uint64_t *keys, int count) {
    struct epoll_event events[64];
    int found = result(epoll_wait(set, events, count < 64 ? count : 64, 0));
    for (int index = 0; index < found; index++) keys[index] = events[index].data.u64;
    return found;
}

int clinux_add_edges(int set, int descriptor, uint64_t key) {
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data = {.u64 = key}};
    return result(epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event));
}

int clinux_add_stream(int set, int descriptor, uint64_t key) {
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data = {.u64 = key}};
    return result(epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event));
}

int clinux_wait_ready(int set, uint64_t *keys, int count) {
    struct epoll_event events[16];
    int found = result(epoll_wait(set, events, count < 16 ? count : 16, -1));
    for (int index = 0; index < found; index++) keys[index] = events[index].data.u64;
    return found;
}

bool clinux_is_first_thread(void) {
    return syscall(SYS_gettid) == getpid();
}

int clinux_timer(bool counts_suspension) {
    return result(timerfd_create(counts_suspension ? CLOCK_BOOTTIME : CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
}

static struct timespec time_of(uint64_t nanoseconds) {
    struct timespec time = {.tv_sec = (time_t)(nanoseconds / 1000000000), .tv_nsec = (long)(nanoseconds % 1000000000)};
    return time;
}

int clinux_set_timer(int timer, uint64_t first, uint64_t interval) {
    // Zero would disarm the timer.
    struct itimerspec times = {.it_value = time_of(first > 0 ? first : 1), .it_interval = time_of(interval)};
    return result(timerfd_settime(timer, 0, &times, NULL));
}

int clinux_wait_for_child(pid_t process) {
    int status = 0;
    if (waitpid(process, &status, 0) < 0) return -errno;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int clinux_reap(pid_t process, int *signal) {
    int status = 0;
    if (waitpid(process, &status, 0) < 0) return -errno;
    *signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

int clinux_pipe(int ends[2]) {
    return result(pipe2(ends, O_CLOEXEC));
}

int clinux_duplicate(int descriptor, int minimum) {
    return result(fcntl(descriptor, F_DUPFD_CLOEXEC, minimum));
}

int clinux_append_only(int descriptor) {
    int flags = fcntl(descriptor, F_GETFL);
    return result(flags < 0 ? -1 : fcntl(descriptor, F_SETFL, flags | O_APPEND));
}

int clinux_route_socket(void) {
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (descriptor < 0) return -errno;
    struct sockaddr_nl address;
    memset(&address, 0, sizeof address);
    address.nl_family = AF_NETLINK;
    address.nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_IFADDR | RTMGRP_IPV6_ROUTE;
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) < 0) {
        int error = -errno;
        close(descriptor);
        return error;
    }
    return descriptor;
}

int clinux_ask_routes(int socket, uint16_t kind, uint32_t sequence) {
    struct {
        struct nlmsghdr header;
        // The longest header of the three kinds of requests. Zeros request every address family.
        struct ifinfomsg body;
    } request;
    memset(&request, 0, sizeof request);
    request.header.nlmsg_len = sizeof request;
    request.header.nlmsg_type = kind;
    request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    request.header.nlmsg_seq = sequence;
    struct sockaddr_nl kernel;
    memset(&kernel, 0, sizeof kernel);
    kernel.nl_family = AF_NETLINK;
    return result(sendto(socket, &request, sizeof request, 0, (struct sockaddr *)&kernel, sizeof kernel));
}

int clinux_take_routes(int socket, void *bytes, size_t count) {
    struct sockaddr_nl sender;
    struct iovec part = {.iov_base = bytes, .iov_len = count};
    struct msghdr message;
    memset(&message, 0, sizeof message);
    message.msg_name = &sender;
    message.msg_namelen = sizeof sender;
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    ssize_t length = recvmsg(socket, &message, 0);
    if (length < 0) return -errno;
    if (message.msg_flags & MSG_TRUNC) return -EMSGSIZE;
    // Other processes may also send to the socket; the kernel's port id is 0.
    return message.msg_namelen == sizeof sender && sender.nl_pid == 0 ? (int)length : 0;
}

int clinux_presence(int file, const char *path, struct clinux_presence *presence) {
    struct statx found;
    int flags = AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW;
    unsigned wanted = STATX_TYPE | STATX_INO | STATX_SIZE | STATX_NLINK | STATX_BLOCKS;
    if (statx(file, path, flags, wanted, &found) < 0) return -errno;
    presence->device = makedev(found.stx_dev_major, found.stx_dev_minor);
    presence->number = found.stx_ino;
    presence->size = found.stx_size;
    presence->allocated = found.stx_blocks * 512;
    presence->names = found.stx_nlink;
    presence->kind = found.stx_mode & S_IFMT;
    return 0;
}
