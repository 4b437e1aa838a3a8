// A backend as a plugin: a log in a stream of one Redis server, version 7 or later. Docs/Guide/Plugins.md has the command
// that compiles a plugin; this one needs -lhiredis behind it.
//
// The record at position N is the entry N+1 of the stream. Each function is one script, which the server runs alone and
// writes to its append-only file as one transaction. It answers with a list of texts. With “appendfsync always” it
// answers, and shows the record to others, only after the sync.
#include "sharedcore_backend.h"

#include <errno.h>
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { BLOCKING = 2000, ANY_LIST = -1 }; // ms of a blocking read; in place of a number of texts: nil or any list

// A call fails when no byte comes from the server for so long. The host bounds the whole of a function.
static const struct timeval timeout = { .tv_sec = 8 };

struct sb_log {
    char host[256];    // or the path of a unix socket
    unsigned int port; // 0 for a unix socket
    char key[192], id[64];
    int32_t durability;
    redisContext *calls, *waits; // NULL where there is no connection
    pthread_mutex_t lock;        // of `waits`, for interrupt
    int is_interrupted;
};

#define KEYS "local R, S = KEYS[1] .. ':records', KEYS[1] .. ':snapshot' "
#define CHECK KEYS \
    "local h = redis.call('HMGET', KEYS[1], 'id', 'start', 'end') " \
    "if h[1] ~= ARGV[1] then return redis.error_reply('GONE The log was removed from the server.') end " \
    "local start, last = tonumber(h[2]), tonumber(h[3]) " \
    "if not (tostring(h[2]) .. ' ' .. tostring(h[3])):find('^%d+ %d+$') or start > last or last >= 2^53 " \
    "  or #redis.call('XRANGE', R, '(' .. h[3], '+', 'COUNT', 1) > 0 then " \
    "  return redis.error_reply('GONE The log is damaged: its start or its end does not fit its records.') " \
    "end "

static const char open_script[] = KEYS
    "if ARGV[1] == 'create' and redis.call('EXISTS', KEYS[1]) == 0 then "
    "  redis.call('DEL', R, S) "
    "  redis.call('HSET', KEYS[1], 'format', 2, 'id', table.concat(redis.call('TIME'), '.'), 'start', 0, 'end', 0) "
    "end "
    "local h = redis.call('HMGET', KEYS[1], 'format', 'id') "
    "if h[1] and h[1] ~= '2' then return redis.error_reply('FORMAT The log is of another version.') end "
    "return {h[2] or ''}";

static const char append_script[] = CHECK
    "if last ~= tonumber(ARGV[2]) then return {} end "
    "redis.call('XADD', R, ARGV[3], 'r', ARGV[4]) "
    "redis.call('HSET', KEYS[1], 'end', ARGV[3]) "
    "return {h[3]}";

static const char read_script[] = CHECK
    "local position = tonumber(ARGV[2]) "
    "local snapshot, first = start > position and redis.call('GET', S) or '', math.max(start, position) "
    "last = math.min(last, first + tonumber(ARGV[3])) "
    "if start > position and snapshot == '' then return redis.error_reply('GONE The server has lost the snapshot.') end "
    "local records, answer = redis.call('XRANGE', R, first + 1, last), {h[2], h[3], snapshot} "
    "if #records < last - first then return redis.error_reply('GONE The server has lost records.') end "
    "for i, entry in ipairs(records) do answer[i + 3] = entry[2][2] end "
    "return answer";

// The record before the snapshot stays, because a wait for it or for one before it ends only by an entry. DEL is first:
// it is allowed on a full server, and so are the commands after it.
static const char compact_script[] = CHECK
    "if start >= tonumber(ARGV[2]) then return {} end "
    "redis.call('DEL', S) "
    "redis.call('SET', S, ARGV[3]) "
    "redis.call('HSET', KEYS[1], 'start', ARGV[2]) "
    "redis.call('XTRIM', R, 'MINID', '=', ARGV[2]) "
    "return {}";

static int32_t fail(const sb_log *log, sb_error *error, int32_t code, const char *what) {
    snprintf(error->message, sizeof error->message, "%s", what);
    snprintf(error->location, sizeof error->location, log->port ? "%s:%u" : "%s", log->host, log->port);
    return code;
}

