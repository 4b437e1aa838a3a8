// Orders about calls, and those that open participants: one, or a crowd of Executors.

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "player.h"

#define ORDER(name) static int32_t name##_order(const arguments *given, FILE *answer)

// MARK: - Calls

static const struct {
    const char *name;
    int32_t state, end_reason;
} states[] = {
    {"incoming", SC_CALL_INCOMING, 0}, {"ringing", SC_CALL_RINGING, 0}, {"answered", SC_CALL_ANSWERED, 0},
    {"held", SC_CALL_HELD, 0}, {"remotelyHeld", SC_CALL_REMOTELY_HELD, 0}, {"hungUp", SC_CALL_ENDED, SC_END_HUNG_UP},
    {"missed", SC_CALL_ENDED, SC_END_MISSED}, {"declined", SC_CALL_ENDED, SC_END_DECLINED},
    {"lost", SC_CALL_ENDED, SC_END_LOST},
};
enum { STATE_COUNT = sizeof states / sizeof *states };

static const char *const commands[] = {"", "answer", "decline", "hold", "resume", "hangUp"};

static int state_of(const char *name) {
    for (int index = 0; index < STATE_COUNT; index++)
        if (strcmp(states[index].name, name) == 0) return index;
    return -1;
}

static call *find_call(const char *id) {
    for (int index = 0; index < 8; index++)
        if (strcmp(played->calls[index].id, id) == 0) return &played->calls[index];
    return NULL;
}

static int32_t say_written(int32_t code, FILE *answer) {
    fputs(code == SC_OK ? "written" : sc_code_name(code), answer);
    return SC_OK;
}

static int32_t begin(const arguments *given, bool moves, FILE *answer) {
    call *of = find_call(word(given, 0));
    int state = state_of(word(given, 1));
    if (of == NULL) of = find_call("");
    if (of == NULL || state < 0) return fail(SC_ERR_INVALID_ARGUMENT, "The peer cannot begin this call.");
    sc_call former = of->handle;
    memset(of, 0, sizeof *of);
    of->former = former;
    snprintf(of->id, sizeof of->id, "%s", word(given, 0));
    sc_call_info info = {.id = of->id, .from = "sip:ann", .to = "sip:bob", .account = "work",
        .direction = SC_DIRECTION_INCOMING, .media = SC_AUDIO | SC_VIDEO, .state = states[state].state};
    int32_t code = sc_call_begin(played->core, &info, &of->handle, &failure);
    int32_t needs = strcmp(word(given, 2), "bytes") == 0 ? SC_NEEDS_BYTES : SC_NEEDS_DESCRIPTORS;
    if (code == SC_OK && moves) code = sc_call_set_moves(of->handle, BATON_KIND, needs, &failure);
    return say_written(code, answer);
}

ORDER(call) { return begin(given, false, answer); }
ORDER(moving) { return begin(given, true, answer); }

// A change of the state. The end closes its handle: a change behind it is tried through another one of the same call.
static int32_t change(call *of, int state) {
    if (states[state].state != SC_CALL_ENDED) return sc_call_change(of->handle, states[state].state, &failure);
    int32_t code = sc_call_end(of->handle, states[state].end_reason, NULL, &failure);
    if (code == SC_OK) of->handle = of->former;
    return code;
}

ORDER(call_is) {
    call *of = find_call(word(given, 0));
    int state = state_of(word(given, 1));
    if (of == NULL || state < 0) return fail(SC_ERR_INVALID_ARGUMENT, "There is no such call here.");
    return say_written(change(of, state), answer);
}

ORDER(call_has) {
    call *of = find_call(word(given, 0));
    if (of == NULL) return fail(SC_ERR_INVALID_ARGUMENT, "There is no such call here.");
    int32_t code = sc_call_change_media(of->handle, strcmp(word(given, 1), "audio") == 0 ? SC_AUDIO : 0, &failure);
    if (code == SC_OK && given->count > 2) code = change(of, state_of(word(given, 2)));
    return say_written(code, answer);
}

