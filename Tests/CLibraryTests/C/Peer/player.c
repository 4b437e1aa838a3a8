// Participants of a process, and their orders.

#include "player.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

player *played;

static const char *const baton_kind = BATON_KIND;

static int32_t read_settings(player *of, char *text) {
    static const char *const gates[] = {
        "hold-start", "hold-fetch", "hold-acknowledge", "hold-stop", "hold-apply"};
    of->options = (sc_participant_options)SC_PARTICIPANT_OPTIONS_INIT;
    of->options.handover_timeout = of->options.stop_timeout = of->options.wake_timeout = 60000;
    of->options.handover_maximum_timeout = 120000;
    of->options.executor_budget = 300000;
    of->options.core_linger = 50;
    of->options.baton_lifetime = 60000;
    if (strcmp(text, "none") == 0) return SC_OK;
    for (char *place, *setting = strtok_r(text, ",", &place); setting != NULL; setting = strtok_r(NULL, ",", &place)) {
        char *value = strchr(setting, '=');
        if (value != NULL) *value++ = 0;
        int64_t time = value != NULL ? strtoll(value, NULL, 10) : 0;
        bool is_gate = false;
        for (int gate = 0; gate < GATE_COUNT; gate++) {
            if (strcmp(setting, gates[gate]) != 0) continue;
            snprintf(of->gates[gate], sizeof of->gates[gate], "%s", value != NULL ? value : "");
            is_gate = true;
        }
        if (is_gate) continue;
        if (strcmp(setting, "handover") == 0) of->options.handover_timeout = time;
        else if (strcmp(setting, "maximum") == 0) of->options.handover_maximum_timeout = time;
        else if (strcmp(setting, "bound") == 0) of->options.stop_timeout = time;
        else if (strcmp(setting, "budget") == 0) of->options.executor_budget = time;
        else if (strcmp(setting, "linger") == 0) of->options.core_linger = time;
        else if (strcmp(setting, "wake") == 0) of->options.wake_timeout = time;
        else if (strcmp(setting, "fails") == 0) of->fails = true;
        else if (strcmp(setting, "baton") == 0) of->options.baton_lifetime = time;
        else if (strcmp(setting, "takes") == 0) of->options.takes_batons = &baton_kind, of->options.takes_baton_count = 1;
        // The contract names the times of a challenge and of a poll (C6, C13), and the library leaves them so.
        else if (strcmp(setting, "answer") != 0 && strcmp(setting, "look") != 0)
            return limit("the C library has no such setting");
    }
    return SC_OK;
}

int32_t open_player(
    const char *role, const char *name, const char *server, const char *settings, const arguments *given, int index,
    player **opened) {
    player *made = allocate(sizeof *made);
    char *text = strdup(settings);
    made->role = role[0];
    made->witness = -1;
    snprintf(made->server, sizeof made->server, "%s", server);
    int32_t code = read_settings(made, text);
    free(text);
    if (code == SC_OK) code = open_address(given, index, role, name, &made->group);
    // A Main begins with `start`, and a holder with `hold`.
    if (code == SC_OK && made->role == 'e') {
        code = sc_executor_open(made->group, &made->options, &made->participant, &failure);
        if (code == SC_OK) attend_player(made);
    }
    attend_ticks(core_tick, made);
    *opened = made;
    return code;
}

// MARK: - Events

static void describe(ask *answer, const sc_participant_event *event) {
    const char *source = event->from_core ? "core" : "inbox";
    size_t size = sizeof answer->text;
    if (event->code != SC_OK) {
        snprintf(answer->text, size, "failed %s", sc_code_name(event->code));
    } else if (event->result == SC_RESULT_NOTHING) {
        snprintf(answer->text, size, "nothing %s", source);
    } else if (event->result == SC_RESULT_CALL) {
        snprintf(answer->text, size, "call %s %s", source, event->message->call_id);
    } else {
        const sc_message *message = event->message;
        if (strcmp(message->kind, "invitation") == 0)
            snprintf(answer->text, size, "invitation %s %s %s %s", source, message->sender, message->text, message->recipient);
        else if (strcmp(message->kind, "too-large") == 0)
            snprintf(answer->text, size, "tooLarge %s %s %s", source, message->sender, message->recipient);
        else
            snprintf(answer->text, size, "message %s %s %s %s", source, message->sender, message->recipient, message->text);
    }
    answer->taken = event->taken;
    answer->is_answered = true;
}

