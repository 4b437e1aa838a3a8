// Without the trait there may be no header of libzmq, and nothing uses this.
#ifdef ZMQ

#include "czmq.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

// Each function: result, name, parameters, arguments, and what it returns where the library is not there.
#define FUNCTIONS(each) \
    each(void *, zmq_ctx_new, (void), (), NULL) \
    each(int, zmq_ctx_set, (void *context, int option, int value), (context, option, value), -1) \
    each(void *, zmq_socket, (void *context, int type), (context, type), NULL) \
    each(int, zmq_close, (void *socket), (socket), -1) \
    each(int, zmq_setsockopt, (void *socket, int option, const void *value, size_t count), \
        (socket, option, value, count), -1) \
    each(int, zmq_getsockopt, (void *socket, int option, void *value, size_t *count), (socket, option, value, count), -1) \
    each(int, zmq_bind, (void *socket, const char *address), (socket, address), -1) \
    each(int, zmq_connect, (void *socket, const char *address), (socket, address), -1) \
    each(int, zmq_socket_monitor, (void *socket, const char *address, int events), (socket, address, events), -1) \
    each(int, zmq_poll, (zmq_pollitem_t *items, int count, long timeout), (items, count, timeout), -1) \
    each(int, zmq_send, (void *socket, const void *bytes, size_t count, int flags), (socket, bytes, count, flags), -1) \
    each(int, zmq_msg_init, (zmq_msg_t *message), (message), -1) \
    each(int, zmq_msg_init_size, (zmq_msg_t *message, size_t count), (message, count), -1) \
    each(int, zmq_msg_send, (zmq_msg_t *message, void *socket, int flags), (message, socket, flags), -1) \
    each(int, zmq_msg_recv, (zmq_msg_t *message, void *socket, int flags), (message, socket, flags), -1) \
    each(int, zmq_msg_close, (zmq_msg_t *message), (message), -1) \
    each(void *, zmq_msg_data, (zmq_msg_t *message), (message), NULL) \
    each(size_t, zmq_msg_size, (const zmq_msg_t *message), (message), 0) \
    each(int, zmq_msg_more, (const zmq_msg_t *message), (message), 0) \
    each(const char *, zmq_msg_gets, (const zmq_msg_t *message, const char *property), (message, property), NULL) \
    each(int, zmq_curve_keypair, (char *public_key, char *secret_key), (public_key, secret_key), -1) \
    each(int, zmq_curve_public, (char *public_key, const char *secret_key), (public_key, secret_key), -1) \
    each(char *, zmq_z85_encode, (char *text, const uint8_t *bytes, size_t count), (text, bytes, count), NULL) \
    each(uint8_t *, zmq_z85_decode, (uint8_t *bytes, const char *text), (bytes, text), NULL)

static struct {
#define POINTER(result, name, parameters, arguments, failure) result(*name) parameters;
    FUNCTIONS(POINTER)
    int (*zmq_errno)(void);
    const char *(*zmq_strerror)(int);
} library;

static char problem[256];
static pthread_once_t loading = PTHREAD_ONCE_INIT;

static void *find(void *handle, const char *name) {
    void *found = dlsym(handle, name);
    if (found == NULL) snprintf(problem, sizeof problem, "%s has no %s", CZMQ_LIBRARY, name);
    return found;
}

static void load(void) {
    void *handle = dlopen(CZMQ_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        const char *reason = dlerror();
        snprintf(problem, sizeof problem, "%s", reason == NULL ? CZMQ_LIBRARY : reason);
        return;
    }
    // A pointer to a function is an address here, as POSIX has it.
#define FIND(result, name, parameters, arguments, failure) *(void **)&library.name = find(handle, #name);
    FUNCTIONS(FIND)
    *(void **)&library.zmq_errno = find(handle, "zmq_errno");
    *(void **)&library.zmq_strerror = find(handle, "zmq_strerror");
}

const char *czmq_problem(void) {
    pthread_once(&loading, load);
    return problem[0] == 0 ? NULL : problem;
}

#define FUNCTION(result, name, parameters, arguments, failure) \
    result name parameters { \
        if (czmq_problem() != NULL) { \
            errno = CZMQ_NOT_LOADED; \
            return failure; \
        } \
        return library.name arguments; \
    }
FUNCTIONS(FUNCTION)

int zmq_errno(void) {
    return czmq_problem() == NULL ? library.zmq_errno() : errno;
}

const char *zmq_strerror(int number) {
    return czmq_problem() == NULL ? library.zmq_strerror(number) : strerror(number);
}

#endif
