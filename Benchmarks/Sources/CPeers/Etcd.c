// One node of etcd over a unix socket, through its JSON gateway: https://etcd.io/docs/v3.4/dev-guide/api_grpc_gateway/
#define _GNU_SOURCE
#include "CPeers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { longest = 8192 };

static int connection;
static char put_request[2048], get_request[512];

static void prepare(char *request, size_t size, const char *path, const char *body) {
    snprintf(request, size,
        "POST /v3/kv/%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s", path,
        strlen(body), body);
}

/// Sends a request and reads its answer to the end.
static void ask(const char *request) {
    char answer[longest + 1];
    size_t size = 0;
    peers_write(connection, request, strlen(request));
    while (1) {
        ssize_t count = read(connection, answer + size, longest - size);
        if (count <= 0) measuring_fail("etcd", count < 0 ? errno : ECONNRESET);
        size += (size_t)count;
        answer[size] = 0;
        char *body = strstr(answer, "\r\n\r\n"), *length = strcasestr(answer, "Content-Length:");
        if (body == NULL) continue;
        if (strstr(answer, " 200 ") == NULL) measuring_fail("etcd refuses a request", EPROTO);
        if (length == NULL) measuring_fail("etcd answers without a length", EPROTO);
        if (size >= (size_t)(body - answer) + 4 + strtoul(length + 15, NULL, 10)) return;
    }
}

static int take(const char *word, int count, double *samples) {
    const char *request = strcmp(word, "get") == 0 ? get_request : put_request;
    for (int index = 0; index < count; index++) {
        uint64_t begin = measuring_now();
        ask(request);
        samples[index] = (double)(measuring_now() - begin);
    }
    return 1;
}

int peers_etcd(const char *directory) {
    // Its addresses have a port also where they are names of sockets, which lie in the directory.
    char *arguments[] = {
        (char *)peers_program("etcd"), "--data-dir", "data", "--listen-client-urls", "unix://etcd:1",
        "--advertise-client-urls", "unix://etcd:1", "--listen-peer-urls", "unix://peer:2",
        "--initial-advertise-peer-urls", "http://localhost:2", "--initial-cluster", "default=http://localhost:2", NULL,
    };
    char value[512], body[1024];
    // 256 bytes of zeros in base 64.
    memset(value, 'A', 342);
    memcpy(value + 342, "==", 3);
    snprintf(body, sizeof body, "{\"key\":\"a2V5\",\"value\":\"%s\"}", value);
    prepare(put_request, sizeof put_request, "put", body);
    prepare(get_request, sizeof get_request, "range", "{\"key\":\"a2V5\"}");
    peers_start_service(directory, arguments);
    connection = peers_connect(directory, "etcd:1");
    ask(put_request);
    return measuring_serve(take);
}
