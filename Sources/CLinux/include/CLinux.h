/// System calls of Linux that the Swift overlay of the C library does not have. Every function of this header returns the
/// result of its system call or, if that fails, the negated errno, so that no errno is read too late.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/types.h>

#include "CLinuxBus.h"
#include "CLinuxMessages.h"
#include "CLinuxSockets.h"

// Locks of one byte that belong to an open file description, not to a process.

/// Locks a byte for writing. Returns -EAGAIN if another description has the lock.
int clinux_lock_byte(int descriptor, int64_t offset);
/// Releases the lock of a byte.
int clinux_unlock_byte(int descriptor, int64_t offset);
/// Returns 1 if another description has the byte locked, else 0. Takes no lock.
int clinux_probe_byte(int descriptor, int64_t offset);
/// Finds a byte that another description has locked among the `length` bytes from `offset` on. It is not always the first.
/// Returns 1 if there is one, else 0. Takes no lock.
int clinux_find_locked_byte(int descriptor, int64_t offset, int64_t length, int64_t *found);

// Files.

/// The highest descriptor number that this package asks for. The table of descriptors has room for it from the start.
#define CLINUX_HIGHEST_DESCRIPTOR 960

/// Creates a file without a name in a directory. The kernel frees it with its last descriptor.
int clinux_open_unnamed(int directory);

/// Creates a file in memory that is freed with its last descriptor. The name is for people.
int clinux_memory_file(const char *name);
/// Creates a file in memory that can be sealed.
int clinux_sealable_memory_file(const char *name);
/// Seals a file in memory: no process can change it any more.
int clinux_seal(int descriptor);
/// Returns 1 if a file is sealed by `clinux_seal`; 0 if it is not sealed or not a file in memory.
int clinux_is_sealed(int descriptor);

/// Gives a name to a file of `clinux_open_unnamed`. Fails if the name exists.
int clinux_name_file(int descriptor, int directory, const char *name);

/// Frees the space of a range in the file system. The range then reads as zeros, and the size of the file stays.
int clinux_punch(int descriptor, int64_t offset, int64_t length);

/// Renames a file. Fails with -EEXIST if the new name exists, and with -EINVAL if the file system does not support this.
int clinux_move_without_replacing(int from_directory, const char *from, int to_directory, const char *to);
/// Gives a file a second name. Fails with -EEXIST if that name exists.
int clinux_link(int from_directory, const char *from, int to_directory, const char *to);
/// Returns 1 if a process has the file of this read-only descriptor open for writing, else 0. Fails with -EINVAL if the
/// file system cannot tell, and with -EACCES for another user's file.
int clinux_probe_writers(int descriptor);
/// Reserves space, so that no later write or mapped store in the range fails for lack of space.
int clinux_allocate(int descriptor, int64_t offset, int64_t length);

/// Reads an extended attribute of a file. Returns its length.
int clinux_attribute(const char *path, const char *name, void *value, size_t count);

// Processes.

int clinux_open_process(pid_t process);
int clinux_signal_process(int process_descriptor, int signal);

/// The child starts a session of its own, without the terminal and the process group of the parent.
#define CLINUX_OWN_SESSION 1
/// The child keeps the streams of this process, and ignores the signals that this process ignores. It inherits each
/// descriptor that is not close-on-exec, and the given descriptors under their numbers. Without this option it has only
/// the given descriptors, from 0 on, and ignores no signal.
#define CLINUX_KEEPS_STREAMS 2
/// The kernel kills the child when the thread that started it ends, from the child's first instruction on.
#define CLINUX_ENDS_WITH_THREAD 4
/// The child stops before it becomes the program, as by SIGSTOP. For tests: a release build does not have this.
#define CLINUX_STOPS_BEFORE_EXEC 8
/// The child does not use `close_range`, as on an old kernel. For tests, as above.
#define CLINUX_LACKS_CLOSE_RANGE 16

/// Why a child did not become the program.
struct clinux_start_failure {
    /// The call that failed: a literal of this program.
    const char *call;
    int number;
};

/// Starts a program in which no signal is blocked. Returns its process id, and does not wait until the program runs. Then
/// all descriptors for writing to `report` are closed. If the program cannot run, the child writes a
/// `clinux_start_failure` there and ends, with status 127 if the program does not exist, else 126.
///
/// - streams: Descriptors with numbers from `count` on, unless the child keeps the streams of this process.
/// - directory: The working directory; null for that of the parent.
/// - options: The sum of the options above.
/// - report: The write end of a pipe, with a number from `count` on, close-on-exec.
/// - handle: Receives the descriptor of the process, close-on-exec. It still means this child after the child was reaped.
int clinux_start_program(
    const char *path, char *const *arguments, char *const *environment, const int *streams, int count,
    const char *directory, int options, int report, int *handle);
