#include "datagram.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct datagram {
    int descriptor;
    struct datagram_callbacks callbacks;
    /// What the server has not answered yet; NULL for nothing.
    const char *request;
    /// When it is sent again.
    int64_t due;
};

static int64_t milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static void ask(struct datagram *client, const char *request) {
    client->request = request;
    client->due = milliseconds() + 100;
    (void)send(client->descriptor, request, strlen(request), MSG_DONTWAIT);
}

struct datagram *datagram_open(uint16_t port, struct datagram_callbacks callbacks) {
    struct datagram *client = calloc(1, sizeof *client);
    if (!client) return NULL;
    struct sockaddr_in server = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    client->callbacks = callbacks;
    client->descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (client->descriptor < 0 || connect(client->descriptor, (struct sockaddr *)&server, sizeof server) < 0) {
        datagram_close(client);
        return NULL;
    }
    ask(client, "REGISTER");
    return client;
}

int datagram_descriptor(const struct datagram *client) { return client->descriptor; }

int datagram_timeout(const struct datagram *client) {
    if (!client->request) return -1;
    int64_t left = client->due - milliseconds();
    return left < 0 ? 0 : (int)left;
}

static void receive(struct datagram *client, char *line) {
    char *word = line, *id = strchr(line, ' '), *text = NULL;
    if (id) *id++ = 0;
    if (id) text = strchr(id, ' ');
    if (text) *text++ = 0;
    if (!strcmp(word, "OK")) {
        if (client->request && !strcmp(client->request, "REGISTER")) client->request = NULL;
    } else if (!strcmp(word, "BYE")) {
        client->request = NULL;
        client->callbacks.unregistered(client->callbacks.user);
    } else if (!strcmp(word, "MESSAGE") && text && client->callbacks.received(client->callbacks.user, id, text)) {
        char answer[256];
        int length = snprintf(answer, sizeof answer, "ACK %s", id);
        (void)send(client->descriptor, answer, (size_t)length, MSG_DONTWAIT);
    }
}

void datagram_step(struct datagram *client) {
    char line[1024];
    ssize_t count;
    while ((count = recv(client->descriptor, line, sizeof line - 1, MSG_DONTWAIT)) >= 0) {
        line[count] = 0;
        receive(client, line);
    }
    if (client->request && client->due <= milliseconds()) ask(client, client->request);
}

void datagram_unregister(struct datagram *client) { ask(client, "UNREGISTER"); }

void datagram_close(struct datagram *client) {
    if (client->descriptor >= 0) close(client->descriptor);
    free(client);
}
