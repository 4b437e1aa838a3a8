// A backend as a plugin: a log in a stream of one Redis server, version 7 or later.
//
//     cc -shared -fPIC -O2 -fvisibility=hidden -I ../../Sources/CBackendPlugin/include redis.c -o libsharedcore-redis.so -lhiredis
//
// The record at position N is the entry N+1 of the stream. Each function is one script, which the server runs alone and writes to its
// append-only file as one transaction. With “appendfsync always” it answers, and shows the record to others, only after the sync.
#define _GNU_SOURCE
#include "sharedcore_backend.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { DEADLINE = 8000, BLOCKING = 2000, LARGEST_READ = 256, NUMBER_SIZE = 24, LARGEST_PREFIX = 64 };

// hiredis parses answers alone: its sockets have neither O_CLOEXEC nor MSG_NOSIGNAL, nor a deadline for a whole answer.
typedef struct {
    int socket, interruption;
    redisReader *reader;
} connection;

struct sb_log {
    char url[256], key[192], id[64];
    int32_t durability;
    uint64_t end; // the last that was read
    connection calls, waits;
};

#define KEYS "local R, P = KEYS[1] .. ':records', KEYS[1] .. ':parts' "
#define CHECK KEYS "local h = redis.call('HMGET', KEYS[1], 'id', 'start', 'end') " \
    "if h[1] ~= ARGV[1] or not h[2] or not h[3] then return redis.error_reply('GONE The log was removed from the server.') end "

static const char open_script[] = KEYS
    "if ARGV[1] ~= '' and redis.call('EXISTS', KEYS[1]) == 0 then redis.call('DEL', R, P) "
    "redis.call('HSET', KEYS[1], 'format', 1, 'id', table.concat(redis.call('TIME'), '.'), 'start', 0, 'end', 0) end "
    "local h = redis.call('HMGET', KEYS[1], 'format', 'id') "
    "if h[1] and h[1] ~= '1' then return redis.error_reply('FORMAT The log is of another version.') end return h[2]";
static const char append_script[] = CHECK "if h[3] ~= ARGV[2] then return h[3] end "
    "redis.call('XADD', R, ARGV[3], 'r', ARGV[4]) redis.call('HSET', KEYS[1], 'end', ARGV[3]) return redis.status_reply('OK')";
static const char read_script[] = CHECK "local first, parts = ARGV[2], {} "
    "if tonumber(h[2]) > tonumber(first) then first = h[2] parts = redis.call('LRANGE', P, 0, -1) end "
    "return {h[2], h[3], parts, redis.call('XRANGE', R, '(' .. first, '+', 'COUNT', ARGV[3])}";
