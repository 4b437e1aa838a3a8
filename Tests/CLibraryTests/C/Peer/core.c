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

static void end_core(player *of) {
    if (of->witness >= 0) close(of->witness);
    of->witness = -1;
    of->state = CORE_NONE;
    of->epoch = 0;
    of->is_at_rest = false;
    sc_core_stopped(of->core, &failure);
}

bool core_tick(void *object) {
    player *of = object;
    switch (of->state) {
    case CORE_NONE:
    case CORE_QUIET:
    case CORE_FAILED: return false;
    case CORE_STARTING:
        if (!is_open_gate(of, GATE_START)) break;
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
        if (sc_core_group(event->core, &of->core_group, &failure) != SC_OK) of->core_group = 0;
        break;
    case SC_CORE_STOP:
        snprintf(of->stop_reason, sizeof of->stop_reason, "%s", event->reason);
        of->state = CORE_STOPPING;
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
