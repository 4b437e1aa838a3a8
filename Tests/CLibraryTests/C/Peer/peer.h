// The second process of the conformance suite, in C: it knows the group by `sharedcore.h` alone.
//
// One thread runs it. A loop polls the standard input and the descriptors that the library gives. An order that has to wait runs
// the loop without the input. Orders and answers are those of ConformancePeer and PeerSession in Sources/CoreAPITesting.

#ifndef PEER_H
#define PEER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sharedcore.h"

// The words of an order behind its name. A word that is missing is empty.
typedef struct {
    char *words[64];
    int count;
} arguments;

const char *word(const arguments *given, int index);
uint64_t number(const arguments *given, int index);
// The words from one on, with a space between each two. Valid until the next call.
const char *rest(const arguments *given, int index);

// Answers an order. Returns a code; with SC_OK the text that was printed is the answer, otherwise `failure` is.
typedef int32_t (*order)(const arguments *given, FILE *answer);

typedef struct {
    const char *name;
    order run;
} named_order;

extern const named_order store_orders[], parcel_orders[], participant_orders[];
// The orders of a Main, an Executor or a holder, behind the word `player`.
extern const named_order player_orders[];
order find_order(const named_order *orders, const char *name);

// The error of the last call.
extern sc_error failure;
// Fails an order without a call of the library.
int32_t fail(int32_t code, const char *message);
// Says that the peer cannot do an order: the case is skipped.
int32_t limit(const char *reason);

// The loop.

// Has `ready` called whenever the descriptor of a handle is readable, until `forget`.
void attend(sc_handle handle, void (*ready)(void *), void *object);
void forget(sc_handle handle);
// Has `tick` called in each round of the loop. It returns true if it is to be called again within 5 ms.
void attend_ticks(bool (*tick)(void *), void *object);
// Runs the loop until a condition holds.
void run_until(bool (*holds)(const void *), const void *object);
void *allocate(size_t size);

// Groups.

// Opens the group of an address, words from one on.
int32_t open_address(const arguments *given, int index, const char *role, const char *name, sc_group *group);
// The group that orders mean.
extern sc_group group;

// Messages, gates and observations of cores: the directory of a SharedServer.

typedef struct {
    char name[64];
    char *text; // its lines
    char *lines[8];
    int count;
} served;

// The first message that waits and whose name is behind `after`. Returns false for none.
bool next_served(const char *server, const char *after, served *message);
void free_served(served *message);
void acknowledge_served(const char *server, const char *name);
bool is_open(const char *server, const char *gate);
// Locks the byte of an epoch in the witness's file, and notes each other core that runs. Returns the descriptor.
int begin_witness(const char *server, uint64_t epoch);

#endif