static const char end_script[] = CHECK "return h[3]";
// The record before the snapshot stays, because a wait for it or for one before it ends only by an entry. DEL is first: it is allowed
// on a full server, and so are the commands after it.
static const char compact_script[] = CHECK "if tonumber(h[2]) >= tonumber(ARGV[2]) then return 0 end redis.call('DEL', P) "
    "for i = 3, #ARGV do redis.call('RPUSH', P, ARGV[i]) end "
    "redis.call('HSET', KEYS[1], 'start', ARGV[2]) redis.call('XTRIM', R, 'MINID', '=', ARGV[2]) return 1";

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static int32_t fail(const sb_log *log, sb_error *error, int32_t code, const char *what) {
    snprintf(error->message, sizeof error->message, "%s", what);
    snprintf(error->location, sizeof error->location, "%s", log->url);
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

static int send_all(const connection *link, const char *bytes, size_t count, int64_t deadline) {
    while (count > 0) {
        ssize_t sent = send(link->socket, bytes, count, MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN && ready(link, POLLOUT, deadline) == 0) continue;
        if (sent < 0) return -1;
        bytes += sent;
        count -= (size_t)sent;
    }
    return 0;
}

static redisReply *receive(const connection *link, int64_t deadline) {
    char bytes[65536];
    for (;;) {
        void *reply = NULL;
        int result = redisReaderGetReply(link->reader, &reply);
        if (result == REDIS_OK && reply) return reply;
        errno = EPROTO;
        if (result != REDIS_OK || ready(link, POLLIN, deadline) < 0) return NULL;
        ssize_t count = recv(link->socket, bytes, sizeof bytes, 0);
        if (count == 0) errno = ECONNRESET;
        if (count == 0 || (count < 0 && errno != EAGAIN)) return NULL;
        if (count > 0) redisReaderFeed(link->reader, bytes, (size_t)count);
    }
}

static redisReply *exchange(const connection *link, const char *command, size_t size, int64_t deadline) {
    return send_all(link, command, size, deadline) < 0 ? NULL : receive(link, deadline);
}

// Returns the code for an answer, or for errno where there is none.
static int32_t checked(const sb_log *log, const redisReply *reply, sb_error *error) {
    static const struct { char prefix[12]; int32_t code; } codes[] = {
        { "OOM ", SB_ERR_STORAGE_FULL }, { "MISCONF ", SB_ERR_STORAGE_FULL }, { "GONE ", SB_ERR_CORRUPT },
        { "NOAUTH ", SB_ERR_FORBIDDEN }, { "NOPERM ", SB_ERR_FORBIDDEN }, { "READONLY ", SB_ERR_FORBIDDEN },
        { "DENIED ", SB_ERR_FORBIDDEN }, { "FORMAT ", SB_ERR_INCOMPATIBLE }, { "WRONGTYPE ", SB_ERR_CORRUPT },
        { "LOADING ", SB_ERR_UNAVAILABLE }, { "BUSY ", SB_ERR_UNAVAILABLE }, { "MASTERDOWN ", SB_ERR_UNAVAILABLE },
    };
    if (!reply && errno == EINTR) return SB_NOTHING;
    if (!reply) return fail(log, error, errno == EACCES ? SB_ERR_FORBIDDEN : SB_ERR_UNAVAILABLE, strerror(errno));
    if (reply->type != REDIS_REPLY_ERROR) return SB_OK;
    int32_t code = SB_ERR_SYSTEM;
    for (size_t index = 0; index < sizeof codes / sizeof *codes; index++)
        if (strncmp(reply->str, codes[index].prefix, strlen(codes[index].prefix)) == 0) code = codes[index].code;
    return fail(log, error, code, reply->str);
}

static int connect_to(connection *link, const struct addrinfo *address, int64_t deadline) {
    link->socket = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int number = link->socket >= 0 && connect(link->socket, address->ai_addr, address->ai_addrlen) == 0 ? 0 : errno;
    if (link->socket >= 0 && number == EINPROGRESS) {
        if (ready(link, POLLOUT, deadline) < 0) number = errno;
        else getsockopt(link->socket, SOL_SOCKET, SO_ERROR, &number, &(socklen_t){ sizeof number });
    }
    if (number != 0) disconnect(link);
    else if (address->ai_family != AF_UNIX) setsockopt(link->socket, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
    errno = number;
    return number == 0 ? 0 : -1;
}

static int32_t connect_socket(const sb_log *log, connection *link, int64_t deadline, sb_error *error) {
    struct sockaddr_un local = { .sun_family = AF_UNIX };
    struct addrinfo address = { .ai_family = AF_UNIX, .ai_addr = (struct sockaddr *)&local, .ai_addrlen = sizeof local };
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV }, *found = NULL;
    char host[256], port[6];
    int used = 0, result = 0;
    if (strncmp(log->url, "unix:/", 6) == 0 && strlen(log->url + 5) < sizeof local.sun_path)
        strcpy(local.sun_path, log->url + 5);
    else if (sscanf(log->url, "tcp://%255[^][:/@]:%5[0-9]%n", host, port, &used) == 2 && !log->url[used] && atoi(port) < 65536)
        result = getaddrinfo(host, port, &hints, &found);
    else return fail(log, error, SB_ERR_INVALID_ARGUMENT, "The URL is neither unix:/PATH nor tcp://HOST:PORT.");
    if (result != 0) return fail(log, error, SB_ERR_UNAVAILABLE, gai_strerror(result));
    const struct addrinfo *each = found ? found : &address;
    while (connect_to(link, each, deadline) < 0 && errno != EINTR && each->ai_next) each = each->ai_next;
    if (found) freeaddrinfo(found);
    if (link->socket < 0) return checked(log, NULL, error);
    return (link->reader = redisReaderCreate()) ? SB_OK : SB_ERR_LIMIT_EXCEEDED;
}

// With “everysec” a write to the file waits while a sync runs, and a server that is killed then loses what it has answered.
static int32_t durability_of(const redisReply *reply) {
    int is_logged = 0, is_written = 0, is_synced = 0;
    for (size_t index = 0; index + 1 < reply->elements; index += 2) {
        const char *key = reply->element[index]->str, *value = reply->element[index + 1]->str;
        if (strcmp(key, "appendonly") == 0) is_logged = strcmp(value, "yes") == 0;
        if (strcmp(key, "appendfsync") == 0) is_written = strcmp(value, "everysec") != 0, is_synced += strcmp(value, "always") == 0;
        if (strcmp(key, "no-appendfsync-on-rewrite") == 0) is_synced += strcmp(value, "no") == 0;
        if (strcmp(key, "maxmemory-policy") == 0 && strncmp(value, "allkeys", 7) == 0) return SB_DURABILITY_UNSPECIFIED;
    }
    return !is_logged || !is_written ? SB_DURABILITY_MEMORY : is_synced == 2 ? SB_DURABILITY_DISK : SB_DURABILITY_PROCESS;
}

static int32_t connect_log(sb_log *log, connection *link, int64_t deadline, sb_error *error) {
    static const char question[] = "CONFIG GET appendonly appendfsync no-appendfsync-on-rewrite maxmemory-policy\r\n";
    int32_t code = connect_socket(log, link, deadline, error), durability = SB_DURABILITY_MEMORY;
    redisReply *reply = code == SB_OK ? exchange(link, question, sizeof question - 1, deadline) : NULL;
    if (code == SB_OK) code = checked(log, reply, error);
    if (code == SB_OK) durability = durability_of(reply);
    if (reply) freeReplyObject(reply);
    if (code == SB_OK && !durability) code = fail(log, error, SB_ERR_UNSUPPORTED, "The server evicts keys (maxmemory-policy).");
    if (code == SB_OK && durability < log->durability)
        code = fail(log, error, SB_ERR_INCOMPATIBLE, "The server keeps records less well than when the group was opened.");
    if (code == SB_OK && !log->durability) log->durability = durability; // open
    if (code != SB_OK) disconnect(link);
    return code;
}

static sb_bytes text(const char *text) { return (sb_bytes){ (const uint8_t *)text, strlen(text) }; }

static sb_bytes number(char *digits, uint64_t value) {
    return (sb_bytes){ (const uint8_t *)digits, (size_t)snprintf(digits, NUMBER_SIZE, "%" PRIu64, value) };
}

// Runs a script. Over a connection that was lost meanwhile, all but an append are tried once more: they may run twice.
static int32_t run(sb_log *log, connection *link, const char *script, const sb_bytes *values, size_t count, redisReply **reply,
                   int64_t deadline, sb_error *error) {
    const sb_bytes head[] = { text("EVAL"), text(script), text("1"), text(log->key) };
    const size_t head_count = sizeof head / sizeof *head;
    char *command = NULL;
    size_t size = 0;
    FILE *output = open_memstream(&command, &size);
    if (!output) return fail(log, error, SB_ERR_LIMIT_EXCEEDED, strerror(errno));
    fprintf(output, "*%zu\r\n", head_count + count);
    for (size_t index = 0; index < head_count + count; index++) {
        sb_bytes word = index < head_count ? head[index] : values[index - head_count];
        fprintf(output, "$%zu\r\n", word.count);
        fwrite(word.bytes, 1, word.count, output);
        fputs("\r\n", output);
    }
    int32_t code = fclose(output) == 0 ? SB_OK : fail(log, error, SB_ERR_LIMIT_EXCEEDED, strerror(errno));
    *reply = NULL;
    for (int may_repeat = script != append_script; code == SB_OK && !*reply;) {
        may_repeat = may_repeat && link->socket >= 0;
        if (link->socket < 0 && (code = connect_log(log, link, deadline, error)) != SB_OK) break;
        *reply = exchange(link, command, size, deadline);
        if (!*reply && may_repeat && errno != EINTR && errno != ETIMEDOUT) disconnect(link);
        else if ((code = checked(log, *reply, error)) != SB_OK && !*reply) disconnect(link);
    }
    free(command);
    if (code != SB_OK && *reply) freeReplyObject(*reply);
    return code;
}

static void close_log(sb_log *log) {
    disconnect(&log->calls);
    disconnect(&log->waits);
    if (log->waits.interruption >= 0) close(log->waits.interruption);
    free(log);
}

static int32_t open_log(const sb_place *place, sb_log **result, sb_promises *promises, sb_error *error) {
    sb_log *log = calloc(1, sizeof *log);
    const char *prefix = place->values[1];
    if (!log) return SB_ERR_LIMIT_EXCEEDED;
    log->calls = (connection){ .socket = -1, .interruption = -1 };
    log->waits = (connection){ .socket = -1, .interruption = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
    // A cluster keeps together what has the same text in braces.
    snprintf(log->key, sizeof log->key, "%s:{%s}", prefix, place->group);
    int32_t code = SB_OK;
    redisReply *reply = NULL;
    if (snprintf(log->url, sizeof log->url, "%s", place->values[0]) >= (int)sizeof log->url)
        code = fail(log, error, SB_ERR_INVALID_ARGUMENT, "The URL is too long.");
    else if (strlen(prefix) > LARGEST_PREFIX
             || prefix[strspn(prefix, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:-")])
        code = fail(log, error, SB_ERR_INVALID_ARGUMENT, "The prefix has other characters than 64 letters, digits and “._:-”.");
    else if (log->waits.interruption < 0)
        code = fail(log, error, SB_ERR_SYSTEM, strerror(errno));
    sb_bytes id = text(place->reads_only ? "" : "new");
    int64_t deadline = now() + (place->open_timeout < DEADLINE ? place->open_timeout : DEADLINE);
    // The first connection says what the server keeps, before a log is made.
    if (code == SB_OK) code = connect_log(log, &log->calls, deadline, error);
    if (code == SB_OK && place->durability > log->durability)
        code = fail(log, error, SB_ERR_UNSUPPORTED, "The server's appendonly and appendfsync keep records less well than is asked.");
    if (code == SB_OK) code = run(log, &log->calls, open_script, &id, 1, &reply, deadline, error);
    if (code == SB_OK) {
        if (reply->type != REDIS_REPLY_STRING) code = fail(log, error, SB_ERR_UNAVAILABLE, "There is no such group.");
        else snprintf(log->id, sizeof log->id, "%s", reply->str);
        freeReplyObject(reply);
    }
    promises->durability = log->durability;
    *result = log;
    if (code != SB_OK) close_log(log);
    return code;
}

static int32_t append(sb_log *log, uint64_t position, const uint8_t *record, size_t count, sb_error *error) {
    char digits[2][NUMBER_SIZE];
    const sb_bytes values[] = { text(log->id), number(digits[0], position), number(digits[1], position + 1), { record, count } };
    redisReply *reply;
    int32_t code = run(log, &log->calls, append_script, values, 4, &reply, now() + DEADLINE, error);
    if (code != SB_OK) return code;
    if (reply->type != REDIS_REPLY_STATUS) code = SB_NOT_APPENDED;
    freeReplyObject(reply);
    return code;
}

static int32_t read_log(sb_log *log, uint64_t position, size_t limit, sb_slice *slice, sb_error *error) {
    char digits[2][NUMBER_SIZE];
    if (limit > LARGEST_READ) limit = LARGEST_READ;
    const sb_bytes values[] = { text(log->id), number(digits[0], position), number(digits[1], limit) };
    redisReply *reply;
    int32_t code = run(log, &log->calls, read_script, values, 3, &reply, now() + DEADLINE, error);
    if (code != SB_OK) return code;
    uint64_t start = strtoull(reply->element[0]->str, NULL, 10), end = strtoull(reply->element[1]->str, NULL, 10);
    const redisReply *parts = reply->element[2], *records = reply->element[3];
    uint64_t first = start > position ? start : position;
    int is_whole = end >= log->end && end >= start && (records->elements > 0) == (end > first);
    for (size_t index = 0; is_whole && index < records->elements; index++)
        is_whole = strtoull(records->element[index]->element[0]->str, NULL, 10) == first + index + 1;
    if (is_whole) {
        log->end = end;
        slice->begin(slice, start, end);
        for (size_t index = 0; index < parts->elements; index++)
            slice->part(slice, (const uint8_t *)parts->element[index]->str, (size_t)parts->element[index]->len);
        for (size_t index = 0; index < records->elements; index++) {
            const redisReply *record = records->element[index]->element[1]->element[1];
            slice->record(slice, (const uint8_t *)record->str, (size_t)record->len);
        }
    }
    freeReplyObject(reply);
    return is_whole ? SB_OK : fail(log, error, SB_ERR_CORRUPT, "The server has lost records.");
}

static int32_t compact(sb_log *log, uint64_t position, const sb_bytes *parts, size_t count, sb_error *error) {
    char digits[NUMBER_SIZE];
    sb_bytes *values = calloc(count + 2, sizeof *values);
    if (!values) return SB_ERR_LIMIT_EXCEEDED;
    values[0] = text(log->id);
    values[1] = number(digits, position);
    if (count > 0) memcpy(values + 2, parts, count * sizeof *parts);
    redisReply *reply;
    int32_t code = run(log, &log->calls, compact_script, values, count + 2, &reply, now() + 2 * DEADLINE, error);
    if (code == SB_OK) freeReplyObject(reply);
    free(values);
    return code;
}

// An interrupt ends a command that blocks with its connection. Each step looks whether the log is still there: XREAD does not notice.
static int32_t wait_log(sb_log *log, uint64_t position, int64_t timeout, sb_error *error) {
    sb_bytes id = text(log->id);
    char command[sizeof log->key + 96];
    redisReply *reply;
    for (int64_t end_of_wait = now() + timeout;;) {
        int32_t code = run(log, &log->waits, end_script, &id, 1, &reply, now() + DEADLINE, error);
        if (code != SB_OK) return code;
        uint64_t end = strtoull(reply->str, NULL, 10);
        freeReplyObject(reply);
        int64_t rest = end_of_wait - now();
        if (end > position || rest <= 0) return end > position ? SB_OK : SB_NOTHING;
        int size = snprintf(command, sizeof command, "XREAD COUNT 1 BLOCK %" PRId64 " STREAMS %s:records %" PRIu64 "\r\n",
                            rest < BLOCKING ? rest : BLOCKING, log->key, position);
        reply = exchange(&log->waits, command, (size_t)size, now() + (rest < BLOCKING ? rest : BLOCKING) + 1000);
        code = checked(log, reply, error);
        int is_there = reply && reply->type == REDIS_REPLY_ARRAY;
        if (reply) freeReplyObject(reply);
        else disconnect(&log->waits);
        if (code != SB_OK || is_there) return code;
    }
}

static void interrupt(sb_log *log) {
    uint64_t one = 1;
    if (write(log->waits.interruption, &one, sizeof one) < 0) return; // it is raised already
}

static const sb_setting settings[] = {
    { "url", "tcp://127.0.0.1:6379", "The server: unix:/PATH or tcp://HOST:PORT.", 0, 0 },
    { "prefix", "sharedcore", "The beginning of the names of keys.", 0, 0 },
};

static const sb_promises promises = { sizeof promises, SB_DURABILITY_DISK, SB_STOPPED_WRITERS_TOLERATED, 0 };

static const sb_backend backend = {
    .abi = SB_ABI, .size = sizeof backend, .name = "redis", .version = "1.0", .promises = &promises,
    .settings = settings, .setting_count = 2, .open = open_log, .append = append, .read = read_log, .wait = wait_log,
    .interrupt = interrupt, .compact = compact, .close = close_log,
};

const sb_backend *sharedcore_backend(uint32_t abi) { return abi == SB_ABI ? &backend : NULL; }
