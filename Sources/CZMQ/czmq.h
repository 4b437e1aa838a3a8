/// libzmq as the system provides it (Debian: libzmq3-dev).

#pragma once

#include <zmq.h>