/// Waits for the end of a child. Returns its exit status, or 128 plus the number of the signal that ended it.
int clinux_wait_for_child(pid_t process);
/// Waits for the end of a child. Returns its exit status; if a signal ended it, returns 0 and stores the signal's number.
int clinux_reap(pid_t process, int *signal);
/// Creates a pipe: the end to read, then the end to write.
int clinux_pipe(int ends[2]);
/// Duplicates a descriptor to a number of at least `minimum`, close-on-exec.
int clinux_duplicate(int descriptor, int minimum);
/// Makes every write through the descriptor append to the file (O_APPEND).
int clinux_append_only(int descriptor);

// Events.

/// Creates an event counter, non-blocking.
int clinux_event_counter(void);
/// Creates an inotify instance, non-blocking.
int clinux_file_events(void);

/// The status of a file without its times: its device and its inode number, as in struct stat.
struct clinux_presence {
    uint64_t device;
    uint64_t number;
    uint64_t size;
    /// The bytes that are allocated in the file system.
    uint64_t allocated;
    uint32_t names;
    /// The type of the file, as in struct stat, without permissions.
    uint32_t kind;
};
/// Reads the status of an open file, with an empty path, or of the file at an absolute path. With a path the descriptor is
/// ignored, and a symbolic link is not followed. Returns 0 or the negated errno.
int clinux_presence(int file, const char *path, struct clinux_presence *presence);
/// Watches one file for writes, and for the close of a description that is open for writing.
int clinux_watch_writes(int instance, const char *path);
/// Watches a directory for names that are created in it or moved into it, and for files in it that are closed after
/// writing. Returns the watch's number.
int clinux_watch_arrivals(int instance, const char *path);
/// Watches a directory for files in it that are closed after writing or moved into it. Returns the watch's number.
int clinux_watch_completions(int instance, const char *path);

/// Watches a directory for names that are removed, moved or replaced in it, and for its own removal or move.
int clinux_watch_departures(int instance, const char *path);
int clinux_remove_watch(int instance, int watch);
/// Reads the watch number, the mask and the length of the event at `offset` of the bytes that were read from an inotify
/// instance. Returns the offset of the next event, or -EINVAL if there is no whole event.
int64_t clinux_next_event(const void *bytes, size_t count, size_t offset, int32_t *watch, uint32_t *mask);

/// True if the kernel has dropped events because its queue was full.
bool clinux_event_is_overflow(uint32_t mask);
/// True if a description that was open for writing was closed.
bool clinux_event_is_close(uint32_t mask);
/// True if the watch has ended, with its file or its file system.
bool clinux_event_is_end(uint32_t mask);

// The file system.

/// Returns the flag of open(2) that makes reads bypass the system's cache (O_DIRECT).
int clinux_direct_flag(void);
/// Reads the type of the file system of a file, as a number of statfs(2).
int clinux_file_system(int descriptor, uint64_t *kind);

// Waiting at a 32-bit word that several processes have mapped (futex).

/// Waits until a thread wakes the waiters of the word for a bit of the mask. Then returns 0. Returns -EAGAIN at once if the
/// word does not have the expected value, and -EINTR for a POSIX signal.
int clinux_sleep_at(const void *address, uint32_t expected, uint32_t mask);
/// The maximum number of words at which one thread can wait.
enum { clinux_word_limit = 128 };
/// Waits until another thread wakes the waiters of one of the words, for any mask. Returns the index of such a word. Returns
/// -EAGAIN at once if a word does not have its expected value, -EINTR for a POSIX signal, and another negated errno if the
/// system does not support this.
int clinux_sleep_at_any(const void *const *addresses, const uint32_t *expected, unsigned count);
/// Wakes all threads that wait at the word for a bit of the mask. Returns their number.
int clinux_wake_at(void *address, uint32_t mask);

// Threads.

/// Names the calling thread, at most 15 bytes.
int clinux_name_thread(const char *name);
/// Blocks all signals in the calling thread except those of its own faults, so that the program's other threads get them.
void clinux_block_signals(void);

// Words of a page that several processes have mapped. All are sequentially consistent.

static inline uint64_t clinux_load(const void *address) {
    return __atomic_load_n((const uint64_t *)address, __ATOMIC_SEQ_CST);
}

static inline void clinux_store(void *address, uint64_t value) {
    __atomic_store_n((uint64_t *)address, value, __ATOMIC_SEQ_CST);
}

