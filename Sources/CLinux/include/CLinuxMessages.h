/// Sockets between the processes of one machine that keep messages apart and carry descriptors, and what else a keeper of
/// a process needs. As in CLinux.h, a failure is the negated errno.

#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Makes a socket at the path, at which nothing may stand yet, and listens. Non-blocking.
int clinux_listen_for_messages(const char *path);
/// Connects to whoever listens at the path. The connection does not block.
int clinux_connect_for_messages(const char *path);
/// Sends a message, with a descriptor unless it is -1.
int clinux_send_message(int socket, const void *bytes, size_t count, int descriptor);
/// Receives a message: its number of bytes, 0 at the end. Descriptors that came with it are closed but for one, which is
/// -1 when none came. -EMSGSIZE when the message was longer than the space.
int clinux_receive_message(int socket, void *bytes, size_t count, int *descriptor);

// A lock of a file that belongs to a process: it lives on in the program that the process becomes, no child has it, and it
// ends with the process, or when that closes any descriptor of the file.

/// Takes the lock; -EAGAIN when another process has it.
int clinux_lock_for_process(int descriptor);
/// The number of the process that has the lock; 0 when none has.
int clinux_lock_holder(int descriptor);
/// Lets a program that this process becomes have the descriptor.
int clinux_let_inherit(int descriptor);