// Replaces a connection, which interrupt may use meanwhile.
static void replace(sb_log *log, redisContext **link, redisContext *new) {
    pthread_mutex_lock(&log->lock);
    redisContext *old = *link;
    *link = new;
    if (new && link == &log->waits && log->is_interrupted) shutdown(new->fd, SHUT_RDWR);
    pthread_mutex_unlock(&log->lock);
    if (old) redisFree(old);
}

// Returns whether an answer is a list of texts, at least so many; for ANY_LIST, whether it is nil or a list.
static int fits(const redisReply *reply, int count) {
    if (count == ANY_LIST) return reply->type == REDIS_REPLY_NIL || reply->type == REDIS_REPLY_ARRAY;
    int is_list = reply->type == REDIS_REPLY_ARRAY && reply->elements >= (size_t)count;
    for (size_t index = 0; is_list && index < reply->elements; index++)
        is_list = reply->element[index]->type == REDIS_REPLY_STRING;
    return is_list;
}

// Returns the code for an answer, which it frees after an error. Without an answer that fits, the connection is lost.
static int32_t checked(sb_log *log, redisContext **link, redisReply *reply, int count, sb_error *error) {
    static const struct { const char *prefix; int32_t code; } codes[] = {
        { "OOM ", SB_ERR_STORAGE_FULL },    { "MISCONF ", SB_ERR_STORAGE_FULL },   { "GONE ", SB_ERR_CORRUPT },
        { "NOAUTH ", SB_ERR_FORBIDDEN },    { "NOPERM ", SB_ERR_FORBIDDEN },       { "WRONGTYPE ", SB_ERR_CORRUPT },
        { "READONLY ", SB_ERR_FORBIDDEN },  { "DENIED ", SB_ERR_FORBIDDEN },       { "ERR The ID ", SB_ERR_CORRUPT },
        { "LOADING ", SB_ERR_UNAVAILABLE }, { "MASTERDOWN ", SB_ERR_UNAVAILABLE }, { "FORMAT ", SB_ERR_INCOMPATIBLE },
        { "BUSY ", SB_ERR_UNAVAILABLE },    { "ERR max ", SB_ERR_UNAVAILABLE },    { "NOREPLICAS ", SB_ERR_FORBIDDEN },
    };
    if (!reply) {
        int is_late = errno == EAGAIN && (*link)->err == REDIS_ERR_IO;
        fail(log, error, SB_ERR_UNAVAILABLE, is_late ? "The server does not answer." : (*link)->errstr);
        replace(log, link, NULL);
        return SB_ERR_UNAVAILABLE;
    }
    if (fits(reply, count)) return SB_OK;
    static const char *const types[] = { "answer", "text", "list", "number", "nil", "status" };
    int is_error = reply->type == REDIS_REPLY_ERROR;
    const char *type = types[reply->type < REDIS_REPLY_ERROR ? reply->type : 0], *text = reply->str ? reply->str : "";
    char wrong[160];
    snprintf(wrong, sizeof wrong, "The server answered a wrong %s: “%.60s”, %zu elements.", type, text, reply->elements);
    int32_t code = SB_ERR_SYSTEM;
    for (size_t index = 0; is_error && index < sizeof codes / sizeof *codes; index++)
        if (strncmp(text, codes[index].prefix, strlen(codes[index].prefix)) == 0) code = codes[index].code;
    fail(log, error, code, is_error ? text : wrong);
    if (!is_error) replace(log, link, NULL);
    freeReplyObject(reply);
    return code;
}

// Returns whether the server's configuration has a key with a value that begins so.
static int has(const redisReply *configuration, const char *key, const char *value) {
    for (size_t index = 0; index + 1 < configuration->elements; index += 2)
        if (strcmp(configuration->element[index]->str, key) == 0)
            return strncmp(configuration->element[index + 1]->str, value, strlen(value)) == 0;
    return 0;
}

// With “everysec” a write to the file waits while a sync runs, and a server that is killed then loses what it has
// answered.
static int32_t durability_of(const redisReply *configuration) {
    if (has(configuration, "maxmemory-policy", "allkeys")) return SB_DURABILITY_UNSPECIFIED;
    int is_written = has(configuration, "appendonly", "yes") && !has(configuration, "appendfsync", "everysec");
    if (!is_written) return SB_DURABILITY_MEMORY;
    if (has(configuration, "no-appendfsync-on-rewrite", "yes")) return SB_DURABILITY_PROCESS;
    return has(configuration, "appendfsync", "always") ? SB_DURABILITY_DISK : SB_DURABILITY_PROCESS;
}

