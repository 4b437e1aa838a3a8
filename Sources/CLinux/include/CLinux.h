/// What the Swift overlay of the C library leaves out of Linux. Every function of this header returns what its system
/// call gives or, when that fails, the negated errno, so that no errno is read too late.

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

/// Takes the lock of a byte for writing; -EAGAIN when another description has it.
int clinux_lock_byte(int descriptor, int64_t offset);
/// Gives the lock of a byte back.
int clinux_unlock_byte(int descriptor, int64_t offset);
/// 1 when another description has the byte locked, 0 when none has. Takes nothing.
int clinux_probe_byte(int descriptor, int64_t offset);
/// Finds a byte that another description has locked among the `length` bytes from `offset` on; any, not the first.
/// 1 when there is one, 0 when there is none. Takes nothing.
int clinux_find_locked_byte(int descriptor, int64_t offset, int64_t length, int64_t *found);

// Files.

/// The highest number at which a file is opened on purpose. The table of descriptors has room for it from the start.
#define CLINUX_HIGHEST_DESCRIPTOR 960

/// Opens a file in a directory that has no name: the kernel frees it with its last descriptor.
int clinux_open_unnamed(int directory);

/// Makes a file in memory that is freed with its last descriptor. The name is for people.
int clinux_memory_file(const char *name);
/// The same; it can be sealed.
int clinux_sealable_memory_file(const char *name);
/// Seals a file in memory: no process can change it any more.
int clinux_seal(int descriptor);
/// 1 when a file is sealed like that, 0 when it is not, or is no file in memory.
int clinux_is_sealed(int descriptor);

/// Gives a file that was opened without a name its name, unless that one is taken.
int clinux_name_file(int descriptor, int directory, const char *name);

/// Gives the space of a range back to the file system. The range reads as zeros from then on; the size stays.
int clinux_punch(int descriptor, int64_t offset, int64_t length);

/// Renames and fails with -EEXIST where the new name stands already, and with -EINVAL where the file system cannot do
/// that.
int clinux_move_without_replacing(int from_directory, const char *from, int to_directory, const char *to);
/// Gives a file a second name and fails with -EEXIST where that stands already.
int clinux_link(int from_directory, const char *from, int to_directory, const char *to);
/// 1 while anybody has the file of this read-only descriptor open for writing, 0 when nobody has. Fails where the file
/// system cannot tell, with -EINVAL, and for another user's file, with -EACCES.
int clinux_probe_writers(int descriptor);
/// Reserves space, so that no later write or mapped store in the range can run out of it.
int clinux_allocate(int descriptor, int64_t offset, int64_t length);

/// Reads what is attached to a file by a name; its length.
int clinux_attribute(const char *path, const char *name, void *value, size_t count);

// Processes.

int clinux_open_process(pid_t process);
int clinux_signal_process(int process_descriptor, int signal);

/// Leaves the terminal and the process group of the parent.
#define CLINUX_OWN_SESSION 1
/// Has the streams of this process and the signals that it ignores, and inherits as any child does; the given descriptors
/// stay open in it under their numbers. Otherwise it has the given descriptors alone, from 0 on, and ignores no signal.
#define CLINUX_KEEPS_STREAMS 2
/// The kernel kills it when the thread that starts it is gone, from its first instruction on.
#define CLINUX_ENDS_WITH_THREAD 4
/// Stops before it becomes the program, as by SIGSTOP. For tests: a release build has no such place.
#define CLINUX_STOPS_BEFORE_EXEC 8
/// Does without `close_range`, as on an old kernel. For tests, as above.
#define CLINUX_LACKS_CLOSE_RANGE 16

/// Why a child did not become the program.
struct clinux_start_failure {
    /// The call that failed: a literal of this program.
    const char *call;
    int number;
};

/// Starts a program, in which no signal is blocked; gives its process number, and does not wait until it runs. When
/// it does, all descriptors for writing to `report` are closed. When that fails, a `clinux_start_failure` is written there
/// and the child ends, with status 127 where the program is not there, else 126.
///
/// - streams: Numbers from `count` on, unless it keeps the streams of this process.
/// - directory: Where it works; null for the directory of its parent.
/// - options: The sum of the above.
/// - report: The end of a pipe that is written, a number from `count` on, closed in programs that are started.
/// - handle: Where the descriptor of the process is stored, closed in programs that are started. It is the child's also
///   after the child has ended and was reaped.
int clinux_start_program(
    const char *path, char *const *arguments, char *const *environment, const int *streams, int count,
    const char *directory, int options, int report, int *handle);
