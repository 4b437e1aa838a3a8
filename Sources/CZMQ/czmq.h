/// libzmq as the system provides it (Debian: libzmq3-dev).

#pragma once

#if !__has_include(<zmq.h>)
#error "libzmq is missing: `apt-get install libzmq3-dev`, or build without it by `swift build --disable-default-traits --product sharedcore`"
#endif
#include <zmq.h>
