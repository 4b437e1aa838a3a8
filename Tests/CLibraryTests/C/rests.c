// Critical sections of a core; and a Main that rests, whose core answers too late or twice.

#include <unistd.h>

#include "participant.h"

static sc_participant holder;

static int32_t code_of(sc_participant participant, int32_t kind) {
    sc_participant_event event;
    CHECK_CODE(SC_OK, sc_participant_next(participant, 30000, &event, &error));
    CHECK(event.kind == kind);
    int32_t code = event.code;
    sc_participant_event_free(&event);
    return code;
}

static void nothing(sc_participant participant) {
    sc_participant_event event;
    CHECK_CODE(SC_NOTHING, sc_participant_next(participant, 300, &event, &error));
}

// Rests again after a rest that has failed, which the Main may still be about to end.
static void rest_again(sc_participant main) {
    for (;;) {
        CHECK_CODE(SC_OK, sc_main_rest(main, &error));
        sc_participant_event event;
        CHECK_CODE(SC_OK, sc_participant_next(main, 30000, &event, &error));
        int32_t kind = event.kind, code = event.code;
        sc_participant_event_free(&event);
        if (kind == SC_CORE_REST) return;
        CHECK(kind == SC_RESTED && code == SC_ERR_REFUSED);
        usleep(10000);
    }
}

static void sections(sc_core core) {
    CHECK_CODE(SC_OK, sc_core_enter_critical_section(core, 60000, &error));
    CHECK_CODE(SC_ERR_GUARD_FAILED, sc_core_enter_critical_section(core, 60000, &error));
    CHECK_CODE(SC_OK, sc_core_leave_critical_section(core, &error));
    CHECK_CODE(SC_OK, sc_core_enter_critical_section(core, INT64_MIN, &error));
    CHECK_CODE(SC_OK, sc_core_leave_critical_section(core, &error));
    CHECK_CODE(SC_ERR_HANDLE, sc_core_enter_critical_section(0, 1, &error));
}

// An Executor in a section hands over when it has left that, and not before.
static void section_and_hand_over(const char *directory) {
    sc_participant_options options = SC_PARTICIPANT_OPTIONS_INIT;
    options.handover_timeout = options.handover_maximum_timeout = 60000;
    sc_group executor_group = open_group(directory, "executor"), main_group = open_group(directory, "main");
    sc_participant executor, main;
    CHECK_CODE(SC_OK, sc_executor_open(executor_group, &options, &executor, &error));
    CHECK_CODE(SC_OK, sc_executor_ask(executor, "none", NULL, 60000, NULL, &error));
    sc_core core = next(executor, SC_CORE_START);
    CHECK_CODE(SC_OK, sc_core_started(core, &error));
    sections(core);
    CHECK_CODE(SC_OK, sc_core_enter_critical_section(core, 60000, &error));
    CHECK_CODE(SC_OK, sc_main_start(main_group, &options, &main, &error));
    nothing(executor);
    nothing(main);
    CHECK_CODE(SC_OK, sc_core_leave_critical_section(core, &error));
    next(executor, SC_CORE_STOP);
    CHECK_CODE(SC_ERR_GUARD_FAILED, sc_core_enter_critical_section(core, 1000, &error));
    CHECK_CODE(SC_OK, sc_core_stopped(core, &error));
    CHECK_CODE(SC_ERR_HANDLE, sc_core_leave_critical_section(core, &error));
    core = next(main, SC_CORE_START);
    CHECK_CODE(SC_OK, sc_core_started(core, &error));
    next(main, SC_STARTED);
    end_main(main, core);
    CHECK_CODE(SC_OK, sc_close(executor));
    CHECK_CODE(SC_OK, sc_close(executor_group));
    CHECK_CODE(SC_OK, sc_close(main_group));
}

static void rests(sc_group group) {
    sc_participant_options options = SC_PARTICIPANT_OPTIONS_INIT;
    // The time in which a core has to become quiet.
    options.stop_timeout = 2000;
    sc_participant main;
    CHECK_CODE(SC_OK, sc_main_start(group, &options, &main, &error));
    sc_core core = next(main, SC_CORE_START);
    CHECK_CODE(SC_OK, sc_core_started(core, &error));
    next(main, SC_STARTED);

    // An answer that comes after its time.
    CHECK_CODE(SC_OK, sc_main_rest(main, &error));
    next(main, SC_CORE_REST);
    CHECK(code_of(main, SC_RESTED) == SC_ERR_CORE_FAILED);
    CHECK_CODE(SC_OK, sc_core_rested(core, &error));
    nothing(main);

    // One that comes when the next rest has begun: the core is quiet only with the answer to that.
    rest_again(main);
    CHECK(code_of(main, SC_RESTED) == SC_ERR_CORE_FAILED);
    rest_again(main);
    CHECK_CODE(SC_OK, sc_core_rested(core, &error));
    nothing(main);
    CHECK_CODE(SC_OK, sc_core_rested(core, &error));
    next(main, SC_RESTED);
    const sc_group_status *status;
    uint64_t session;
    CHECK_CODE(SC_OK, sc_session(group, &session, &error));
    CHECK_CODE(SC_OK, sc_status(group, &status, &error));
    CHECK(status->rest != NULL && status->rest->size == sizeof(sc_rest_info) && status->rest->session == session);
    CHECK(status->rest->process.pid == getpid() && status->rest->holder.pid == getpid() && status->rest->wake == NULL);
    CHECK(status->owner != NULL && status->owner->session != session && status->rest->epoch == status->owner->epoch);
    sc_status_free(&status);
    CHECK_CODE(SC_OK, sc_main_resume(main, &error));
    next(main, SC_CORE_RESUME);
    // The answer to a rest, once more: the core has not resumed by it.
    CHECK_CODE(SC_OK, sc_core_rested(core, &error));
    nothing(main);
    CHECK_CODE(SC_OK, sc_core_resumed(core, &error));
    next(main, SC_RESUMED);
    CHECK_CODE(SC_OK, sc_status(group, &status, &error));
    CHECK(status->rest == NULL);
    sc_status_free(&status);

    // The answer to the resume answers no rest either.
    CHECK_CODE(SC_OK, sc_main_rest(main, &error));
    next(main, SC_CORE_REST);
    CHECK_CODE(SC_OK, sc_core_resumed(core, &error));
    CHECK(code_of(main, SC_RESTED) == SC_ERR_CORE_FAILED);
    end_main(main, core);
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    section_and_hand_over(arguments[1]);
    sc_group group = open_group(arguments[1], "main"), holder_group = open_group(arguments[1], "holder");
    CHECK_CODE(SC_OK, sc_holder_open(holder_group, NULL, &holder, &error));
    rests(group);
    CHECK_CODE(SC_OK, sc_close(holder));
    CHECK_CODE(SC_OK, sc_close(holder_group));
    CHECK_CODE(SC_OK, sc_close(group));
    puts("rests: fine");
    return 0;
}
