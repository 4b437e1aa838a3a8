// Services that users know, each started for the measurement and ended with it, measured by a client in C.
#include <stdio.h>
#include <string.h>

#include "CPeers.h"

int main(int count, char **arguments) {
    const char *service = count >= 3 ? arguments[1] : "", *directory = count >= 3 ? arguments[2] : "";
    const char *durability = count == 4 ? arguments[3] : "";
    int is_on_disk = strcmp(durability, "disk") == 0;
    if (strcmp(service, "redis") == 0) return peers_redis(arguments[0], directory, durability);
    if (strcmp(service, "redis-echo") == 0) peers_redis_echo(directory);
    if (strcmp(service, "dbus") == 0) return peers_dbus(arguments[0], directory);
    if (strcmp(service, "dbus-echo") == 0) peers_dbus_echo(directory);
    if (strcmp(service, "etcd") == 0) return peers_etcd(directory);
    if (strcmp(service, "sqlite") == 0) return peers_sqlite(directory, is_on_disk);
    if (strcmp(service, "postgres") == 0) return peers_postgres(arguments[0], directory);
    if (strcmp(service, "postgres-echo") == 0) peers_postgres_echo();
    fprintf(stderr,
        "usage: sharedcore-bench-services [redis | dbus | etcd | sqlite | postgres] DIRECTORY [process | log | disk]\n");
    return 64;
}