static void take_event(player *of, const sc_participant_event *event) {
    switch (event->kind) {
    case SC_STARTED: of->has_started = true, of->start_code = event->code; break;
    case SC_PARTICIPANT_ENDED: of->has_ended = true, of->end_code = event->code; break;
    case SC_FINISHED: of->has_finished = true; break;
    case SC_RESTED:
        of->has_rested = true, of->rest_code = event->code;
        // It may have been woken since.
        of->is_at_rest = event->code == SC_OK && of->state == CORE_QUIET;
        break;
    case SC_RESUMED: of->has_resumed = true, of->resume_code = event->code; break;
    case SC_RESULT:
        for (size_t index = 0; index < sizeof of->asks / sizeof *of->asks; index++)
            if (of->asks[index].request == event->request) describe(&of->asks[index], event);
        break;
    default: take_core_event(of, event);
    }
}

static void take_player_events(void *object) {
    player *of = object;
    sc_participant_event event;
    int32_t code;
    while ((code = sc_participant_next(of->participant, 0, &event, &failure)) == SC_OK) {
        take_event(of, &event);
        sc_participant_event_free(&event);
    }
    if (code != SC_NOTHING) forget(of->participant);
}

void attend_player(player *of) { attend(of->participant, take_player_events, of); }

static bool is_true(const void *flag) { return *(const bool *)flag; }

int32_t ask_for(player *of, int number, const char *id, int64_t timeout, const char *sequence, bool insists) {
    if (number < 0 || number >= 32) return fail(SC_ERR_INVALID_ARGUMENT, "The peer has 32 asks.");
    ask *asked = &of->asks[number];
    memset(asked, 0, sizeof *asked);
    return (insists ? sc_executor_insist : sc_executor_ask)(of->participant, id, sequence, timeout, &asked->request, &failure);
}

void leave(player *of) {
    if (of->participant == 0 || of->has_ended) return;
    if (sc_participant_end(of->participant, &failure) == SC_OK) run_until(is_true, &of->has_ended);
}

// MARK: - Orders

static int32_t start(bool takes_over, bool insists) {
    if (played->participant != 0) {
        forget(played->participant);
        sc_close(played->participant);
        played->participant = 0;
    }
    played->has_started = played->has_ended = false;
    played->options.takes_over = takes_over;
    played->options.insists = insists;
    int32_t code = sc_main_start(played->group, &played->options, &played->participant, &failure);
    if (code == SC_OK) attend_player(played);
    return code;
}

#define ORDER(name) static int32_t name##_order(const arguments *given, FILE *answer)
#define UNUSED (void)given, (void)answer

ORDER(start) { UNUSED; return start(false, false); }
ORDER(take_over) { UNUSED; return start(true, false); }
ORDER(start_insisting) { UNUSED; return start(false, true); }
ORDER(take_over_insisting) { UNUSED; return start(true, true); }

ORDER(started) {
    UNUSED;
    run_until(is_true, &played->has_started);
    if (played->start_code != SC_OK) fprintf(answer, "failed %s", sc_code_name(played->start_code));
    else if (played->epoch == 0) fputs("owns no more", answer);
    else fprintf(answer, "owns %" PRIu64, played->epoch);
    return SC_OK;
}

ORDER(ended) {
    UNUSED;
    run_until(is_true, &played->has_ended);
    fputs(played->end_code == SC_OK ? "stopped" : sc_code_name(played->end_code), answer);
    return SC_OK;
}

static int32_t ask_in(const arguments *given, bool insists) {
    const char *sequence = given->count > 3 ? word(given, 3) : NULL;
    return ask_for(played, (int)number(given, 0), word(given, 1), (int64_t)number(given, 2), sequence, insists);
}

