#define _GNU_SOURCE
#include "CLinuxSockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

static int result(long value) {
    return value < 0 ? -errno : (int)value;
}

/// Closes a socket that cannot be used, and returns the error.
static int give_up(int socket) {
    int error = -errno;
    close(socket);
    return error;
}

static int set_address(struct sockaddr_un *address, socklen_t *length, const char *path) {
    size_t count = strlen(path);
    if (count == 0) return -EINVAL;
    if (count >= sizeof address->sun_path) return -ENAMETOOLONG;
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path, path, count);
    *length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + count + 1);
    if (path[0] == '@') {
        address->sun_path[0] = 0;
        // An abstract name has a length and no zero at its end.
        *length -= 1;
    }
    return 0;
}

int clinux_listen_at(const char *path) {
    struct sockaddr_un address;
    socklen_t length;
    int error = set_address(&address, &length, path);
    if (error < 0) return error;
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener < 0) return -errno;
    if (bind(listener, (struct sockaddr *)&address, length) < 0) return give_up(listener);
    // No process can connect before the socket listens, so none connects before the permissions are set.
    int is_abstract = path[0] == '@';
    if ((!is_abstract && chmod(path, 0600) < 0) || listen(listener, 64) < 0) {
        error = give_up(listener);
        if (!is_abstract) unlink(path);
        return error;
    }
    return listener;
}

int clinux_listen_on_loopback(uint16_t port, uint16_t *chosen) {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener < 0) return -errno;
    int on = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    if (bind(listener, (struct sockaddr *)&address, length) < 0) return give_up(listener);
    if (listen(listener, 64) < 0) return give_up(listener);
    if (getsockname(listener, (struct sockaddr *)&address, &length) < 0) return give_up(listener);
    *chosen = ntohs(address.sin_port);
    return listener;
}

/// Creates a socket that listens at an address. Closes it if that fails.
static int listen_on(const struct addrinfo *place) {
    int listener = socket(place->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener < 0) return -errno;
    int on = 1, off = 0;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (place->ai_family == AF_INET6) setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (bind(listener, place->ai_addr, place->ai_addrlen) < 0) return give_up(listener);
    if (listen(listener, 1024) < 0) return give_up(listener);
    return listener;
}

int clinux_listen_on(const char *host, uint16_t port, uint16_t *chosen) {
    struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
    char service[8];
    snprintf(service, sizeof service, "%u", port);
    struct addrinfo *places = NULL;
    // "*" is the IPv6 wildcard, which accepts both families, if the system has both.
    if (strcmp(host, "*") == 0) {
        hints.ai_family = AF_INET6;
        host = NULL;
    }
    if (getaddrinfo(host, service, &hints, &places) != 0) return -EADDRNOTAVAIL;
    int listener = -EADDRNOTAVAIL;
    for (struct addrinfo *place = places; place != NULL && listener < 0; place = place->ai_next) {
        listener = listen_on(place);
    }
    freeaddrinfo(places);
    if (listener == -EAFNOSUPPORT && host == NULL) return clinux_listen_on("0.0.0.0", port, chosen);
    if (listener < 0) return listener;
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    if (getsockname(listener, (struct sockaddr *)&address, &length) < 0) return give_up(listener);
    *chosen = ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
                                                  : ((struct sockaddr_in *)&address)->sin_port);
    return listener;
}

int clinux_accept_from(int listener, char *text, size_t count) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    int connection = accept4(listener, (struct sockaddr *)&address, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (connection < 0) return -errno;
    int on = 1;
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (getnameinfo((struct sockaddr *)&address, length, text, count, NULL, 0, NI_NUMERICHOST) != 0) text[0] = 0;
    return connection;
}

int clinux_accept(int listener) {
    return result(accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

int clinux_connect_to(const char *path) {
    struct sockaddr_un address;
    socklen_t length;
    int error = set_address(&address, &length, path);
    if (error < 0) return error;
    int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (connection < 0) return -errno;
    if (connect(connection, (struct sockaddr *)&address, length) < 0) return give_up(connection);
    return connection;
}

int clinux_connect_on_loopback(uint16_t port) {
    int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (connection < 0) return -errno;
    int on = 1;
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    // A full queue of the listener drops the first packet without an answer, which delays the connection by seconds.
    if (connect(connection, (struct sockaddr *)&address, sizeof address) < 0 && errno != EINPROGRESS)
        return give_up(connection);
    return connection;
}

int clinux_peer(int connection, uid_t *user, pid_t *process) {
    struct ucred credentials;
    socklen_t length = sizeof credentials;
    if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &credentials, &length) < 0) return -errno;
    *user = credentials.uid;
    *process = credentials.pid;
    return 0;
}

int clinux_send(int connection, const void *bytes, size_t count) {
    return result(send(connection, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL));
}

int clinux_receive(int connection, void *bytes, size_t count) {
    return result(recv(connection, bytes, count, MSG_DONTWAIT));
}

int clinux_send_datagram(const char *address, const void *bytes, size_t count, int seconds) {
    struct sockaddr_un target;
    socklen_t length;
    int error = set_address(&target, &length, address);
    if (error < 0) return error;
    int sender = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (sender < 0) return -errno;
    struct timeval patience = {.tv_sec = seconds};
    setsockopt(sender, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    int flags = MSG_NOSIGNAL | (seconds == 0 ? MSG_DONTWAIT : 0);
    int sent = result(sendto(sender, bytes, count, flags, (struct sockaddr *)&target, length));
    close(sender);
    return sent;
}
