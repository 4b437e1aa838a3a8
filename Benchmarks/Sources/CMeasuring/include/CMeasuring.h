// What the C programs share that measure the machine's limits and its services.
#pragma once

#include <spawn.h>
#include <stdint.h>
#include <sys/types.h>

/// The machine's clock, in nanoseconds since it started.
uint64_t measuring_now(void);

/// Says what went wrong and ends the program.
_Noreturn void measuring_fail(const char *what, int error);

/// Says that what would be measured is not installed here, and ends the program in order.
_Noreturn void measuring_absent(const char *what);

/// Starts a program by its path.
pid_t measuring_start(char *const *arguments, posix_spawn_file_actions_t *actions);

/// Ends this process when its parent does.
void measuring_end_with_parent(void);

/// Takes `count` samples of what `word` names, in nanoseconds. Whether it knows the word.
typedef int (*measuring_take)(const char *word, int count, double *samples);

/// Prints `ready`; then each line of the input is an order, `WORD COUNT`, that is answered by `done` and so many numbers.
/// Returns at the end of the input.
int measuring_serve(measuring_take take);

/// A way from one process to another and back.
struct measuring_way {
    /// Sends a number to the other side.
    void (*send)(uint64_t value);
    /// Waits for a number of the other side.
    uint64_t (*receive)(void);
};

/// Sends the time `count` times; the other side answers each with how long it was on its way.
void measuring_ping(const struct measuring_way *way, int count, double *samples);

/// The other side. Does not return.
_Noreturn void measuring_echo(const struct measuring_way *way);
