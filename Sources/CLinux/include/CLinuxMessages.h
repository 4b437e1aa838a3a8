/// Sockets between the processes of one machine that preserve message boundaries and carry descriptors, and the locks that the
/// keeper of a process needs. As in CLinux.h, a failure is the negated errno.

#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Creates a socket at the path, which must not exist, and listens. Non-blocking.
int clinux_listen_for_messages(const char *path);
/// Connects to the process that listens at the path. The connection is non-blocking.
int clinux_connect_for_messages(const char *path);
/// Sends a message, with duplicates of descriptors: at most 253, the kernel's limit.
int clinux_send_message(int socket, const void *bytes, size_t count, const int *descriptors, size_t descriptor_count);
/// Receives a message. Returns its number of bytes, or 0 at the end. Closes the descriptors that came with it and do not fit.
/// Returns -EMSGSIZE for a message that is longer than the space, and closes all of its descriptors.
int clinux_receive_message(
    int socket, void *bytes, size_t count, int *descriptors, size_t space, size_t *descriptor_count);

// A lock of a file that belongs to a process. It continues when the process becomes another program, and a child does not have
// it. It ends with the process, or when the process closes any descriptor of the file.

/// Takes the lock. Returns -EAGAIN if another process has it.
int clinux_lock_for_process(int descriptor);
/// Returns the id of the process that has the lock; 0 if none has.
int clinux_lock_holder(int descriptor);
/// Keeps the descriptor open in a program that this process becomes.
int clinux_let_inherit(int descriptor);