ORDER(ask) { UNUSED; return ask_in(given, false); }
ORDER(insist) { UNUSED; return ask_in(given, true); }

static ask *asked(const arguments *given) {
    uint64_t index = number(given, 0);
    return index < 32 && played->asks[index].request != 0 ? &played->asks[index] : NULL;
}

ORDER(answer) {
    ask *of = asked(given);
    if (of == NULL) return fail(SC_ERR_INVALID_ARGUMENT, "No such ask was begun.");
    run_until(is_true, &of->is_answered);
    fputs(of->text, answer);
    return SC_OK;
}

ORDER(acknowledge) {
    ask *of = asked(given);
    int32_t acknowledged;
    if (of == NULL) return fail(SC_ERR_INVALID_ARGUMENT, "No such ask was begun.");
    run_until(is_true, &of->is_answered);
    int32_t code = sc_taken_acknowledge(of->taken, &acknowledged, &failure);
    if (code == SC_OK) fputs(acknowledged ? "true" : "false", answer);
    else fprintf(answer, "failed %s", sc_code_name(code));
    return SC_OK;
}

ORDER(give_back) {
    (void)answer;
    ask *of = asked(given);
    if (of == NULL) return fail(SC_ERR_INVALID_ARGUMENT, "No such ask was begun.");
    run_until(is_true, &of->is_answered);
    return sc_taken_give_back(of->taken, &failure);
}

static int32_t say_written(int32_t code, FILE *answer) {
    fputs(code == SC_OK ? "written" : sc_code_name(code), answer);
    return SC_OK;
}

ORDER(write) {
    const char *text = rest(given, 1);
    return say_written(
        sc_put(played->core_group, word(given, 0), SC_NUL, (const uint8_t *)text, strlen(text), NULL, &failure), answer);
}

ORDER(begin) {
    const char *id = given->count > 0 ? word(given, given->count - 1) : "";
    int index = 0;
    while (index < 7 && played->activities[index].handle != 0) index++;
    snprintf(played->activities[index].id, sizeof played->activities[index].id, "%s", id);
    return say_written(
        sc_activity_begin(
            played->core, "work", (int64_t)number(given, 0), id, &played->activities[index].handle, &failure), answer);
}

ORDER(end) {
    for (int index = 0; index < 8; index++) {
        if (strcmp(played->activities[index].id, word(given, 0)) != 0) continue;
        played->activities[index].id[0] = 0;
        sc_handle ended = played->activities[index].handle;
        played->activities[index].handle = 0;
        return say_written(sc_activity_end(ended, &failure), answer);
    }
    return fail(SC_ERR_NOT_FOUND, "No such activity was begun.");
}

ORDER(shown) {
    int32_t acknowledged;
    int32_t code = sc_main_acknowledge(played->participant, word(given, 0), NULL, &acknowledged, &failure);
    if (code == SC_OK) fputs(acknowledged ? "true" : "false", answer);
    else fprintf(answer, "failed %s", sc_code_name(code));
    return SC_OK;
}

ORDER(rest) {
    UNUSED;
    played->has_rested = false;
    int32_t code = sc_main_rest(played->participant, &failure);
    if (code == SC_OK) run_until(is_true, &played->has_rested);
    if (code == SC_OK) code = played->rest_code;
    if (code == SC_OK) fputs("rests", answer);
    else fprintf(answer, "failed %s", sc_code_name(code));
    return SC_OK;
}

ORDER(resume) {
    UNUSED;
    played->has_resumed = false;
    int32_t code = sc_main_resume(played->participant, &failure);
    if (code == SC_OK) run_until(is_true, &played->has_resumed);
    if (code == SC_OK) code = played->resume_code;
    if (code == SC_OK) fputs("resumed", answer);
    else fprintf(answer, "failed %s", sc_code_name(code));
    return SC_OK;
}

ORDER(hold) {
    UNUSED;
    int32_t code = sc_holder_open(played->group, &played->options, &played->participant, &failure);
    if (code == SC_OK) attend_player(played);
    if (code == SC_OK) fputs("holds", answer);
    return code;
}

