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

/// How long the values are that are put and got.
enum { peers_value_size = 256 };

/// Where a program is that people install; ends this one as absent when it is nowhere.
const char *peers_program(const char *name);

/// Starts a service in a directory, which ends with this program. What it says goes to a file there.
void peers_start_service(const char *directory, char *const *arguments);

/// Starts this program as the other side, which ends before the service does.
void peers_start_echo(char *own, const char *word, const char *directory);

/// Connects with a socket in a directory, and waits for the one who makes it.
int peers_connect(const char *directory, const char *name);

void peers_write(int descriptor, const char *bytes, size_t count);
