// A backend as a plugin: a log in a stream of one Redis server, version 7 or later.
//
//     cc -shared -fPIC -O2 -fvisibility=hidden -I ../../Sources/CBackendPlugin/include redis.c -o libsharedcore-redis.so -lhiredis
//
// The record at position N is the entry N+1 of the stream. Each function is one script, which the server runs alone and writes to its
// append-only file as one transaction. With “appendfsync always” it answers, and shows the record to others, only after the sync.
#include "redis_connection.h"

#include <inttypes.h>
#include <sys/eventfd.h>

enum { DEADLINE = 8000, BLOCKING = 2000, LARGEST_READ = 256, LARGEST_PREFIX = 64 };

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

// Fails if the server keeps records less well than when the log was opened.
static int32_t check_durability(sb_log *log, const connection *link, int64_t deadline, sb_error *error) {
    static const char question[] = "CONFIG GET appendonly appendfsync no-appendfsync-on-rewrite maxmemory-policy\r\n";
    redisReply *reply = exchange(link, question, sizeof question - 1, deadline);
    int32_t code = checked(link, reply, error), durability = code == SB_OK ? durability_of(reply) : 0;
    freeReplyObject(reply);
    if (code != SB_OK) return code;
    if (!durability) return fail(log->url, error, SB_ERR_UNSUPPORTED, "The server evicts keys (maxmemory-policy).");
    if (durability < log->durability)
        return fail(log->url, error, SB_ERR_INCOMPATIBLE, "The server keeps records less well than when the group was opened.");
    if (!log->durability) log->durability = durability; // open
    return SB_OK;
}

static int32_t connect_log(sb_log *log, connection *link, int64_t deadline, sb_error *error) {
    int32_t code = connect_socket(link, deadline, error);
    if (code == SB_OK) code = check_durability(log, link, deadline, error);
    if (code != SB_OK) disconnect(link);
    return code;
}

// Sends a command and frees it. Over a connection that was lost meanwhile it is tried once more if it may run twice.
static int32_t run(sb_log *log, connection *link, char *command, int size, int may_repeat, redisReply **reply, int64_t deadline,
                   sb_error *error) {
    if (size < 0) return fail(log->url, error, SB_ERR_LIMIT_EXCEEDED, strerror(ENOMEM));
    int32_t code = SB_OK;
    for (*reply = NULL; code == SB_OK && !*reply;) {
        may_repeat = may_repeat && link->socket >= 0;
        if (link->socket < 0 && (code = connect_log(log, link, deadline, error)) != SB_OK) break;
        *reply = exchange(link, command, (size_t)size, deadline);
        if (*reply || !may_repeat || errno == EINTR || errno == ETIMEDOUT) code = checked(link, *reply, error);
        if (!*reply) disconnect(link);
    }
    free(command);
    if (code != SB_OK) freeReplyObject(*reply);
    return code;
}

static void close_log(sb_log *log) {
    disconnect(&log->calls);
    disconnect(&log->waits);
    if (log->waits.interruption >= 0) close(log->waits.interruption);
    free(log);
}

