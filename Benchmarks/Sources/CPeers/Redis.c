// Redis over a unix socket, in its own protocol: https://redis.io/docs/latest/develop/reference/protocol-spec/
#define _GNU_SOURCE
#include "CPeers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { longest = 4096 };

static int commands, subscription;
static char topic;
static char rest[longest];
static size_t rest_size;

/// Reads until `end` stands at the end of what was read.
static size_t read_until(int descriptor, char *bytes, const char *end) {
    size_t size = 0, end_size = strlen(end);
    while (size < end_size || memcmp(bytes + size - end_size, end, end_size) != 0) {
        ssize_t count = read(descriptor, bytes + size, longest - size);
        if (count <= 0) measuring_fail("read", count < 0 ? errno : ECONNRESET);
        size += (size_t)count;
    }
    return size;
}

/// Sends one command that is answered by a line.
static void command(const char *text, size_t size) {
    char answer[longest];
    peers_write(commands, text, size);
    read_until(commands, answer, "\r\n");
    if (answer[0] == '-') measuring_fail("Redis refuses a command", EPROTO);
}

static void post(uint64_t value) {
    char text[256];
    int size = snprintf(
        text, sizeof text, "*3\r\n$7\r\nPUBLISH\r\n$1\r\n%c\r\n$20\r\n%020llu\r\n", topic == 'a' ? 'b' : 'a',
        (unsigned long long)value);
    command(text, (size_t)size);
}

/// The next message: `*3 $7 message $1 TOPIC $20 NUMBER`, each with its line end.
static uint64_t hear(void) {
    enum { message_size = 4 + 4 + 9 + 4 + 3 + 5 + 22 };
    while (rest_size < message_size) {
        ssize_t count = read(subscription, rest + rest_size, sizeof rest - rest_size);
        if (count <= 0) measuring_fail("read", count < 0 ? errno : ECONNRESET);
        rest_size += (size_t)count;
    }
    uint64_t value = strtoull(rest + message_size - 22, NULL, 10);
    rest_size -= message_size;
    memmove(rest, rest + message_size, rest_size);
    return value;
}

static const struct measuring_way way = {post, hear};

static void subscribe(const char *directory, char own_topic) {
    char text[64], answer[longest];
    topic = own_topic;
    subscription = peers_connect(directory, "redis");
    int size = snprintf(text, sizeof text, "*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\n%c\r\n", topic);
    peers_write(subscription, text, (size_t)size);
    read_until(subscription, answer, ":1\r\n");
}

void peers_redis_echo(const char *directory) {
    measuring_end_with_parent();
    commands = peers_connect(directory, "redis");
    subscribe(directory, 'b');
    // Here it is subscribed; the other side waits for that.
    post(0);
    measuring_echo(&way);
}

static void put(void) {
    static char text[512];
    static int size;
    if (size == 0) {
        size = snprintf(text, sizeof text, "*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$%d\r\n", peers_value_size);
        memset(text + size, 'v', peers_value_size);
        memcpy(text + size + peers_value_size, "\r\n", 2);
        size += peers_value_size + 2;
    }
    command(text, (size_t)size);
}

static void get(void) {
    static const char text[] = "*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n";
    char answer[longest];
    // The length in a line, then the value and a line end.
    size_t expected = 6 + peers_value_size + 2, size = 0;
    peers_write(commands, text, sizeof text - 1);
    while (size < expected) {
        ssize_t count = read(commands, answer + size, sizeof answer - size);
        if (count <= 0) measuring_fail("read", count < 0 ? errno : ECONNRESET);
        size += (size_t)count;
    }
}

static int take(const char *word, int count, double *samples) {
    if (strcmp(word, "oneway") == 0) {
        measuring_ping(&way, count, samples);
        return 1;
    }
    void (*operation)(void) = strcmp(word, "get") == 0 ? get : put;
    for (int index = 0; index < count; index++) {
        uint64_t begin = measuring_now();
        operation();
        samples[index] = (double)(measuring_now() - begin);
    }
    return 1;
}

// The durability: a put survives nothing; with “log” the end of the service; with “disk” a loss of power.
int peers_redis(char *own, const char *directory, const char *durability) {
    int is_on_disk = strcmp(durability, "disk") == 0, is_logged = is_on_disk || strcmp(durability, "log") == 0;
    char *arguments[] = {
        (char *)peers_program("redis-server"), "--port", "0", "--unixsocket", "redis", "--save", "", "--appendonly",
        is_logged ? "yes" : "no", "--appendfsync", is_on_disk ? "always" : "no", "--daemonize", "no", NULL,
    };
    peers_start_service(directory, arguments);
    commands = peers_connect(directory, "redis");
    subscribe(directory, 'a');
    peers_start_echo(own, "redis-echo", directory);
    hear();
    put();
    return measuring_serve(take);
}