static inline bool clinux_compare_exchange(void *address, uint64_t expected, uint64_t desired) {
    return __atomic_compare_exchange_n(
        (uint64_t *)address, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static inline uint32_t clinux_load_half(const void *address) {
    return __atomic_load_n((const uint32_t *)address, __ATOMIC_SEQ_CST);
}

static inline void clinux_increment_half(void *address) {
    __atomic_fetch_add((uint32_t *)address, 1, __ATOMIC_SEQ_CST);
}

static inline uint64_t clinux_fetch_or(void *address, uint64_t bits) {
    return __atomic_fetch_or((uint64_t *)address, bits, __ATOMIC_SEQ_CST);
}

// Mapped pages of files that another program may truncate.

struct clinux_watched_page;

/// Registers a page. If its file is truncated, the handler of bus errors replaces the page by zeros. Returns NULL if there is
/// no memory. The page has the system's page size.
struct clinux_watched_page *clinux_watch_page(void *address);
/// Removes a page from the register. Called before the page is unmapped.
void clinux_forget_page(struct clinux_watched_page *entry);
/// Returns true if the handler has replaced the page by zeros.
bool clinux_is_page_lost(struct clinux_watched_page *entry);
/// Installs the handler of SIGBUS, once. It passes bus errors at other addresses to the former handler.
int clinux_handle_bus_errors(void);

// Readiness of many descriptors.

/// Creates an epoll instance.
int clinux_readiness_set(void);
/// Reports once, with the key, that the descriptor is readable.
int clinux_add_readiness(int set, int descriptor, uint64_t key);
int clinux_remove_readiness(int set, int descriptor);
/// Reports to one waiting thread, with the key, each time that the descriptor becomes readable again (edge-triggered).
int clinux_add_edges(int set, int descriptor, uint64_t key);
/// Adds a connection. Reports each time that it becomes readable or writable, or ends.
int clinux_add_stream(int set, int descriptor, uint64_t key);
/// Waits until a descriptor is ready. Stores the keys of those that are ready, and returns their number.
int clinux_wait_ready(int set, uint64_t *keys, int count);

/// Returns true in the first thread of the process.
bool clinux_is_first_thread(void);
/// Creates a timer that becomes readable at its time. With `counts_suspension` it also counts while the machine is suspended.
int clinux_timer(bool counts_suspension);
/// Sets the timer to expire first after a time and then at an interval, in nanoseconds.
int clinux_set_timer(int timer, uint64_t first, uint64_t interval);
/// Stores the keys of the descriptors that are ready, without waiting. Returns their number.
int clinux_take_ready(int set, uint64_t *keys, int count);

// Programs that a process starts and monitors.

/// The number of signals.
#define CLINUX_SIGNAL_COUNT 64
/// Returns the signals that this process ignores, the first one in the lowest bit.
uint64_t clinux_ignored_signals(void);
/// Returns the signals that were ignored and blocked at the start of this process, the first one in the lowest bit.
void clinux_started_signals(uint64_t *ignored, uint64_t *blocked);
/// Ignores and blocks the given signals, and sets all others to their default action. For a child that is about to become
/// another program.
void clinux_set_signals(uint64_t ignored, uint64_t blocked);
/// Makes the kernel kill this process when the thread that started it ends. Returns -ESRCH if `parent` has already ended.
int clinux_end_with_parent(pid_t parent);
/// Makes all threads allocate from one heap.
void clinux_share_heap(void);
/// The maximum of `clinux_try_threads`.
#define CLINUX_TRIED_THREADS 64
/// Starts `count` threads that exist at the same time, and ends them. Returns how many could be started.
int clinux_try_threads(int count);
/// Returns the default stack size of a thread, in bytes; 0 if it is not known.
size_t clinux_stack_size(void);
/// Returns true if the process can map `count` more bytes of writable memory.
bool clinux_can_map(size_t count);
/// Returns true if the process has a limit of its address space or of its data segment.
bool clinux_has_limited_memory(void);
/// Returns true in a child that was forked after the first call of this function. Costs one load.
bool clinux_is_forked_child(void);
/// Returns freed memory, which the C library keeps otherwise, to the system. Takes one to some tens of milliseconds.
void clinux_return_heap(void);
/// Replaces this process by another program, which is searched in PATH as a shell does. Returns only if that fails.
int clinux_become(const char *name, char *const *arguments, char *const *environment);
/// Installs a handler for these signals, except ignored ones unless `takes_ignored`. For each signal it writes two bytes to the
/// descriptor: the number of the signal, and 1 if the kernel sent it, else 0.
int clinux_report_signals(const int *signals, int count, int descriptor, bool takes_ignored);

// The kernel's reports of links, addresses and routes (rtnetlink).

/// Creates a socket that receives every change of links, addresses and routes, non-blocking.
int clinux_route_socket(void);
/// Requests all links, addresses or routes; `kind` is RTM_GETLINK, RTM_GETADDR or RTM_GETROUTE.
int clinux_ask_routes(int socket, uint16_t kind, uint32_t sequence);
/// Receives one datagram of the kernel. Returns its length, or 0 for a datagram of another sender. Returns -ENOBUFS if reports were
/// dropped, -EMSGSIZE for a datagram that does not fit, and -EAGAIN if there is none.
int clinux_take_routes(int socket, void *bytes, size_t count);

/// Returns true if this process has more rights than the one that started it (`AT_SECURE`): by the set-user-ID or
/// set-group-ID bit of its file, or by capabilities.
static inline bool clinux_has_more_rights_than_caller(void) { return getauxval(AT_SECURE) != 0; }