// Fails if the server keeps records less well than is asked, or than when the log was opened.
static int32_t check_durability(sb_log *log, redisContext **link, sb_error *error) {
    redisReply *reply = redisCommand(*link, "CONFIG GET *append* maxmemory-policy");
    int32_t code = checked(log, link, reply, 0, error);
    if (code != SB_OK) return code;
    int32_t found = durability_of(reply);
    freeReplyObject(reply);
    if (found == SB_DURABILITY_UNSPECIFIED || found < log->durability)
        return fail(log, error, log->id[0] ? SB_ERR_INCOMPATIBLE : SB_ERR_UNSUPPORTED,
                    "The server keeps records less well than is needed: appendonly, appendfsync or maxmemory-policy.");
    if (!log->id[0]) log->durability = found;
    return SB_OK;
}

// Makes a connection if there is none, or if the server has closed it since the last call.
static int32_t connect_log(sb_log *log, redisContext **link, sb_error *error) {
    char byte;
    ssize_t count = *link ? recv((*link)->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) : 0;
    if (count >= 0 || errno != EAGAIN) replace(log, link, NULL);
    if (*link) return SB_OK;
    redisContext *new = log->port ? redisConnectWithTimeout(log->host, (int)log->port, timeout)
                                  : redisConnectUnixWithTimeout(log->host, timeout);
    int is_refused = errno == EACCES;
    if (!new) return fail(log, error, SB_ERR_LIMIT_EXCEEDED, strerror(ENOMEM));
    if (new->err) {
        int32_t code = is_refused && new->err == REDIS_ERR_IO ? SB_ERR_FORBIDDEN : SB_ERR_UNAVAILABLE;
        fail(log, error, code, new->errstr);
        redisFree(new);
        return code;
    }
    fcntl(new->fd, F_SETFD, FD_CLOEXEC);
    redisSetTimeout(new, timeout);
    replace(log, link, new);
    int32_t code = check_durability(log, link, error);
    if (code != SB_OK) replace(log, link, NULL);
    return code;
}

// Sends a command and returns the code for its answer of so many texts, which the caller frees after SB_OK.
static int32_t ask(sb_log *log, redisContext **link, redisReply **reply, int count, sb_error *error,
                   const char *format, ...) {
    int32_t code = connect_log(log, link, error);
    if (code != SB_OK) return code;
    va_list values;
    va_start(values, format);
    *reply = redisvCommand(*link, format, values);
    va_end(values);
    return checked(log, link, *reply, count, error);
}

static void close_log(sb_log *log) {
    replace(log, &log->calls, NULL);
    replace(log, &log->waits, NULL);
    pthread_mutex_destroy(&log->lock);
    free(log);
}

static int32_t join(sb_log *log, const sb_place *place, sb_error *error) {
    const char *url = place->values[0];
    int size = 0;
    if (sscanf(url, "unix:%107[^\n]%n", log->host, &size) != 1) // the longest path of a socket
        sscanf(url, "tcp://%255[^][:/@]:%5u%n", log->host, &log->port, &size);
    if (size == 0 || url[size] || log->port > 65535 || (log->port == 0 && log->host[0] != '/'))
        return fail(log, error, SB_ERR_INVALID_ARGUMENT, "The URL is neither unix:/PATH nor tcp://HOST:PORT.");
    // A cluster keeps together what has the same text in braces.
    if (snprintf(log->key, sizeof log->key, "%s:{%s}", place->values[1], place->group) >= (int)sizeof log->key)
        return fail(log, error, SB_ERR_INVALID_ARGUMENT, "The prefix is too long.");
    log->durability = place->durability;
    redisReply *reply;
    int32_t code = ask(log, &log->calls, &reply, 1, error, "EVAL %s 1 %s %s", open_script, log->key,
                       place->reads_only ? "find" : "create");
    if (code != SB_OK) return code;
    snprintf(log->id, sizeof log->id, "%s", reply->element[0]->str);
    freeReplyObject(reply);
    return log->id[0] ? SB_OK : fail(log, error, SB_ERR_UNAVAILABLE, "There is no such group.");
}

static int32_t open_log(const sb_place *place, sb_log **result, sb_promises *promises, sb_error *error) {
    sb_log *log = *result = calloc(1, sizeof *log);
    if (!log) return SB_ERR_LIMIT_EXCEEDED;
    pthread_mutex_init(&log->lock, NULL);
    int32_t code = join(log, place, error);
    promises->durability = log->durability;
    if (code != SB_OK) close_log(log);
    return code;
}

