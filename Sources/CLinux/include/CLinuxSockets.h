/// Sockets, as far as processes of one machine speak through them. As in CLinux.h, a failure is the negated errno.

#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Listens at a path, which must be free, and only this user may connect; or at an abstract name where it begins with @,
/// and every user may connect. Non-blocking.
int clinux_listen_at(const char *path);
/// Listens at a port of the loopback interface, or at any free one for 0. Gives the port. Non-blocking.
int clinux_listen_on_loopback(uint16_t port, uint16_t *chosen);
/// Listens at a port of a host's address, or at any free one for 0; "*" is every address. Gives the port. Non-blocking,
/// but for the look-up of a name.
int clinux_listen_on(const char *host, uint16_t port, uint16_t *chosen);
/// Takes the next connection, non-blocking; -EAGAIN when there is none.
int clinux_accept(int listener);
/// Takes the next connection over TCP, which sends what is small at once. Gives the other end's address as text; empty
/// where it has none.
int clinux_accept_from(int listener, char *text, size_t count);
/// Connects to a path, or to an abstract name where it begins with @, without waiting.
int clinux_connect_to(const char *path);
/// Who is at the other end of a connection through a path, at the time when it was made.
int clinux_peer(int connection, uid_t *user, pid_t *process);
/// Sends without waiting and without a signal; how much was sent.
int clinux_send(int connection, const void *bytes, size_t count);
/// Receives without waiting; 0 at the end.
int clinux_receive(int connection, void *bytes, size_t count);
/// Sends one datagram to a socket at a path, or at an abstract name where the address begins with @. Waits for so
/// many seconds where the other end has many to read; not at all for 0.
int clinux_send_datagram(const char *address, const void *bytes, size_t count, int seconds);
