#define _GNU_SOURCE
#include "CLinuxBus.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

// The used part of <systemd/sd-bus.h>, which is a stable interface, so that the header is not needed to build.

typedef struct sd_bus sd_bus;
typedef struct sd_bus_message sd_bus_message;
typedef struct {
    const char *name;
    const char *message;
    int need_free;
} sd_bus_error;

static struct {
    int (*open_user)(sd_bus **bus);
    sd_bus *(*flush_close_unref)(sd_bus *bus);
    int (*set_method_call_timeout)(sd_bus *bus, uint64_t microseconds);
    int (*call_method)(
        sd_bus *bus, const char *destination, const char *path, const char *interface, const char *member,
        sd_bus_error *error, sd_bus_message **reply, const char *types, ...);
    int (*message_read)(sd_bus_message *message, const char *types, ...);
    sd_bus_message *(*message_unref)(sd_bus_message *message);
    void (*error_free)(sd_bus_error *error);
} library;

static int is_loaded;

static void load(void) {
    // The library is never unloaded, because the data of its threads may outlive each use.
    void *handle = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) return;
    *(void **)&library.open_user = dlsym(handle, "sd_bus_open_user");
    *(void **)&library.flush_close_unref = dlsym(handle, "sd_bus_flush_close_unref");
    *(void **)&library.set_method_call_timeout = dlsym(handle, "sd_bus_set_method_call_timeout");
    *(void **)&library.call_method = dlsym(handle, "sd_bus_call_method");
    *(void **)&library.message_read = dlsym(handle, "sd_bus_message_read");
    *(void **)&library.message_unref = dlsym(handle, "sd_bus_message_unref");
    *(void **)&library.error_free = dlsym(handle, "sd_bus_error_free");
    is_loaded = library.open_user && library.flush_close_unref && library.set_method_call_timeout &&
                library.call_method && library.message_read && library.message_unref && library.error_free;
}

int64_t clinux_notify_desktop(
    const char *application, const char *summary, const char *body, uint32_t replaced, uint64_t timeout_microseconds,
    char *problem, size_t problem_size) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    if (!is_loaded) {
        snprintf(problem, problem_size, "libsystemd.so.0 is not there");
        return -ENOSYS;
    }
    sd_bus *bus = NULL;
    int result = library.open_user(&bus);
    if (result < 0) {
        snprintf(problem, problem_size, "there is no session bus: %s", strerror(-result));
        return result;
    }
    library.set_method_call_timeout(bus, timeout_microseconds);
    sd_bus_error error = {NULL, NULL, 0};
    sd_bus_message *reply = NULL;
    // No icon, no actions, no hints; with -1 the desktop decides how long it is shown.
    result = library.call_method(
        bus, "org.freedesktop.Notifications", "/org/freedesktop/Notifications", "org.freedesktop.Notifications",
        "Notify", &error, &reply, "susssasa{sv}i", application, replaced, "", summary, body, 0, 0, (int32_t)-1);
    uint32_t number = 0;
    if (result >= 0) result = library.message_read(reply, "u", &number);
    if (result < 0) {
        snprintf(
            problem, problem_size, "%s", error.message != NULL ? error.message : strerror(-result));
    }
    library.error_free(&error);
    library.message_unref(reply);
    library.flush_close_unref(bus);
    return result < 0 ? result : (int64_t)number;
}
