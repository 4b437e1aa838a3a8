/// libzmq as the system provides it (Debian: libzmq3-dev to build, libzmq5 to run), loaded at the first call: a program whose group needs
/// no hub starts without it.
///
/// This module defines the functions of libzmq that are used. Where the library cannot be loaded they fail with
/// `CZMQ_NOT_LOADED`, and `czmq_problem` has the reason.

#pragma once

#if !__has_include(<zmq.h>)
#error "libzmq is missing: `apt-get install libzmq3-dev`, or build without it by `swift build --disable-default-traits --product sharedcore`"
#endif
#include <errno.h>
#include <zmq.h>

/// The library's name: that of its interface, which all releases of version 4 share.
#define CZMQ_LIBRARY "libzmq.so.5"

/// The error number of all calls where the library is not there.
#define CZMQ_NOT_LOADED ENOPKG

/// Returns why the library cannot be loaded; null if it is, or is now.
const char *czmq_problem(void);
