// What raw libzmq takes between processes of one machine, through a third: the least that a hub can cost.
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "CMeasuring.h"

#ifdef ZMQ
#include <zmq.h>

/// What a post, a put and an answer take on the wire, about.
enum { news_size = 64, put_size = 300, ask_size = 40, answer_size = 64, longest = 512 };

static void *context, *requests, *news;
static char topic;

static void check(int result, const char *what) {
    if (result < 0) measuring_fail(what, errno);
}

static void *open_socket(int type, const char *directory, const char *name, int is_bound) {
    char endpoint[256];
    int none = 0;
    snprintf(endpoint, sizeof endpoint, "ipc://%s/%s", directory, name);
    void *socket = zmq_socket(context, type);
    if (socket == NULL) measuring_fail("zmq_socket", errno);
    check(zmq_setsockopt(socket, ZMQ_LINGER, &none, sizeof none), "zmq_setsockopt");
    check(is_bound ? zmq_bind(socket, endpoint) : zmq_connect(socket, endpoint), endpoint);
    return socket;
}

/// The hub: what comes as news goes out as such; anything else is answered.
static _Noreturn void hub(const char *directory) {
    char name[256], body[longest];
    measuring_end_with_parent();
    context = zmq_ctx_new();
    requests = open_socket(ZMQ_ROUTER, directory, "requests", 1);
    news = open_socket(ZMQ_PUB, directory, "news", 1);
    while (1) {
        int name_size = zmq_recv(requests, name, sizeof name, 0);
        int size = zmq_recv(requests, body, sizeof body, 0);
        check(name_size, "zmq_recv");
        check(size, "zmq_recv");
        if (body[0] == 'a' || body[0] == 'b') {
            check(zmq_send(news, body, (size_t)size, 0), "zmq_send");
        } else {
            check(zmq_send(requests, name, (size_t)name_size, ZMQ_SNDMORE), "zmq_send");
            check(zmq_send(requests, body, answer_size, 0), "zmq_send");
        }
    }
}

static void post(uint64_t value) {
    char body[news_size] = {topic == 'a' ? 'b' : 'a'};
    memcpy(body + 1, &value, sizeof value);
    check(zmq_send(requests, body, sizeof body, 0), "zmq_send");
}

static uint64_t hear(void) {
    char body[longest];
    uint64_t value;
    check(zmq_recv(news, body, sizeof body, 0), "zmq_recv");
    memcpy(&value, body + 1, sizeof value);
    return value;
}

static const struct measuring_way way = {post, hear};

static void join(const char *directory, char own_topic) {
    topic = own_topic;
    context = zmq_ctx_new();
    requests = open_socket(ZMQ_DEALER, directory, "requests", 0);
    news = open_socket(ZMQ_SUB, directory, "news", 0);
    check(zmq_setsockopt(news, ZMQ_SUBSCRIBE, &topic, 1), "zmq_setsockopt");
}

static _Noreturn void echo(const char *directory) {
    measuring_end_with_parent();
    join(directory, 'b');
    measuring_echo(&way);
}

static int take_ways(const char *word, int count, double *samples) {
    (void)word;
    measuring_ping(&way, count, samples);
    return 1;
}

static int relay(char *own, const char *directory) {
    char *hub_arguments[] = {own, "hub", (char *)directory, NULL};
    char *echo_arguments[] = {own, "echo", (char *)directory, NULL};
    measuring_start(hub_arguments, NULL);
    measuring_start(echo_arguments, NULL);
    join(directory, 'a');
    // A subscription takes effect some time after it was made: until then, what is sent to it is lost.
    zmq_pollitem_t item = {.socket = news, .events = ZMQ_POLLIN};
    do post(measuring_now());
    while (zmq_poll(&item, 1, 50) == 0);
    do hear();
    while (zmq_poll(&item, 1, 50) > 0);
    return measuring_serve(take_ways);
}

static int take_requests(const char *word, int count, double *samples) {
    char body[longest] = {'?'};
    size_t size = strcmp(word, "put") == 0 ? put_size : ask_size;
    for (int index = 0; index < count; index++) {
        uint64_t begin = measuring_now();
        check(zmq_send(requests, body, size, 0), "zmq_send");
        check(zmq_recv(requests, body, sizeof body, 0), "zmq_recv");
        samples[index] = (double)(measuring_now() - begin);
    }
    return 1;
}

static int ask(char *own, const char *directory) {
    char *hub_arguments[] = {own, "hub", (char *)directory, NULL};
    measuring_start(hub_arguments, NULL);
    context = zmq_ctx_new();
    requests = open_socket(ZMQ_DEALER, directory, "requests", 0);
    return measuring_serve(take_requests);
}

int main(int count, char **arguments) {
    if (count == 3 && strcmp(arguments[1], "hub") == 0) hub(arguments[2]);
    if (count == 3 && strcmp(arguments[1], "echo") == 0) echo(arguments[2]);
    if (count == 3 && strcmp(arguments[1], "relay") == 0) return relay(arguments[0], arguments[2]);
    if (count == 3 && strcmp(arguments[1], "request") == 0) return ask(arguments[0], arguments[2]);
    fprintf(stderr, "usage: sharedcore-limits-zmq [relay DIRECTORY | request DIRECTORY]\n");
    return 64;
}
#else
int main(void) {
    measuring_absent("this build is without ZeroMQ");
}
#endif