ORDER(finish) {
    UNUSED;
    played->has_finished = false;
    int32_t code = sc_executor_finish(played->participant, &failure);
    if (code == SC_OK) run_until(is_true, &played->has_finished);
    return code;
}

ORDER(leave) { UNUSED; leave(played); return SC_OK; }

ORDER(close) {
    UNUSED;
    leave(played);
    if (played->participant != 0) sc_close(played->participant);
    return sc_close(played->group);
}

ORDER(asleep) { UNUSED; fputs(played->is_at_rest ? "true" : "false", answer); return SC_OK; }
ORDER(woken) { UNUSED; fputs(played->woken, answer); return SC_OK; }
ORDER(stopped) { UNUSED; fputs(played->stop_reason[0] != 0 ? played->stop_reason : "none", answer); return SC_OK; }
ORDER(core_starts) { UNUSED; fprintf(answer, "%" PRIu64, played->core_starts); return SC_OK; }

ORDER(epoch) {
    UNUSED;
    if (played->epoch == 0) fputs("none", answer);
    else fprintf(answer, "%" PRIu64, played->epoch);
    return SC_OK;
}

ORDER(batons) { UNUSED; fputs(played->batons, answer); return SC_OK; }
static void take_push(void *object) {
    player *of = object;
    const sc_push *push;
    int32_t code = sc_pushes_next(of->pushes, 0, &of->push, &push, &failure);
    if (code == SC_NOTHING) return;
    if (code == SC_OK) snprintf(of->push_text, sizeof of->push_text, "%s", push->call_id);
    else if (code == SC_ENDED) snprintf(of->push_text, sizeof of->push_text, "none");
    else snprintf(of->push_text, sizeof of->push_text, "failed %s", sc_code_name(code));
    if (code == SC_OK) sc_push_free(&push);
    of->has_push = true;
    // The next one is taken when it is asked for.
    forget(of->pushes);
}

ORDER(push) {
    UNUSED;
    int32_t code = played->pushes == 0 ? sc_main_pushes(played->participant, &played->pushes, &failure) : SC_OK;
    if (code != SC_OK) return code;
    played->has_push = false;
    attend(played->pushes, take_push, played);
    run_until(is_true, &played->has_push);
    fputs(played->push_text, answer);
    return SC_OK;
}

ORDER(handled) {
    UNUSED;
    int32_t acknowledged;
    int32_t code = sc_push_acknowledge(played->push, &acknowledged, &failure);
    if (code == SC_OK) fputs(acknowledged ? "true" : "false", answer);
    else fprintf(answer, "failed %s", sc_code_name(code));
    return SC_OK;
}

ORDER(enter) {
    return say_written(sc_core_enter_critical_section(played->core, (int64_t)number(given, 0), &failure), answer);
}

ORDER(session) {
    UNUSED;
    uint64_t session;
    int32_t code = sc_session(played->group, &session, &failure);
    if (code == SC_OK) fprintf(answer, "%" PRIu64, session);
    return code;
}

const named_order player_orders[] = {
    {"start", start_order}, {"takeOver", take_over_order}, {"startInsisting", start_insisting_order},
    {"takeOverInsisting", take_over_insisting_order}, {"started", started_order}, {"ended", ended_order},
    {"ask", ask_order}, {"insist", insist_order}, {"answer", answer_order}, {"acknowledge", acknowledge_order},
    {"giveBack", give_back_order}, {"write", write_order}, {"begin", begin_order}, {"end", end_order},
    {"shown", shown_order}, {"rest", rest_order}, {"resume", resume_order}, {"hold", hold_order},
    {"finish", finish_order}, {"leave", leave_order}, {"close", close_order}, {"asleep", asleep_order},
    {"woken", woken_order}, {"stopped", stopped_order}, {"coreStarts", core_starts_order}, {"epoch", epoch_order},
    {"session", session_order}, {"batons", batons_order}, {"push", push_order},
    {"handled", handled_order}, {"enter", enter_order}, {NULL, NULL},
};
