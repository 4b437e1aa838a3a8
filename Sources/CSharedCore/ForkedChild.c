#include "forked_child.h"

#include <string.h>

int32_t sharedcore_refuse_forked_child(sc_error *error) {
    static const char message[] =
        "This process was forked after the library was used, and has none of its threads. Use the library in the parent, or start the "
        "child as a program of its own.";
    _Static_assert(sizeof message <= sizeof error->message, "the message fits");
    if (error) {
        memset(error, 0, sizeof *error);
        error->code = SC_ERR_FORKED;
        memcpy(error->message, message, sizeof message);
        memcpy(error->location, "process", sizeof "process");
    }
    return SC_ERR_FORKED;
}
