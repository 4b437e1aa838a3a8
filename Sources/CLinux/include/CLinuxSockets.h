/// Stream and datagram sockets. As in CLinux.h, a failure is the negated errno.

#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Listens at a path, which must not exist, and to which only this user may connect. A path that begins with @ is an abstract
/// name, to which every user may connect. Non-blocking.
int clinux_listen_at(const char *path);
/// Listens at a port of the loopback interface; 0 chooses a free one. Stores the port. Non-blocking.
int clinux_listen_on_loopback(uint16_t port, uint16_t *chosen);
/// Listens at a port of a host's address; port 0 chooses a free one, and "*" is every address. Stores the port. Non-blocking,
/// except for the look-up of a name.
int clinux_listen_on(const char *host, uint16_t port, uint16_t *chosen);
/// Accepts the next connection, non-blocking. Returns -EAGAIN if there is none.
int clinux_accept(int listener);
/// Accepts the next connection over TCP, with TCP_NODELAY. Stores the peer's address as text, which is empty if it has
/// none.
int clinux_accept_from(int listener, char *text, size_t count);
/// Connects to a path, or to an abstract name if it begins with @, without waiting.
int clinux_connect_to(const char *path);
/// Begins a connection to a port of the loopback interface, with TCP_NODELAY, and does not wait for it. If it fails,
/// the first receive reports the end of the connection. Non-blocking.
int clinux_connect_on_loopback(uint16_t port);
/// Reads the user and the process of the peer of a connection at a path, at the time of the connection.
int clinux_peer(int connection, uid_t *user, pid_t *process);
/// Sends without waiting and without SIGPIPE. Returns the number of sent bytes.
int clinux_send(int connection, const void *bytes, size_t count);
/// Receives without waiting. Returns 0 at the end.
int clinux_receive(int connection, void *bytes, size_t count);
/// Sends one datagram to a socket at a path, or at an abstract name if the address begins with @. If the queue of the receiver
/// is full, waits up to `seconds`; 0 does not wait.
int clinux_send_datagram(const char *address, const void *bytes, size_t count, int seconds);