/// Waits for the end of a child; its exit status, or 128 and the number of the signal that ended it.
int clinux_wait_for_child(pid_t process);
/// Waits for the end of a child; its exit status, or 0 and the number of the signal that ended it.
int clinux_reap(pid_t process, int *signal);
/// A pipe: where it is read, where it is written.
int clinux_pipe(int ends[2]);
/// Another number of the same description, `minimum` or more, closed in programs that are started.
int clinux_duplicate(int descriptor, int minimum);
/// Lets every write to the file go to its end.
int clinux_append_only(int descriptor);

// Events.

/// A new event counter, non-blocking.
int clinux_event_counter(void);
/// A new inotify instance, non-blocking.
int clinux_file_events(void);

/// What is known of a file without its times: the device it is on and its number there, as in struct stat.
struct clinux_presence {
    uint64_t device;
    uint64_t number;
    uint64_t size;
    /// The bytes that it takes of the file system.
    uint64_t allocated;
    uint32_t names;
    /// As in struct stat: what kind of file it is, and no permissions.
    uint32_t kind;
};
/// Looks at an open file, whose path is empty, or at what stands under an absolute path, where the descriptor says
/// nothing and a symbolic link is not followed; 0 or the negated error number.
int clinux_presence(int file, const char *path, struct clinux_presence *presence);
/// Watches one file for writes and for the closing of a description that could write.
int clinux_watch_writes(int instance, const char *path);
/// Watches a directory for names that are created in it or moved into it, and for files in it that are closed after
/// writing.
int clinux_watch_arrivals(int instance, const char *path);
/// Watches a directory for files in it that are closed after writing or moved into it; gives the watch's number.
int clinux_watch_completions(int instance, const char *path);

/// Watches a directory for names that are removed, moved or replaced in it, and for its own removal or move.
int clinux_watch_departures(int instance, const char *path);
int clinux_remove_watch(int instance, int watch);
/// Reads the watch number, the mask and the length of the event at `offset` of what was read from an instance, and
/// returns the offset of the next event, or -EINVAL when no whole event is there.
int64_t clinux_next_event(const void *bytes, size_t count, size_t offset, int32_t *watch, uint32_t *mask);

/// The kernel dropped events because nobody read them.
bool clinux_event_is_overflow(uint32_t mask);
/// Whether somebody who could write has closed the file.
bool clinux_event_is_close(uint32_t mask);
/// The watch is gone, with its file or its file system.
bool clinux_event_is_end(uint32_t mask);

// The file system.

/// The flag by which a file is opened to be read past the system's cache.
int clinux_direct_flag(void);
/// The number that tells what kind of file system a file is on.
int clinux_file_system(int descriptor, uint64_t *kind);

// Sleeping at a 32-bit word that several processes have mapped.

/// Sleeps until somebody wakes those who sleep at the word for a bit of the mask. Returns 0 then, -EAGAIN at once when
/// the word is not what was expected, and -EINTR for a signal.
int clinux_sleep_at(const void *address, uint32_t expected, uint32_t mask);
/// The most words at which one thread can sleep.
enum { clinux_word_limit = 128 };
/// Sleeps until another thread wakes the sleepers of one of the words, whatever its mask. Returns the index of such a word,
/// -EAGAIN at once if a word differs from its expected value, -EINTR for a POSIX signal, and another negative errno if the
/// system cannot do it.
int clinux_sleep_at_any(const void *const *addresses, const uint32_t *expected, unsigned count);
/// Wakes all who sleep at the word for a bit of the mask; gives their number.
int clinux_wake_at(void *address, uint32_t mask);

// Threads.

/// Names the calling thread, at most 15 bytes.
int clinux_name_thread(const char *name);
/// Lets the calling thread take no signal but its own faults: they are for the program's own threads.
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

// Pages of files that another program may cut off while they are mapped.

struct clinux_watched_page;

