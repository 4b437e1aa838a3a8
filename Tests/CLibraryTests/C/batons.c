// A call that moves with its socket from the core of an Executor to that of a Main; a baton that is refused; and what cannot be given.

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "participant.h"

static const char *const kinds[] = {"test/1", "test/2"};

static int32_t participant_of(
    int32_t (*call)(sc_group, const sc_participant_options *, sc_participant *, sc_error *), sc_group group,
    const char *const *takes, size_t count, sc_participant *participant) {
    sc_participant_options options = SC_PARTICIPANT_OPTIONS_INIT;
    options.handover_timeout = options.handover_maximum_timeout = 60000;
    options.takes_batons = takes;
    options.takes_baton_count = count;
    options.baton_lifetime = 60000;
    return call(group, &options, participant, &error);
}

// An Executor that owns, with a call that moves.
static sc_core busy(sc_group group, const char *id, sc_participant *executor, sc_call *call) {
    CHECK_CODE(SC_OK, participant_of(sc_executor_open, group, NULL, 0, executor));
    CHECK_CODE(SC_OK, sc_executor_ask(*executor, "none", NULL, 120000, NULL, &error));
    sc_core core = next(*executor, SC_CORE_START);
    CHECK_CODE(SC_NOTHING, sc_core_apply_baton(core, (sc_call[SC_BATON_CALLS]){0}, &error));
    CHECK_CODE(SC_OK, sc_core_started(core, &error));
    sc_call_info info = {.id = id, .direction = SC_DIRECTION_INCOMING, .media = SC_AUDIO, .state = SC_CALL_ANSWERED};
    CHECK_CODE(SC_OK, sc_call_begin(core, &info, call, &error));
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_call_set_moves(*call, "Not A Kind", SC_NEEDS_BYTES, &error));
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_call_set_moves(*call, kinds[0], 0, &error));
    CHECK_CODE(SC_OK, sc_call_set_moves(*call, kinds[0], SC_NEEDS_BYTES, &error));
    CHECK_CODE(SC_OK, sc_call_set_moves(*call, NULL, SC_NEEDS_DESCRIPTORS, &error));
    CHECK_CODE(SC_OK, sc_call_set_moves(*call, kinds[0], SC_NEEDS_DESCRIPTORS, &error));
    return core;
}

// Has a core give a baton to a Main that takes its kind. Returns the core of that Main, which is told to start, with the baton's bytes.
static sc_core give(
    sc_participant executor, sc_core core, const char *id, int32_t descriptor, sc_group main_group, sc_participant *main) {
    sc_baton baton = SC_BATON_INIT;
    baton.kind = kinds[0];
    baton.bytes = (const uint8_t *)"a\0b";
    baton.byte_count = 3;
    baton.calls = &id;
    baton.call_count = 1;
    baton.descriptors = &descriptor;
    baton.descriptor_count = 1;
    // No Main has asked.
    CHECK_CODE(SC_ERR_REFUSED, sc_core_give_baton(core, &baton, &error));
    CHECK_CODE(SC_OK, participant_of(sc_main_start, main_group, kinds, 2, main));
    sc_participant_event event;
    CHECK_CODE(SC_OK, sc_participant_next(executor, 30000, &event, &error));
    CHECK(event.kind == SC_CORE_STOP && strcmp(event.reason, "handover") == 0 && event.reach == SC_REACH_DESCRIPTORS);
    CHECK(event.take_count == 2 && strcmp(event.takes[0], kinds[0]) == 0 && strcmp(event.takes[1], kinds[1]) == 0);
    sc_participant_event_free(&event);
    sc_participant_event_free(&event);
    // What is refused leaves the core as it is.
    sc_baton wrong = baton;
    wrong.size--;
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_core_give_baton(core, &wrong, &error));
    wrong = baton;
    wrong.byte_count = (64 << 10) + 1;
    wrong.bytes = calloc(1, wrong.byte_count);
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_core_give_baton(core, &wrong, &error));
    free((void *)wrong.bytes);
    wrong = baton;
    int32_t closed = 1000000;
    wrong.descriptors = &closed;
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_core_give_baton(core, &wrong, &error));
    wrong = baton;
    wrong.call_count = 0;
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_core_give_baton(core, &wrong, &error));
    CHECK_CODE(SC_OK, sc_core_give_baton(core, &baton, &error));
    CHECK_CODE(SC_ERR_REFUSED, sc_core_give_baton(core, &baton, &error));

    CHECK_CODE(SC_OK, sc_participant_next(*main, 30000, &event, &error));
    CHECK(event.kind == SC_CORE_START && event.baton != NULL && event.baton->size == sizeof(sc_baton));
    CHECK(strcmp(event.baton->kind, kinds[0]) == 0 && event.baton->from > 0 && event.baton->from < event.epoch);
    CHECK(event.baton->byte_count == 3 && memcmp(event.baton->bytes, "a\0b", 3) == 0);
    CHECK(event.baton->call_count == 1 && strcmp(event.baton->calls[0], id) == 0);
    sc_core next_core = event.core;
    sc_participant_event_free(&event);
    return next_core;
}

