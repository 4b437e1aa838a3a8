// Signals over a message bus of its own, through libdbus, which is there wherever a bus is. It is loaded when it is
// used, so it is not needed to build.
#define _GNU_SOURCE
#include "CPeers.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

// The used part of <dbus/dbus.h>, which is a stable interface.

typedef struct DBusConnection DBusConnection;
typedef struct DBusMessage DBusMessage;
enum { DBUS_TYPE_INVALID = 0, DBUS_TYPE_UINT64 = 't' };

static struct {
    DBusConnection *(*connection_open_private)(const char *address, void *error);
    unsigned (*bus_register)(DBusConnection *connection, void *error);
    void (*bus_add_match)(DBusConnection *connection, const char *rule, void *error);
    unsigned (*connection_send)(DBusConnection *connection, DBusMessage *message, uint32_t *serial);
    void (*connection_flush)(DBusConnection *connection);
    unsigned (*connection_read_write)(DBusConnection *connection, int milliseconds);
    DBusMessage *(*connection_pop_message)(DBusConnection *connection);
    DBusMessage *(*message_new_signal)(const char *path, const char *interface, const char *name);
    unsigned (*message_append_args)(DBusMessage *message, int type, ...);
    unsigned (*message_get_args)(DBusMessage *message, void *error, int type, ...);
    unsigned (*message_is_signal)(DBusMessage *message, const char *interface, const char *name);
    void (*message_unref)(DBusMessage *message);
} dbus;

static void *find(void *library, const char *name) {
    void *symbol = dlsym(library, name);
    if (symbol == NULL) measuring_absent("libdbus is another one than expected");
    return symbol;
}

static void load(void) {
    void *library = dlopen("libdbus-1.so.3", RTLD_NOW);
    if (library == NULL) measuring_absent("libdbus is not installed");
    dbus.connection_open_private = find(library, "dbus_connection_open_private");
    dbus.bus_register = find(library, "dbus_bus_register");
    dbus.bus_add_match = find(library, "dbus_bus_add_match");
    dbus.connection_send = find(library, "dbus_connection_send");
    dbus.connection_flush = find(library, "dbus_connection_flush");
    dbus.connection_read_write = find(library, "dbus_connection_read_write");
    dbus.connection_pop_message = find(library, "dbus_connection_pop_message");
    dbus.message_new_signal = find(library, "dbus_message_new_signal");
    dbus.message_append_args = find(library, "dbus_message_append_args");
    dbus.message_get_args = find(library, "dbus_message_get_args");
    dbus.message_is_signal = find(library, "dbus_message_is_signal");
    dbus.message_unref = find(library, "dbus_message_unref");
}

static const char interface[] = "org.sharedcore.Measuring";
static DBusConnection *connection;
static char topic[2];

static void post(uint64_t value) {
    DBusMessage *message = dbus.message_new_signal("/", interface, topic[0] == 'a' ? "b" : "a");
    if (message == NULL || !dbus.message_append_args(message, DBUS_TYPE_UINT64, &value, DBUS_TYPE_INVALID)
        || !dbus.connection_send(connection, message, NULL)) {
        measuring_fail("a signal", ENOMEM);
    }
    dbus.connection_flush(connection);
    dbus.message_unref(message);
}

static uint64_t hear(void) {
    while (1) {
        DBusMessage *message;
        while ((message = dbus.connection_pop_message(connection)) != NULL) {
            uint64_t value = 0;
            unsigned is_wanted = dbus.message_is_signal(message, interface, topic)
                && dbus.message_get_args(message, NULL, DBUS_TYPE_UINT64, &value, DBUS_TYPE_INVALID);
            dbus.message_unref(message);
            if (is_wanted) return value;
        }
        if (!dbus.connection_read_write(connection, -1)) measuring_fail("the bus", ECONNRESET);
    }
}

static const struct measuring_way way = {post, hear};

static void join(const char *directory, char own_topic) {
    char address[PATH_MAX], rule[128];
    topic[0] = own_topic;
    load();
    snprintf(address, sizeof address, "unix:path=%s/bus", directory);
    connection = dbus.connection_open_private(address, NULL);
    if (connection == NULL || !dbus.bus_register(connection, NULL)) measuring_fail(address, ECONNREFUSED);
    snprintf(rule, sizeof rule, "type='signal',interface='%s',member='%s'", interface, topic);
    // With an error to report it would wait for the answer; the bus keeps the order of what one connection says.
    dbus.bus_add_match(connection, rule, NULL);
    dbus.connection_flush(connection);
}

void peers_dbus_echo(const char *directory) {
    measuring_end_with_parent();
    join(directory, 'b');
    post(0);
    measuring_echo(&way);
}

static int take(const char *word, int count, double *samples) {
    (void)word;
    measuring_ping(&way, count, samples);
    return 1;
}

int peers_dbus(char *own, const char *directory) {
    char path[PATH_MAX], option[PATH_MAX + 16];
    const char *program = peers_program("dbus-daemon");
    load();
    snprintf(path, sizeof path, "%s/configuration", directory);
    FILE *file = fopen(path, "w");
    if (file == NULL) measuring_fail(path, errno);
    fprintf(file,
        "<busconfig><listen>unix:path=%s/bus</listen><policy context=\"default\"><allow send_destination=\"*\" "
        "eavesdrop=\"true\"/><allow eavesdrop=\"true\"/><allow own=\"*\"/></policy></busconfig>\n",
        directory);
    fclose(file);
    snprintf(option, sizeof option, "--config-file=%s", path);
    char *arguments[] = {(char *)program, option, "--nofork", "--nopidfile", NULL};
    peers_start_service(directory, arguments);
    // Waits until the bus listens there.
    peers_connect(directory, "bus");
    join(directory, 'a');
    peers_start_echo(own, "dbus-echo", directory);
    hear();
    return measuring_serve(take);
}
