// Participants whose core is the test itself.

#ifndef PARTICIPANT_H
#define PARTICIPANT_H

#include "check.h"

// Takes the next event of a participant, which is of a kind, and returns its core.
static inline sc_core next(sc_participant participant, int32_t kind) {
    sc_participant_event event;
    CHECK_CODE(SC_OK, sc_participant_next(participant, 30000, &event, &error));
    CHECK(event.kind == kind && event.code == SC_OK);
    sc_core core = event.core;
    sc_participant_event_free(&event);
    return core;
}

// Starts a Main, whose core runs when this returns.
static inline sc_core start_main(sc_group group, sc_participant *participant) {
    CHECK_CODE(SC_OK, sc_main_start(group, NULL, participant, &error));
    sc_core core = next(*participant, SC_CORE_START);
    CHECK_CODE(SC_OK, sc_core_started(core, &error));
    next(*participant, SC_STARTED);
    return core;
}

// Ends a participant whose core runs, and closes it.
static inline void end_main(sc_participant participant, sc_core core) {
    CHECK_CODE(SC_OK, sc_participant_end(participant, &error));
    next(participant, SC_CORE_STOP);
    CHECK_CODE(SC_OK, sc_core_stopped(core, &error));
    next(participant, SC_PARTICIPANT_ENDED);
    CHECK_CODE(SC_OK, sc_close(participant));
}

#endif