// The end of a baton, as its core hears it.
static void ended(sc_participant executor, sc_core core, int32_t end, const char *reason) {
    sc_participant_event event;
    CHECK_CODE(SC_OK, sc_participant_next(executor, 30000, &event, &error));
    CHECK(event.kind == SC_BATON_ENDED && event.core == core && event.baton_end == end && strcmp(event.reason, reason) == 0);
    sc_participant_event_free(&event);
    CHECK_CODE(SC_OK, sc_core_stopped(core, &error));
    CHECK_CODE(SC_ERR_HANDLE, sc_core_stopped(core, &error));
}

// Checks the numbers of calls in the status.
static void counts(sc_group group, uint64_t open, uint64_t moving, uint64_t ended) {
    const sc_group_status *status;
    CHECK_CODE(SC_OK, sc_status(group, &status, &error));
    CHECK(status->open_call_count == open && status->moving_call_count == moving && status->ended_call_count == ended);
    sc_status_free(&status);
}

static void moves(sc_group executor_group, sc_group main_group) {
    sc_participant executor, main;
    sc_call call, moved[SC_BATON_CALLS];
    int sockets[2];
    int32_t descriptors[SC_BATON_DESCRIPTORS];
    size_t count;
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) == 0);
    sc_core core = busy(executor_group, "call-1", &executor, &call);
    counts(main_group, 1, 0, 0);
    sc_core next_core = give(executor, core, "call-1", sockets[0], main_group, &main);
    counts(main_group, 1, 1, 0);
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_core_take_descriptors(next_core, NULL, &count, &error));
    CHECK_CODE(SC_OK, sc_core_take_descriptors(next_core, descriptors, &count, &error));
    CHECK(count == 1 && descriptors[0] != sockets[0] && (fcntl(descriptors[0], F_GETFD) & FD_CLOEXEC) != 0);
    int32_t again[SC_BATON_DESCRIPTORS];
    CHECK_CODE(SC_OK, sc_core_take_descriptors(next_core, again, &count, &error));
    CHECK(count == 0);
    CHECK_CODE(SC_OK, sc_core_apply_baton(next_core, moved, &error));
    CHECK(moved[0] != 0 && moved[1] == 0);
    CHECK_CODE(SC_ERR_GUARD_FAILED, sc_core_apply_baton(next_core, (sc_call[SC_BATON_CALLS]){0}, &error));
    CHECK_CODE(SC_OK, sc_core_started(next_core, &error));
    next(main, SC_STARTED);
    counts(main_group, 1, 0, 0);
    CHECK_CODE(SC_NOTHING, sc_core_take_descriptors(next_core, descriptors, &count, &error));
    CHECK_CODE(SC_NOTHING, sc_core_refuse_baton(next_core, NULL, &error));
    ended(executor, core, SC_BATON_APPLIED, "applied");
    // The program closes what it gave and got; the library has no duplicate any more.
    char byte = 'x';
    CHECK(write(descriptors[0], &byte, 1) == 1 && read(sockets[1], &byte, 1) == 1);
    CHECK(close(sockets[0]) == 0 && close(descriptors[0]) == 0);
    CHECK(read(sockets[1], &byte, 1) == 0 && close(sockets[1]) == 0);

    sc_call_list list;
    CHECK_CODE(SC_ERR_GUARD_FAILED, sc_call_change(call, SC_CALL_HELD, &error));
    CHECK_CODE(SC_OK, sc_call_end(moved[0], SC_END_HUNG_UP, NULL, &error));
    CHECK_CODE(SC_OK, sc_calls(main_group, &list, &error));
    CHECK(list.count == 1 && list.calls[0].end_reason == SC_END_HUNG_UP);
    sc_call_list_free(&list);
    counts(main_group, 0, 0, 1);
    end_main(main, next_core);
    CHECK_CODE(SC_OK, sc_close(call));
    CHECK_CODE(SC_OK, sc_close(executor));
}

