// What the library says about itself. In C, so that these calls also work in a forked child, where a lock of Swift's runtime may be
// held by a thread that is not there.

#include "sharedcore.h"

uint32_t sc_abi(void) { return SC_ABI; }

const char *sc_code_name(int32_t code) {
    switch (code) {
    case SC_OK: return "ok";
    case SC_ERR_INVALID_ARGUMENT: return "invalidArgument";
    case SC_ERR_LIMIT_EXCEEDED: return "limitExceeded";
    case SC_ERR_GUARD_FAILED: return "guardFailed";
    case SC_ERR_CLOSED: return "closed";
    case SC_ERR_SESSION_ENDED: return "sessionEnded";
    case SC_ERR_CANCELLED: return "cancelled";
    case SC_ERR_OUTCOME_UNKNOWN: return "outcomeUnknown";
    case SC_ERR_UNSUPPORTED: return "unsupported";
    case SC_ERR_STORAGE_FULL: return "storageFull";
    case SC_ERR_FORBIDDEN: return "forbidden";
    case SC_ERR_UNAVAILABLE: return "unavailable";
    case SC_ERR_INCOMPATIBLE: return "incompatible";
    case SC_ERR_CORRUPT: return "corrupt";
    case SC_ERR_SYSTEM: return "system";
    case SC_ERR_REFUSED: return "refused";
    case SC_ERR_TIMEOUT: return "timeout";
    case SC_ERR_FENCED: return "fenced";
    case SC_ERR_SUPERSEDED: return "superseded";
    case SC_ERR_CORE_FAILED: return "coreFailed";
    case SC_ERR_NOT_FOUND: return "notFound";
    case SC_ERR_HANDLE: return "handle";
    case SC_ERR_FORKED: return "forked";
    case SC_NOTHING: return "nothing";
    case SC_ENDED: return "ended";
    default: return "unknown";
    }
}