ORDER(calls) {
    (void)given;
    sc_call_list list;
    int32_t code = sc_calls(played->group, &list, &failure);
    if (code != SC_OK) return code;
    for (size_t index = 0; index < list.count; index++) {
        const char *name = "failed";
        for (int state = 0; state < STATE_COUNT; state++)
            if (states[state].state == list.calls[index].state && states[state].end_reason == list.calls[index].end_reason)
                name = states[state].name;
        fprintf(answer, "%s%s=%s", index > 0 ? " " : "", list.calls[index].id, name);
    }
    sc_call_list_free(&list);
    return SC_OK;
}

ORDER(acknowledge_call) {
    int32_t acknowledged;
    int32_t code = sc_call_acknowledge(played->group, word(given, 0), &acknowledged, &failure);
    if (code == SC_OK) fputs(acknowledged ? "true" : "false", answer);
    return code;
}

static void take_commands(void *object) {
    call *of = object;
    sc_command command;
    int32_t kind, code;
    while ((code = sc_call_next_command(of->handle, 0, &command, &kind, &failure)) == SC_OK) {
        size_t count = strlen(of->obeyed);
        snprintf(of->obeyed + count, sizeof of->obeyed - count, "%s%s", count > 0 ? " " : "", commands[kind]);
        if (of->way == 'a') sc_command_accept(command, &failure);
        if (of->way == 'r') sc_command_refuse(command, "the line is dead", &failure);
    }
    if (code != SC_NOTHING) forget(of->handle);
}

ORDER(obey) {
    (void)answer;
    call *of = find_call(word(given, 0));
    int32_t descriptor;
    if (of == NULL) return fail(SC_ERR_INVALID_ARGUMENT, "There is no such call here.");
    of->way = word(given, 1)[0];
    // The first use begins to take commands.
    int32_t code = sc_descriptor(of->handle, &descriptor, &failure);
    if (code == SC_OK) attend(of->handle, take_commands, of);
    return code;
}

ORDER(obeyed) {
    call *of = find_call(word(given, 0));
    if (of != NULL) fputs(of->obeyed, answer);
    return SC_OK;
}

// A command that a thread sends, since the call waits for its end.
static struct sent {
    sc_group group;
    char id[64];
    int32_t command, code;
    int64_t timeout;
    atomic_bool is_done;
} sent_commands[16];

static void *send_command(void *object) {
    struct sent *of = object;
    sc_error own;
    of->code = sc_call_command(of->group, of->id, of->command, of->timeout, &own);
    of->is_done = true;
    return NULL;
}

ORDER(send) {
    (void)answer;
    struct sent *of = &sent_commands[number(given, 0) % 16];
    pthread_t thread;
    memset(of, 0, sizeof *of);
    of->group = played->group;
    snprintf(of->id, sizeof of->id, "%s", word(given, 2));
    of->timeout = (int64_t)number(given, 3);
    for (int32_t command = SC_COMMAND_ANSWER; command <= SC_COMMAND_HANG_UP; command++)
        if (strcmp(commands[command], word(given, 1)) == 0) of->command = command;
    if (pthread_create(&thread, NULL, send_command, of) != 0) return fail(SC_ERR_SYSTEM, "No thread can be made.");
    pthread_detach(thread);
    return SC_OK;
}

static bool is_done(const void *of) { return ((const struct sent *)of)->is_done; }
static bool is_pending(void *of) { return !is_done(of); }

ORDER(sent) {
    struct sent *of = &sent_commands[number(given, 0) % 16];
    static bool is_attended[16];
    bool *attended = &is_attended[number(given, 0) % 16];
    // The end of a thread shows in a round of the loop.
    if (!*attended) attend_ticks(is_pending, of);
    *attended = true;
    run_until(is_done, of);
    if (of->code == SC_OK) fputs("done", answer);
    else fprintf(answer, "failed %s", sc_code_name(of->code));
    return SC_OK;
}

