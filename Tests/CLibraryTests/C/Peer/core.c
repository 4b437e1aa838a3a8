// The core: it stores each message of the server, and acknowledges it when that has returned.

#include <string.h>
#include <unistd.h>

#include "player.h"

static bool is_open_gate(const player *of, enum gate gate) {
    return of->gates[gate][0] == 0 || is_open(of->server, of->gates[gate]);
}

static void fail_core(player *of, const char *reason) {
    of->state = CORE_FAILED;
    sc_core_failed(of->core, reason, &failure);
}

// Stores a message. Returns false if it cannot.
static bool deliver(player *of, served *message) {
    if (message->text == NULL || message->count < 6) return true;
    sc_message content = SC_MESSAGE_INIT;
    content.call_id = message->lines[0];
    content.sequence = message->lines[1][0] != 0 ? message->lines[1] : NULL;
    content.kind = message->lines[2];
    content.sender = message->lines[3];
    content.recipient = message->lines[4];
    content.text = message->lines[5];
    int32_t code = message->count > 6 ? fail(SC_ERR_UNSUPPORTED, "The peer reads no more lines of a message.")
                                      : sc_core_deliver(of->core, &content, NULL, &failure);
    if (code == SC_OK) return true;
    fail_core(of, failure.message);
    return false;
}

static void fetch(player *of) {
    served message;
    while (of->state == CORE_RUNNING) {
        if (of->fetched.name[0] != 0) {
            if (!is_open_gate(of, GATE_ACKNOWLEDGE)) return;
            acknowledge_served(of->server, of->fetched.name);
            of->fetched.name[0] = 0;
        }
        if (!next_served(of->server, "", &message)) return;
        bool is_stored = deliver(of, &message);
        free_served(&message);
        if (is_stored) of->fetched = message;
    }
}

// Gives a baton with all calls. Returns false if there is none.
static bool give_baton(player *of) {
    sc_baton baton = SC_BATON_INIT;
    const char *ids[SC_BATON_CALLS];
    baton.kind = BATON_KIND;
    baton.bytes = (const uint8_t *)"line";
    baton.byte_count = 4;
    baton.calls = ids;
    for (int index = 0; index < 8; index++) {
        if (of->calls[index].id[0] == 0) continue;
        if (baton.call_count == SC_BATON_CALLS) return false;
        ids[baton.call_count++] = of->calls[index].id;
    }
    return baton.call_count > 0 && sc_core_give_baton(of->core, &baton, &failure) == SC_OK;
}

static void note_baton(player *of, const char *text, const char *word) {
    size_t count = strlen(of->batons);
    snprintf(of->batons + count, sizeof of->batons - count, "%s%s %s", count > 0 ? ", " : "", text, word);
}

// Applies the baton. Returns false if it cannot.
static bool apply_baton(player *of) {
    sc_call applied[SC_BATON_CALLS];
    int32_t code = sc_core_apply_baton(of->core, applied, &failure);
    note_baton(of, code == SC_OK ? "applied" : "failed", code == SC_OK ? of->baton_text : sc_code_name(code));
    if (code != SC_OK) return false;
    for (int index = 0; index < SC_BATON_CALLS; index++) {
        if (applied[index] == 0) continue;
        for (int place = 0; place < 8; place++) {
            call *made = &of->calls[place];
            if (made->id[0] != 0 && strcmp(made->id, of->baton_calls[index]) != 0) continue;
            memset(made, 0, sizeof *made);
            snprintf(made->id, sizeof made->id, "%s", of->baton_calls[index]);
            made->handle = applied[index];
            break;
        }
    }
    return true;
}

static void end_core(player *of) {
    if (of->witness >= 0) close(of->witness);
    of->witness = -1;
    of->state = CORE_NONE;
    of->epoch = 0;
    of->is_at_rest = false;
    if (!of->gives_baton || !give_baton(of)) sc_core_stopped(of->core, &failure);
    // They are the next core's.
    else memset(of->calls, 0, sizeof of->calls);
}

bool core_tick(void *object) {
    player *of = object;
    switch (of->state) {
    case CORE_NONE:
    case CORE_QUIET:
    case CORE_FAILED: return false;
    case CORE_STARTING:
        if (!is_open_gate(of, GATE_START)) break;
        of->state = CORE_APPLYING;
        return core_tick(of);
    case CORE_APPLYING:
        if (of->has_baton && !is_open_gate(of, GATE_APPLY)) break;
        if (of->has_baton && !apply_baton(of)) {
            fail_core(of, failure.message);
            break;
        }
        if (of->fails) {
            fail_core(of, "the line is dead");
            break;
        }
        of->state = CORE_RUNNING;
        if (sc_core_started(of->core, &failure) != SC_OK) of->state = CORE_FAILED;
        break;
    case CORE_RUNNING:
        if (is_open_gate(of, GATE_FETCH)) fetch(of);
        break;
    case CORE_STOPPING:
        if (is_open_gate(of, GATE_STOP)) end_core(of);
        break;
    }
    return true;
}

void take_core_event(player *of, const sc_participant_event *event) {
    switch (event->kind) {
    case SC_CORE_START:
        of->state = CORE_STARTING;
        of->core = event->core;
        of->epoch = event->epoch;
        of->fetched.name[0] = 0;
        of->core_starts++;
        of->witness = begin_witness(of->server, event->epoch);
        sc_close(of->core_group);
        of->has_baton = event->baton != NULL;
        if (of->has_baton) {
            snprintf(of->baton_text, sizeof of->baton_text, "%.*s", (int)event->baton->byte_count,
                (const char *)event->baton->bytes);
            for (size_t index = 0; index < event->baton->call_count && index < SC_BATON_CALLS; index++)
                snprintf(of->baton_calls[index], sizeof of->baton_calls[index], "%s", event->baton->calls[index]);
        }
        if (sc_core_group(event->core, &of->core_group, &failure) != SC_OK) of->core_group = 0;
        break;
    case SC_CORE_STOP:
        snprintf(of->stop_reason, sizeof of->stop_reason, "%s", event->reason);
        of->state = CORE_STOPPING;
        of->gives_baton = event->take_count > 0;
        break;
    case SC_BATON_ENDED:
        note_baton(of, "heard", event->reason);
        // Another core may run by now.
        sc_core_stopped(event->core, &failure);
        break;
    case SC_CORE_REST:
        of->state = CORE_QUIET;
        snprintf(of->woken + strlen(of->woken), sizeof of->woken - strlen(of->woken), "%srest", of->woken[0] ? " " : "");
        sc_core_rested(event->core, &failure);
        break;
    case SC_CORE_RESUME:
        of->state = CORE_RUNNING;
        of->is_at_rest = false;
        snprintf(of->woken + strlen(of->woken), sizeof of->woken - strlen(of->woken), " %s", event->reason);
        sc_core_resumed(event->core, &failure);
        break;
    }
    core_tick(of);
}
