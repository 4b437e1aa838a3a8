// A connection to a Redis server, at which a call has a deadline for its whole answer and can be interrupted.
#pragma once
#define _GNU_SOURCE
#include "sharedcore_backend.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

// hiredis formats commands and parses answers alone: its sockets have neither O_CLOEXEC nor MSG_NOSIGNAL, nor a deadline for a whole answer.
typedef struct {
    const char *url;
    int socket;       // -1 where there is none
    int interruption; // an eventfd that ends a call; -1 for none
    redisReader *reader;
} connection;

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static int32_t fail(const char *url, sb_error *error, int32_t code, const char *what) {
    snprintf(error->message, sizeof error->message, "%s", what);
    snprintf(error->location, sizeof error->location, "%s", url);
    return code;
}

static void disconnect(connection *link) {
    if (link->socket >= 0) close(link->socket);
    if (link->reader) redisReaderFree(link->reader);
    link->socket = -1;
    link->reader = NULL;
}

// Waits for the socket. Fails with EINTR after an interrupt, and with ETIMEDOUT.
static int ready(const connection *link, short events, int64_t deadline) {
    struct pollfd entries[] = { { .fd = link->socket, .events = events }, { .fd = link->interruption, .events = POLLIN } };
    for (;;) {
        int64_t rest = deadline - now();
        int count = poll(entries, 2, rest < 0 ? 0 : rest > INT32_MAX ? INT32_MAX : (int)rest);
        if (count < 0 && errno == EINTR) continue;
        uint64_t raised;
        errno = ETIMEDOUT;
        if (count > 0 && entries[1].revents && read(link->interruption, &raised, sizeof raised) > 0) errno = EINTR;
        else if (count > 0 && entries[0].revents) return 0;
        return -1;
    }
}

// Sends a command and receives the answer; NULL, with errno, where there is none.
static redisReply *exchange(const connection *link, const char *command, size_t unsent, int64_t deadline) {
    char bytes[65536];
    void *reply = NULL;
    while (!reply) {
        int sends = unsent > 0;
        ssize_t count = sends ? send(link->socket, command, unsent, MSG_NOSIGNAL) : recv(link->socket, bytes, sizeof bytes, 0);
        if (count < 0 && errno == EAGAIN && ready(link, sends ? POLLOUT : POLLIN, deadline) == 0) continue;
        if (count == 0) errno = ECONNRESET;
        if (count <= 0) return NULL;
        if (sends) {
            command += count;
            unsent -= (size_t)count;
            continue;
        }
        redisReaderFeed(link->reader, bytes, (size_t)count);
        errno = EPROTO;
        if (redisReaderGetReply(link->reader, &reply) != REDIS_OK) return NULL;
    }
    return reply;
}

// Returns the code for an answer, or for errno where there is none.
static int32_t checked(const connection *link, const redisReply *reply, sb_error *error) {
    static const struct { char prefix[12]; int32_t code; } codes[] = {
        { "OOM ", SB_ERR_STORAGE_FULL }, { "MISCONF ", SB_ERR_STORAGE_FULL }, { "GONE ", SB_ERR_CORRUPT },
        { "NOAUTH ", SB_ERR_FORBIDDEN }, { "NOPERM ", SB_ERR_FORBIDDEN }, { "READONLY ", SB_ERR_FORBIDDEN },
        { "DENIED ", SB_ERR_FORBIDDEN }, { "FORMAT ", SB_ERR_INCOMPATIBLE }, { "WRONGTYPE ", SB_ERR_CORRUPT },
        { "LOADING ", SB_ERR_UNAVAILABLE }, { "BUSY ", SB_ERR_UNAVAILABLE }, { "MASTERDOWN ", SB_ERR_UNAVAILABLE },
    };
    if (!reply && errno == EINTR) return SB_NOTHING;
    if (!reply) return fail(link->url, error, errno == EACCES ? SB_ERR_FORBIDDEN : SB_ERR_UNAVAILABLE, strerror(errno));
    if (reply->type != REDIS_REPLY_ERROR) return SB_OK;
    int32_t code = SB_ERR_SYSTEM;
    for (size_t index = 0; index < sizeof codes / sizeof *codes; index++)
        if (strncmp(reply->str, codes[index].prefix, strlen(codes[index].prefix)) == 0) code = codes[index].code;
    return fail(link->url, error, code, reply->str);
}

static int connect_to(connection *link, const struct addrinfo *address, int64_t deadline) {
    link->socket = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (link->socket < 0) return -1;
    int number = connect(link->socket, address->ai_addr, address->ai_addrlen) == 0 ? 0 : errno;
    if (number == EINPROGRESS && ready(link, POLLOUT, deadline) < 0) number = errno;
    else if (number == EINPROGRESS) getsockopt(link->socket, SOL_SOCKET, SO_ERROR, &number, &(socklen_t){ sizeof number });
    if (number != 0) disconnect(link);
    else if (address->ai_family != AF_UNIX) setsockopt(link->socket, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
    errno = number;
    return number == 0 ? 0 : -1;
}

static int32_t connect_socket(connection *link, int64_t deadline, sb_error *error) {
    struct sockaddr_un local = { .sun_family = AF_UNIX };
    struct addrinfo address = { .ai_family = AF_UNIX, .ai_addr = (struct sockaddr *)&local, .ai_addrlen = sizeof local };
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV }, *found = NULL;
    char host[256], port[6];
    int used = 0, result = 0;
    if (strncmp(link->url, "unix:/", 6) == 0 && strlen(link->url + 5) < sizeof local.sun_path)
        strcpy(local.sun_path, link->url + 5);
    else if (sscanf(link->url, "tcp://%255[^][:/@]:%5[0-9]%n", host, port, &used) == 2 && !link->url[used] && atoi(port) < 65536)
        result = getaddrinfo(host, port, &hints, &found);
    else return fail(link->url, error, SB_ERR_INVALID_ARGUMENT, "The URL is neither unix:/PATH nor tcp://HOST:PORT.");
    if (result != 0) return fail(link->url, error, SB_ERR_UNAVAILABLE, gai_strerror(result));
    const struct addrinfo *each = found ? found : &address;
    while (connect_to(link, each, deadline) < 0 && errno != EINTR && each->ai_next) each = each->ai_next;
    if (found) freeaddrinfo(found);
    if (link->socket < 0) return checked(link, NULL, error);
    return (link->reader = redisReaderCreate()) ? SB_OK : SB_ERR_LIMIT_EXCEEDED;
}
