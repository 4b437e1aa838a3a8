/// A client of a small message protocol over UDP, as stacks in C are: it has no thread, the loop is the caller's, and it calls
/// back from `datagram_step` alone.
///
/// It sends REGISTER and UNREGISTER each 100 ms until the server answers OK and BYE. The server sends `MESSAGE id text` until it
/// gets `ACK id`.

#pragma once

#include <stdbool.h>
#include <stdint.h>

struct datagram;

struct datagram_callbacks {
    /// What the others are given.
    void *user;
    /// A message has come. It is acknowledged to the server where this gives true.
    bool (*received)(void *user, const char *id, const char *text);
    /// The server has let go of the client.
    void (*unregistered)(void *user);
};

/// A client of the server at a port of this machine, which begins to register; NULL where the system has no socket.
struct datagram *datagram_open(uint16_t port, struct datagram_callbacks callbacks);
/// The socket to poll for reading.
int datagram_descriptor(const struct datagram *client);
/// In how many milliseconds `datagram_step` is to be called at the latest; -1 where only the socket matters.
int datagram_timeout(const struct datagram *client);
/// Reads what has come, and sends what is due. Never blocks.
void datagram_step(struct datagram *client);
/// Begins to unregister.
void datagram_unregister(struct datagram *client);
/// Closes the socket and frees the client.
void datagram_close(struct datagram *client);