static const named_order call_orders[] = {
    {"call", call_order}, {"moving", moving_order}, {"callIs", call_is_order}, {"callHas", call_has_order}, {"calls", calls_order},
    {"acknowledgeCall", acknowledge_call_order}, {"obey", obey_order}, {"obeyed", obeyed_order}, {"send", send_order},
    {"sent", sent_order}, {NULL, NULL},
};

// MARK: - A participant

ORDER(play) {
    (void)answer;
    return open_player(word(given, 0), word(given, 1), word(given, 2), word(given, 3), given, 4, &played);
}

ORDER(player) {
    order run = find_order(player_orders, word(given, 0));
    if (run == NULL) run = find_order(call_orders, word(given, 0));
    if (played == NULL || run == NULL) return fail(SC_ERR_INVALID_ARGUMENT, "A player knows no such order.");
    arguments rest = {.count = given->count - 1};
    memcpy(rest.words, given->words + 1, (size_t)rest.count * sizeof *rest.words);
    return run(&rest, answer);
}

// MARK: - A crowd

static struct {
    player **players;
    bool *are_served;
    size_t count;
    uint64_t first, served;
    char others[8192];
} crowd;

// Acknowledges each message when it has come, and finishes.
static bool serve(void *object) {
    (void)object;
    for (size_t index = 0; index < crowd.count; index++) {
        player *of = crowd.players[index];
        if (crowd.are_served[index] || !of->asks[1].is_answered) continue;
        crowd.are_served[index] = true;
        char expected[2][128];
        int32_t acknowledged = 0;
        for (int source = 0; source < 2; source++)
            snprintf(expected[source], sizeof expected[source], "message %s ann bob this is for call-%" PRIu64,
                source == 0 ? "core" : "inbox", crowd.first + index);
        const char *text = of->asks[1].text;
        if (strcmp(text, expected[0]) == 0 || strcmp(text, expected[1]) == 0)
            sc_taken_acknowledge(of->asks[1].taken, &acknowledged, &failure);
        if (acknowledged != 0) {
            crowd.served++;
        } else {
            size_t count = strlen(crowd.others);
            snprintf(crowd.others + count, sizeof crowd.others - count, "call-%" PRIu64 ": %s; ", crowd.first + index, text);
        }
        sc_executor_finish(of->participant, &failure);
    }
    return false;
}

static bool all_have_finished(const void *object) {
    (void)object;
    for (size_t index = 0; index < crowd.count; index++)
        if (!crowd.players[index]->has_finished) return false;
    return true;
}

ORDER(crowd) {
    (void)answer;
    crowd.first = number(given, 0);
    crowd.players = allocate(number(given, 1) * sizeof *crowd.players);
    crowd.are_served = allocate(number(given, 1) * sizeof *crowd.are_served);
    attend_ticks(serve, NULL);
    while (crowd.count < number(given, 1)) {
        char id[64];
        snprintf(id, sizeof id, "call-%" PRIu64, crowd.first + crowd.count);
        int32_t code =
            open_player("executor", id, word(given, 2), word(given, 3), given, 4, &crowd.players[crowd.count]);
        if (code == SC_OK) code = ask_for(crowd.players[crowd.count], 1, id, 120000, NULL, false);
        if (code != SC_OK) return code;
        crowd.count++;
    }
    return SC_OK;
}

ORDER(crowd_done) {
    (void)given;
    uint64_t core_starts = 0;
    run_until(all_have_finished, NULL);
    for (size_t index = 0; index < crowd.count; index++) {
        player *of = crowd.players[index];
        core_starts += of->core_starts;
        leave(of);
        sc_close(of->participant);
        sc_close(of->group);
    }
    fprintf(answer, "%" PRIu64 " %" PRIu64 " %s", crowd.served, core_starts, crowd.others);
    return SC_OK;
}

const named_order participant_orders[] = {
    {"play", play_order}, {"player", player_order}, {"crowd", crowd_order}, {"crowdDone", crowd_done_order}, {NULL, NULL},
};