static int32_t join(sb_log *log, const sb_place *place, sb_error *error) {
    const char *prefix = place->values[1];
    // A cluster keeps together what has the same text in braces.
    snprintf(log->key, sizeof log->key, "%s:{%s}", prefix, place->group);
    if (snprintf(log->url, sizeof log->url, "%s", place->values[0]) >= (int)sizeof log->url)
        return fail(log->url, error, SB_ERR_INVALID_ARGUMENT, "The URL is too long.");
    if (strlen(prefix) > LARGEST_PREFIX
        || prefix[strspn(prefix, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:-")])
        return fail(log->url, error, SB_ERR_INVALID_ARGUMENT, "The prefix has other characters than 64 letters, digits and “._:-”.");
    if (log->waits.interruption < 0) return fail(log->url, error, SB_ERR_SYSTEM, strerror(errno));
    int64_t deadline = now() + (place->open_timeout < DEADLINE ? place->open_timeout : DEADLINE);
    // The first connection says what the server keeps, before a log is made.
    int32_t code = connect_log(log, &log->calls, deadline, error);
    if (code != SB_OK) return code;
    if (place->durability > log->durability)
        return fail(log->url, error, SB_ERR_UNSUPPORTED, "The server's appendonly and appendfsync keep records less well than is asked.");
    char *command;
    int size = redisFormatCommand(&command, "EVAL %s 1 %s %s", open_script, log->key, place->reads_only ? "" : "new");
    redisReply *reply;
    if ((code = run(log, &log->calls, command, size, 1, &reply, deadline, error)) != SB_OK) return code;
    if (reply->type == REDIS_REPLY_STRING) snprintf(log->id, sizeof log->id, "%s", reply->str);
    else code = fail(log->url, error, SB_ERR_UNAVAILABLE, "There is no such group.");
    freeReplyObject(reply);
    return code;
}

static int32_t open_log(const sb_place *place, sb_log **result, sb_promises *promises, sb_error *error) {
    sb_log *log = *result = calloc(1, sizeof *log);
    if (!log) return SB_ERR_LIMIT_EXCEEDED;
    log->calls = (connection){ .url = log->url, .socket = -1, .interruption = -1 };
    log->waits = (connection){ .url = log->url, .socket = -1, .interruption = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
    int32_t code = join(log, place, error);
    promises->durability = log->durability;
    if (code != SB_OK) close_log(log);
    return code;
}

static int32_t append(sb_log *log, uint64_t position, const uint8_t *record, size_t count, sb_error *error) {
    char *command;
    int size = redisFormatCommand(&command, "EVAL %s 1 %s %s %llu %llu %b", append_script, log->key, log->id,
                                  (unsigned long long)position, (unsigned long long)position + 1, record, count);
    redisReply *reply;
    int32_t code = run(log, &log->calls, command, size, 0, &reply, now() + DEADLINE, error);
    if (code != SB_OK) return code;
    if (reply->type != REDIS_REPLY_STATUS) code = SB_NOT_APPENDED;
    freeReplyObject(reply);
    return code;
}

static int32_t read_log(sb_log *log, uint64_t position, size_t limit, sb_slice *slice, sb_error *error) {
    char *command;
    int size = redisFormatCommand(&command, "EVAL %s 1 %s %s %llu %d", read_script, log->key, log->id,
                                  (unsigned long long)position, limit < LARGEST_READ ? (int)limit : LARGEST_READ);
    redisReply *reply;
    int32_t code = run(log, &log->calls, command, size, 1, &reply, now() + DEADLINE, error);
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
    return is_whole ? SB_OK : fail(log->url, error, SB_ERR_CORRUPT, "The server has lost records.");
}

static int32_t compact(sb_log *log, uint64_t position, const sb_bytes *parts, size_t count, sb_error *error) {
    char digits[24], *command = NULL;
    snprintf(digits, sizeof digits, "%" PRIu64, position);
    const char *head[] = { "EVAL", compact_script, "1", log->key, log->id, digits };
    const size_t head_count = sizeof head / sizeof *head;
    const char **words = calloc(head_count + count, sizeof *words);
    size_t *sizes = calloc(head_count + count, sizeof *sizes);
    int size = -1;
    if (words && sizes) {
        for (size_t index = 0; index < head_count + count; index++) {
            int is_part = index >= head_count;
            words[index] = is_part ? (const char *)parts[index - head_count].bytes : head[index];
            sizes[index] = is_part ? parts[index - head_count].count : strlen(head[index]);
        }
        size = redisFormatCommandArgv(&command, (int)(head_count + count), words, sizes);
    }
    free(words);
    free(sizes);
    redisReply *reply;
    int32_t code = run(log, &log->calls, command, size, 1, &reply, now() + 2 * DEADLINE, error);
    if (code == SB_OK) freeReplyObject(reply);
    return code;
}

// An interrupt ends a command that blocks with its connection. Each step looks whether the log is still there: XREAD does not notice.
static int32_t wait_log(sb_log *log, uint64_t position, int64_t timeout, sb_error *error) {
    char *question, command[sizeof log->key + 96];
    redisReply *reply;
    for (int64_t end_of_wait = now() + timeout;;) {
        int question_size = redisFormatCommand(&question, "EVAL %s 1 %s %s", end_script, log->key, log->id);
        int32_t code = run(log, &log->waits, question, question_size, 1, &reply, now() + DEADLINE, error);
        if (code != SB_OK) return code;
        uint64_t end = strtoull(reply->str, NULL, 10);
        freeReplyObject(reply);
        int64_t rest = end_of_wait - now();
        if (end > position || rest <= 0) return end > position ? SB_OK : SB_NOTHING;
        int size = snprintf(command, sizeof command, "XREAD COUNT 1 BLOCK %" PRId64 " STREAMS %s:records %" PRIu64 "\r\n",
                            rest < BLOCKING ? rest : BLOCKING, log->key, position);
        reply = exchange(&log->waits, command, (size_t)size, now() + (rest < BLOCKING ? rest : BLOCKING) + 1000);
        code = checked(&log->waits, reply, error);
        int is_there = reply && reply->type == REDIS_REPLY_ARRAY;
        if (!reply) disconnect(&log->waits);
        freeReplyObject(reply);
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
