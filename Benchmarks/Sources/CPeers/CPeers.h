#pragma once

#include "CMeasuring.h"

/// Each starts its service in a directory of its own, measures it as a client in C, and ends it. PostgreSQL has to run.
int peers_redis(char *own, const char *directory, const char *durability);
void peers_redis_echo(const char *directory);
int peers_dbus(char *own, const char *directory);
void peers_dbus_echo(const char *directory);
int peers_etcd(const char *directory);
int peers_sqlite(const char *directory, int is_on_disk);
int peers_postgres(char *own, const char *directory);
void peers_postgres_echo(void);

/// The size of the values of puts and gets, in bytes.
enum { peers_value_size = 256 };

/// Returns the path of an installed program. If there is none, ends this program with the status for an absent peer.
const char *peers_program(const char *name);

/// Starts a service in a directory. It ends with this program, and its output goes to a file there.
void peers_start_service(const char *directory, char *const *arguments);

/// Starts this program as the other side, which ends before the service does.
void peers_start_echo(char *own, const char *word, const char *directory);

/// Connects to a socket in a directory, and waits until its service has created it.
int peers_connect(const char *directory, const char *name);

void peers_write(int descriptor, const char *bytes, size_t count);
