#pragma once

#include "CMeasuring.h"

/// From one process to another by a byte that is written to a file that the other watches.
int limits_inotify(char *own, const char *directory);
int limits_inotify_echo(const char *directory);

/// From one process to another by a word that the other sleeps at.
int limits_futex(char *own, const char *directory);
int limits_futex_echo(const char *directory);

/// A commit by hand: lock, append, publish, ring, unlock; with the disk's answer where `durability` is `disk`.
int limits_journal(const char *directory, const char *durability);

/// A look by hand: the published tail, from the page that processes share, and the bytes of the value.
int limits_look(const char *directory);

/// A page that processes share.
void *limits_page(const char *directory, const char *name);