/// Has the handler of bus errors put memory of zeros in the place of this page when it is gone; NULL without memory.
/// The page is as large as one of the system.
struct clinux_watched_page *clinux_watch_page(void *address);
/// Before the page is unmapped.
void clinux_forget_page(struct clinux_watched_page *entry);
/// Whether zeros stand in for the page.
bool clinux_is_page_lost(struct clinux_watched_page *entry);
/// Installs the handler of SIGBUS, once. A bus error elsewhere goes to the former one.
int clinux_handle_bus_errors(void);

// Readiness of many descriptors.

/// A new epoll instance.
int clinux_readiness_set(void);
/// Reports once, with the key, that the descriptor is readable.
int clinux_add_readiness(int set, int descriptor, uint64_t key);
int clinux_remove_readiness(int set, int descriptor);
/// Reports, with the key and to one thread that waits, each time that the descriptor becomes readable anew.
int clinux_add_edges(int set, int descriptor, uint64_t key);
/// Adds a connection: each time that it becomes readable or writable, or ends, is reported.
int clinux_add_stream(int set, int descriptor, uint64_t key);
/// The keys of what became readable; waits until there is one.
int clinux_wait_ready(int set, uint64_t *keys, int count);

/// Whether the calling thread is the one that the process began with.
bool clinux_is_first_thread(void);
/// A timer that is readable when its time has come; whether the time counts in which the machine is suspended.
int clinux_timer(bool counts_suspension);
/// Sets it to come first after a time and then at an interval, in nanoseconds.
int clinux_set_timer(int timer, uint64_t first, uint64_t interval);
/// Gives the keys of those that are ready, without waiting; their number.
int clinux_take_ready(int set, uint64_t *keys, int count);

// Programs that a process attends to.

/// How many signals there are.
#define CLINUX_SIGNAL_COUNT 64
/// The signals that this process ignores, the first one in the lowest bit.
uint64_t clinux_ignored_signals(void);
/// The signals that were ignored and blocked when this process began, the first one in the lowest bit.
void clinux_started_signals(uint64_t *ignored, uint64_t *blocked);
/// Has signals ignored and blocked, and all others do what they do by default. For what is about to become another
/// program.
void clinux_set_signals(uint64_t ignored, uint64_t blocked);
/// Has the kernel kill this process when the thread that started it is gone. Gives -ESRCH when it is gone already.
int clinux_end_with_parent(pid_t parent);
/// Has all threads take memory from one heap.
void clinux_share_heap(void);
/// The most threads that `clinux_try_threads` tries.
#define CLINUX_TRIED_THREADS 64
/// Starts so many threads at once, and ends them. Gives how many could be started.
int clinux_try_threads(int count);
/// The bytes of a thread's stack where nothing else was said; 0 where that is not known.
size_t clinux_stack_size(void);
/// Whether the process can have so many bytes more of address space, to be written to.
bool clinux_can_map(size_t count);
/// Whether the process has a limit of its address space or of its data.
bool clinux_has_limited_memory(void);
/// Whether the calling process is a child that was forked after the first call of this. Costs a load.
bool clinux_is_forked_child(void);
/// Gives memory that was freed back to the system, where the C library keeps it otherwise. Takes milliseconds, or tens of them.
void clinux_return_heap(void);
/// Becomes another program, which is looked for where the shell looks. Returns only when that fails.
int clinux_become(const char *name, char *const *arguments, char *const *environment);
/// Writes two bytes to the descriptor for each of these signals that comes, unless it is ignored: its number, and
/// whether the kernel sent it.
int clinux_report_signals(const int *signals, int count, int descriptor);

// The kernel's reports of links, addresses and routes (rtnetlink).

/// A new socket that hears of every change of links, addresses and routes, non-blocking.
int clinux_route_socket(void);
/// Asks for all links, addresses or routes; `kind` is RTM_GETLINK, RTM_GETADDR or RTM_GETROUTE.
int clinux_ask_routes(int socket, uint16_t kind, uint32_t sequence);
/// Takes one datagram of the kernel; its length, 0 for one of somebody else, -ENOBUFS when reports were dropped,
/// -EMSGSIZE for one that did not fit, -EAGAIN when there is none.
int clinux_take_routes(int socket, void *bytes, size_t count);

/// Whether this process has more rights than the one that started it (`AT_SECURE`): by the bit of the user or group of its
/// program's file, or by capabilities.
static inline bool clinux_has_more_rights_than_caller(void) { return getauxval(AT_SECURE) != 0; }
