// Orders about mailboxes of parcels, which Swift programs read and write in a wormhole: an envelope around JSON.

#include "peer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char queue_path[] = ".sharedcore/mailboxes/%main/queue/parcels%2Fqueue";
static const char latest_path[] = ".sharedcore/mailboxes/%main/latest/parcels%2Flatest";
static const char latest_key[] = ".sharedcore/mailboxes/%main/latest/parcels%2Flatest/value";

// Writes a parcel in its envelope. Returns the count of bytes.
static size_t write_parcel(uint8_t *bytes, uint64_t sender, uint64_t count) {
    // The mark, the codec, the schema, no key of a reply, a message.
    static const uint8_t head[] = {0xe1, 4, 'j', 's', 'o', 'n', 0, 0, 0, 0, 0, 0};
    memcpy(bytes, head, sizeof head);
    int length = sprintf(
        (char *)bytes + sizeof head + 1, "{\"sender\":%" PRIu64 ",\"number\":%" PRIu64 ",\"text\":\"\"}", sender, count);
    // One byte of the count is enough below 128.
    bytes[sizeof head] = (uint8_t)length;
    return sizeof head + 1 + (size_t)length;
}

// Reads a number of a parcel. Returns false for other bytes.
static bool read_number(const uint8_t *bytes, size_t count, const char *name, uint64_t *found) {
    char text[256], field[32];
    if (count >= sizeof text || count < 13 || bytes[0] != 0xe1) return false;
    memcpy(text, bytes + 13, count - 13);
    text[count - 13] = 0;
    snprintf(field, sizeof field, "\"%s\":", name);
    const char *at = strstr(text, field);
    if (at == NULL) return false;
    *found = strtoull(at + strlen(field), NULL, 10);
    return true;
}

static int32_t produce_order(const arguments *given, FILE *answer) {
    (void)answer;
    sc_mailbox queue;
    int32_t code = sc_mailbox_open(group, queue_path, 0, SC_REFUSE, &queue, &failure);
    for (uint64_t count = 0; code == SC_OK && count < number(given, 1); count++) {
        uint8_t bytes[256];
        code = sc_send(queue, bytes, write_parcel(bytes, number(given, 0), count), NULL, &failure);
    }
    return code;
}

// Takes parcels until the process ends, and writes each down in the commit that acknowledges it.
static int32_t consume_order(const arguments *given, FILE *answer) {
    (void)given, (void)answer;
    sc_mailbox queue;
    int32_t code = sc_mailbox_open(group, queue_path, 0, SC_REFUSE, &queue, &failure);
    while (code == SC_OK) {
        sc_delivery delivery;
        sc_bytes bytes;
        uint64_t sender, count;
        char key[64];
        code = sc_take(queue, SC_FOREVER, &delivery, &bytes, &failure);
        if (code != SC_OK) return code;
        bool is_parcel = read_number(bytes.bytes, bytes.count, "sender", &sender)
            && read_number(bytes.bytes, bytes.count, "number", &count);
        sc_bytes_free(&bytes);
        if (!is_parcel) return fail(SC_ERR_CORRUPT, "The queue has what is no parcel.");
        snprintf(key, sizeof key, "done/%" PRIu64 "/%" PRIu64, sender, count);
        sc_guard guard = {.key = key, .key_count = SC_NUL, .kind = SC_GUARD_ABSENT};
        sc_operation put = {.kind = SC_PUT, .key = key, .key_count = SC_NUL};
        code = sc_acknowledge_with(delivery, &guard, 1, &put, 1, NULL, NULL, &failure);
        if (code == SC_ERR_GUARD_FAILED) {
            snprintf(key, sizeof key, "twice/%" PRIu64 "/%" PRIu64, sender, count);
            code = sc_put(group, key, SC_NUL, NULL, 0, NULL, &failure);
            if (code == SC_OK) code = sc_acknowledge(delivery, NULL, &failure);
        }
    }
    return code;
}

static int32_t read_order(const arguments *given, FILE *answer) {
    (void)given;
    sc_entry entry;
    uint64_t count;
    int32_t code = sc_get(group, latest_key, SC_NUL, &entry, &failure);
    if (code == SC_NOTHING) fputs("nothing", answer);
    if (code != SC_OK) return code == SC_NOTHING ? SC_OK : code;
    bool is_parcel = read_number(entry.value, entry.value_count, "number", &count);
    sc_entry_free(&entry);
    if (!is_parcel) return fail(SC_ERR_CORRUPT, "The mailbox has what is no parcel.");
    fprintf(answer, "%" PRIu64, count);
    return SC_OK;
}

static char heard[4096];
static sc_watch heard_watch;

static void hear(const char *text) {
    if (heard[0] != 0) strncat(heard, " ", sizeof heard - strlen(heard) - 1);
    strncat(heard, text, sizeof heard - strlen(heard) - 1);
}

static void take_parcels(void *object) {
    (void)object;
    sc_event event;
    int32_t code;
    while ((code = sc_watch_next(heard_watch, 0, &event, &failure)) == SC_OK) {
        if (event.kind == SC_EVENT_LAGGED) hear("lagged");
        for (size_t index = 0; event.kind == SC_EVENT_CHANGES && index < event.count; index++) {
            const sc_change *change = &event.changes[index];
            uint64_t count;
            char text[32];
            if (change->kind != SC_CHANGE_PUT || strcmp(change->entry.key, latest_key) != 0) continue;
            if (read_number(change->entry.value, change->entry.value_count, "number", &count))
                snprintf(text, sizeof text, "%" PRIu64, count);
            else
                snprintf(text, sizeof text, "undecodable");
            hear(text);
        }
        sc_event_free(&event);
    }
    if (code != SC_NOTHING) forget(heard_watch);
}

static int32_t listen_order(const arguments *given, FILE *answer) {
    (void)given, (void)answer;
    int32_t code = sc_watch_open(group, latest_path, SC_NUL, SC_FROM_NOW, 0, &heard_watch, &failure);
    if (code == SC_OK) attend(heard_watch, take_parcels, NULL);
    return code;
}

static int32_t heard_order(const arguments *given, FILE *answer) {
    (void)given;
    fputs(heard, answer);
    return SC_OK;
}

const named_order parcel_orders[] = {
    {"produce", produce_order}, {"consume", consume_order}, {"readParcel", read_order}, {"listenParcels", listen_order},
    {"heardParcels", heard_order}, {NULL, NULL},
};