static int32_t append(sb_log *log, uint64_t position, const uint8_t *record, size_t count, sb_error *error) {
    redisReply *reply;
    int32_t code = ask(log, &log->calls, &reply, 0, error, "EVAL %s 1 %s %s %" PRIu64 " %" PRIu64 " %b", append_script,
                       log->key, log->id, position, position + 1, record, count);
    if (code != SB_OK) return code;
    if (reply->elements == 0) code = SB_NOT_APPENDED;
    freeReplyObject(reply);
    return code;
}

static int32_t read_log(sb_log *log, uint64_t position, size_t limit, sb_slice *slice, sb_error *error) {
    redisReply *reply;
    int32_t code = ask(log, &log->calls, &reply, 3, error, "EVAL %s 1 %s %s %" PRIu64 " %lu", read_script, log->key,
                       log->id, position, (unsigned long)limit);
    if (code != SB_OK) return code;
    redisReply **texts = reply->element;
    slice->begin(slice, strtoull(texts[0]->str, NULL, 10), strtoull(texts[1]->str, NULL, 10));
    if (texts[2]->len > 0) slice->snapshot(slice, (const uint8_t *)texts[2]->str, texts[2]->len);
    for (size_t index = 3; index < reply->elements; index++)
        slice->record(slice, (const uint8_t *)texts[index]->str, texts[index]->len);
    freeReplyObject(reply);
    return SB_OK;
}

static int32_t compact(sb_log *log, uint64_t position, const uint8_t *snapshot, size_t count, sb_error *error) {
    redisReply *reply;
    int32_t code = ask(log, &log->calls, &reply, 0, error, "EVAL %s 1 %s %s %" PRIu64 " %b", compact_script, log->key,
                       log->id, position, snapshot, count);
    if (code == SB_OK) freeReplyObject(reply);
    return code;
}

// Asks for the end first: a blocking read does not notice that the log was removed.
static int32_t look(sb_log *log, uint64_t position, int64_t time, sb_error *error) {
    redisReply *reply;
    int32_t code = ask(log, &log->waits, &reply, 3, error, "EVAL %s 1 %s %s %" PRIu64 " 0", read_script, log->key,
                       log->id, position);
    if (code != SB_OK) return code;
    int is_there = strtoull(reply->element[1]->str, NULL, 10) > position;
    freeReplyObject(reply);
    if (is_there || time < 1) return is_there ? SB_OK : SB_NOTHING;
    code = ask(log, &log->waits, &reply, ANY_LIST, error, "XREAD COUNT 1 BLOCK %d STREAMS %s:records %" PRIu64,
               time < BLOCKING ? (int)time : BLOCKING, log->key, position);
    if (code != SB_OK) return code;
    if (reply->type == REDIS_REPLY_NIL) code = SB_NOTHING;
    freeReplyObject(reply);
    return code;
}

static int32_t wait_log(sb_log *log, uint64_t position, int64_t time, sb_error *error) {
    int32_t code = look(log, position, time, error);
    pthread_mutex_lock(&log->lock);
    if (log->is_interrupted) code = SB_NOTHING;
    log->is_interrupted = 0;
    pthread_mutex_unlock(&log->lock);
    return code;
}

// Ends a command that blocks with its connection.
static void interrupt(sb_log *log) {
    pthread_mutex_lock(&log->lock);
    log->is_interrupted = 1;
    if (log->waits) shutdown(log->waits->fd, SHUT_RDWR);
    pthread_mutex_unlock(&log->lock);
}

static const sb_setting settings[] = {
    { "url", "tcp://127.0.0.1:6379", "The server: unix:/PATH or tcp://HOST:PORT.", 0, 0 },
    { "prefix", "sharedcore", "The beginning of the names of keys.", 0, 0 },
};

static const sb_promises promises = { sizeof promises, SB_DURABILITY_DISK, SB_STOPPED_WRITERS_TOLERATED, 0 };

static const sb_backend backend = {
    .abi = SB_ABI, .size = sizeof backend, .name = "redis", .version = "1.0", .promises = &promises,
    .settings = settings, .setting_count = sizeof settings / sizeof *settings,
    .open = open_log, .append = append, .read = read_log, .wait = wait_log, .interrupt = interrupt,
    .compact = compact, .close = close_log,
};

const sb_backend *sharedcore_backend(uint32_t abi) { return abi == SB_ABI ? &backend : NULL; }
