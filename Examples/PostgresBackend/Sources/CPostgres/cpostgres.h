/// libpq as the system provides it (Debian: libpq-dev).

#pragma once

#if __has_include(<postgresql/libpq-fe.h>)
#include <postgresql/libpq-fe.h>
#elif __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#error "libpq is missing: `apt-get install libpq-dev`"
#endif

#include <sys/syscall.h>
#include <unistd.h>

/// Returns a descriptor that is readable when the process has ended; -1 with errno. Older C libraries have no function for it.
static inline int postgres_pidfd_open(int pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }
