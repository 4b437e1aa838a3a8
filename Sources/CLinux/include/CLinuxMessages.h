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
/// Sends a message, with duplicates of descriptors: 253 at most, the kernel's limit.
int clinux_send_message(int socket, const void *bytes, size_t count, const int *descriptors, size_t descriptor_count);
/// Receives a message: its number of bytes, 0 at the end. Of the descriptors that came with it those without space are closed.
/// -EMSGSIZE when the message was longer than the space; its descriptors are closed then.
int clinux_receive_message(
    int socket, void *bytes, size_t count, int *descriptors, size_t space, size_t *descriptor_count);

// A lock of a file that belongs to a process: it lives on in the program that the process becomes, no child has it, and it
// ends with the process, or when that closes any descriptor of the file.

/// Takes the lock; -EAGAIN when another process has it.
int clinux_lock_for_process(int descriptor);
/// The number of the process that has the lock; 0 when none has.
int clinux_lock_holder(int descriptor);
/// Lets a program that this process becomes have the descriptor.
int clinux_let_inherit(int descriptor);
