#define _GNU_SOURCE
#include "CLinuxSockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

static int result(long value) {
    return value < 0 ? -errno : (int)value;
}

/// Closes a socket that is of no use, and gives the error.
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
    // Until it listens nobody can connect, so nobody comes in between.
    if (chmod(path, 0600) < 0 || listen(listener, 64) < 0) {
        error = give_up(listener);
        unlink(path);
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
    if (address[0] == '@') {
        target.sun_path[0] = 0;
        // An abstract name is all its bytes, without a zero at its end.
        length -= 1;
    }
    int sender = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (sender < 0) return -errno;
    struct timeval patience = {.tv_sec = seconds};
    setsockopt(sender, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    int flags = MSG_NOSIGNAL | (seconds == 0 ? MSG_DONTWAIT : 0);
    int sent = result(sendto(sender, bytes, count, flags, (struct sockaddr *)&target, length));
    close(sender);
    return sent;
}