// A core that cannot use the baton. The descriptors that it does not take are closed.
static void refused(sc_group executor_group, sc_group main_group) {
    sc_participant executor, main;
    sc_call call;
    int sockets[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) == 0);
    sc_core core = busy(executor_group, "call-2", &executor, &call);
    sc_core next_core = give(executor, core, "call-2", sockets[0], main_group, &main);
    CHECK_CODE(SC_OK, sc_core_refuse_baton(next_core, "no line", &error));
    CHECK_CODE(SC_OK, sc_core_started(next_core, &error));
    next(main, SC_STARTED);
    ended(executor, core, SC_BATON_FAILED, "failed");
    char byte;
    CHECK(close(sockets[0]) == 0 && read(sockets[1], &byte, 1) == 0 && close(sockets[1]) == 0);
    sc_call_list list;
    CHECK_CODE(SC_OK, sc_calls(main_group, &list, &error));
    CHECK(list.count == 2 && list.calls[0].end_reason == SC_END_LOST);
    sc_call_list_free(&list);
    end_main(main, next_core);
    CHECK_CODE(SC_OK, sc_close(call));
    CHECK_CODE(SC_OK, sc_close(executor));
}

// Times that a configuration refuses. Each is refused before the participant begins.
static void wrong_times(sc_group group) {
    static const int64_t lifetimes[] = {-1, 1, 999, 60001, INT64_MAX, INT64_MIN};
    sc_participant participant;
    for (size_t index = 0; index < sizeof lifetimes / sizeof *lifetimes; index++) {
        sc_participant_options options = SC_PARTICIPANT_OPTIONS_INIT;
        options.baton_lifetime = lifetimes[index];
        CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_main_start(group, &options, &participant, &error));
        char number[32];
        snprintf(number, sizeof number, "is %lld ms", (long long)lifetimes[index]);
        CHECK(strcmp(error.location, "baton_lifetime") == 0 && strstr(error.message, number) != NULL);
    }
    for (int index = 0; index < 6; index++) {
        sc_participant_options options = SC_PARTICIPANT_OPTIONS_INIT;
        int64_t *times[] = {&options.handover_timeout, &options.stop_timeout, &options.executor_budget, &options.core_linger,
            &options.handover_maximum_timeout, &options.wake_timeout};
        *times[index] = SC_FOREVER;
        CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_main_start(group, &options, &participant, &error));
    }
    sc_participant_options options = SC_PARTICIPANT_OPTIONS_INIT;
    options.handover_timeout = 6000;
    // The default of the maximum is 5 s.
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_main_start(group, &options, &participant, &error));
    CHECK(strstr(error.message, "6000 ms") != NULL && strstr(error.message, "5000 ms") != NULL);
    options.handover_maximum_timeout = 6000;
    options.baton_lifetime = 1000;
    CHECK_CODE(SC_OK, sc_main_start(group, &options, &participant, &error));
    CHECK_CODE(SC_OK, sc_close(participant));
}

static void wrong_options(sc_group group) {
    static const char *const five[] = {"a", "b", "c", "d", "e"}, *const none[] = {NULL}, *const bad[] = {"A"};
    sc_participant participant;
    CHECK_CODE(SC_ERR_LIMIT_EXCEEDED, participant_of(sc_main_start, group, five, 5, &participant));
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, participant_of(sc_main_start, group, none, 1, &participant));
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, participant_of(sc_main_start, group, bad, 1, &participant));
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, participant_of(sc_main_start, group, NULL, 1, &participant));
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    sc_group executor_group = open_group(arguments[1], "executor"), main_group = open_group(arguments[1], "main");
    wrong_options(main_group);
    wrong_times(main_group);
    moves(executor_group, main_group);
    refused(executor_group, main_group);
    CHECK_CODE(SC_OK, sc_close(executor_group));
    CHECK_CODE(SC_OK, sc_close(main_group));
    puts("batons: fine");
    return 0;
}
