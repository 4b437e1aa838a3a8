/// libpq as the system provides it (Debian: libpq-dev).

#pragma once

#if __has_include(<postgresql/libpq-fe.h>)
#include <postgresql/libpq-fe.h>
#elif __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#error "libpq is missing: `apt-get install libpq-dev`"
#endif
