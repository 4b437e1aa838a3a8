// A Main, an Executor or a holder, and its core.

#ifndef PLAYER_H
#define PLAYER_H

#include "peer.h"

enum gate { GATE_START, GATE_FETCH, GATE_ACKNOWLEDGE, GATE_STOP, GATE_APPLY, GATE_COUNT };
enum core_state { CORE_NONE, CORE_STARTING, CORE_APPLYING, CORE_RUNNING, CORE_QUIET, CORE_FAILED, CORE_STOPPING };

typedef struct {
    uint64_t request; // 0 until it was asked
    bool is_answered;
    int32_t code, result;
    sc_taken taken;
    char text[4096]; // the answer to `answer`
} ask;

typedef struct {
    char id[64];
    sc_call handle;
    sc_call former; // another handle of the same call, which its end leaves open
    char way; // of its commands: 'a'ccept, 'r'efuse, 'n'othing
    char obeyed[256];
} call;

typedef struct {
    sc_group group;
    sc_participant participant;
    char role; // 'm'ain, 'e'xecutor, 'h'older
    char server[1024];
    sc_participant_options options;
    char gates[GATE_COUNT][64];
    bool fails;

    // Its core.
    enum core_state state;
    sc_core core;
    sc_group core_group; // of the last core, also when it has stopped
    uint64_t epoch;      // 0 without a core
    int witness;
    served fetched; // stored, and not yet acknowledged to the server
    char last_fetched[64];
    uint64_t core_starts;
    char stop_reason[64];
    char woken[256];
    bool is_at_rest;
    // The baton that it was started with, and whether a Main takes one when it stops.
    char baton_text[256], baton_calls[SC_BATON_CALLS][64];
    bool has_baton, gives_baton;
    char batons[1024]; // what became of batons here

    bool has_started, has_ended, has_finished, has_rested, has_resumed;
    int32_t start_code, end_code, rest_code, resume_code;
    sc_pushes pushes;
    sc_taken_push push;
    char push_text[256];
    bool has_push;
    ask asks[32];
    call calls[8];
    struct {
        sc_handle handle;
        char id[64];
    } activities[8];
} player;

// The kind of the batons of cases.
#define BATON_KIND "case/1"
// The player of the orders.
extern player *played;

// Opens a group as a role and reads settings, as TestParticipantSettings has them.
int32_t open_player(
    const char *role, const char *name, const char *server, const char *settings, const arguments *given, int index,
    player **opened);
// Attends the events of a participant that was opened.
void attend_player(player *of);
int32_t ask_for(player *of, int number, const char *id, int64_t timeout, const char *sequence, bool insists);
// Ends the participation, and waits for it.
void leave(player *of);
bool core_tick(void *of);
void take_core_event(player *of, const sc_participant_event *event);

#endif
