// Requests with replies; then a core with calls and an activity, which other threads list, command and acknowledge.

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "participant.h"

static const uint8_t *bytes_of(const char *text) { return (const uint8_t *)text; }

static sc_group group;

static void *answer_requests(void *argument) {
    sc_responder responder = *(sc_responder *)argument;
    sc_error own;
    for (;;) {
        sc_received request;
        sc_bytes bytes;
        int32_t sent = -1, code = sc_responder_take(responder, SC_FOREVER, &request, &bytes, &own);
        if (code == SC_ERR_CLOSED) return NULL;
        CHECK(code == SC_OK);
        if (bytes.count == 0) {
            CHECK(sc_refuse(request, "empty", &sent, &own) == SC_OK);
        } else {
            // The bytes twice.
            uint8_t twice[64];
            memcpy(twice, bytes.bytes, bytes.count);
            memcpy(twice + bytes.count, bytes.bytes, bytes.count);
            CHECK(sc_reply(request, twice, bytes.count * 2, &sent, &own) == SC_OK);
        }
        CHECK(sent == 1 && sc_reply(request, NULL, 0, NULL, &own) == SC_ERR_HANDLE);
        sc_bytes_free(&bytes);
    }
}

static void *wait_for_outcome(void *argument) {
    sc_bytes bytes;
    sc_error own;
    int32_t code = sc_request_next(*(sc_pending_request *)argument, SC_FOREVER, &bytes, &own);
    // The other code is that of a thread which began after the end.
    CHECK((code == SC_ENDED || code == SC_ERR_HANDLE) && bytes.bytes == NULL);
    return NULL;
}

// Requests that are started, which wait with a descriptor and which sc_close ends.
static void started_requests(void) {
    sc_pending_request pending;
    sc_bytes bytes;
    pthread_t thread;
    struct pollfd poll_entry = {.events = POLLIN};
    CHECK_CODE(SC_OK, sc_request_start(group, "double", NULL, bytes_of("ab"), 2, SC_FOREVER, &pending, &error));
    CHECK_CODE(SC_OK, sc_descriptor(pending, &poll_entry.fd, &error));
    CHECK(poll(&poll_entry, 1, 30000) == 1);
    CHECK_CODE(SC_OK, sc_request_next(pending, 0, &bytes, &error));
    CHECK(bytes.count == 4 && memcmp(bytes.bytes, "abab", 4) == 0);
    sc_bytes_free(&bytes);
    CHECK_CODE(SC_ENDED, sc_request_next(pending, SC_FOREVER, &bytes, &error));
    CHECK_CODE(SC_OK, sc_close(pending));
    CHECK_CODE(SC_OK, sc_request_start(group, "double", NULL, NULL, 0, SC_FOREVER, &pending, &error));
    CHECK_CODE(SC_ERR_REFUSED, sc_request_next(pending, SC_FOREVER, &bytes, &error));
    CHECK(strcmp(error.message, "empty") == 0);
    CHECK_CODE(SC_OK, sc_close(pending));
    CHECK_CODE(SC_OK, sc_request_start(group, "nothing", NULL, bytes_of("ab"), 2, 50, &pending, &error));
    CHECK_CODE(SC_ERR_TIMEOUT, sc_request_next(pending, 30000, &bytes, &error));
    CHECK_CODE(SC_OK, sc_close(pending));
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_request_start(group, NULL, NULL, NULL, 0, 50, &pending, &error));
    CHECK(pending == 0);
    // The end of the wait of another thread.
    CHECK_CODE(SC_OK, sc_request_start(group, "nothing", NULL, bytes_of("ab"), 2, SC_FOREVER, &pending, &error));
    CHECK_CODE(SC_NOTHING, sc_request_next(pending, 0, &bytes, &error));
    CHECK_CODE(SC_NOTHING, sc_request_next(pending, 20, &bytes, &error));
    sc_pending_request waited = pending;
    CHECK(pthread_create(&thread, NULL, wait_for_outcome, &waited) == 0);
    usleep(20000);
    CHECK_CODE(SC_OK, sc_close(pending));
    pthread_join(thread, NULL);
    CHECK_CODE(SC_ERR_HANDLE, sc_request_next(pending, 0, &bytes, &error));
}

static void requests(void) {
    sc_responder responder;
    sc_received request;
    sc_bytes bytes;
    pthread_t thread;
    // No program answers.
    CHECK_CODE(SC_ERR_TIMEOUT, sc_request(group, "nothing", NULL, bytes_of("ab"), 2, 50, &bytes, &error));
    CHECK_CODE(SC_OK, sc_responder_open(group, "double", NULL, &responder, &error));
    CHECK_CODE(SC_NOTHING, sc_responder_take(responder, 0, &request, &bytes, &error));
    CHECK(pthread_create(&thread, NULL, answer_requests, &responder) == 0);
    CHECK_CODE(SC_OK, sc_request(group, "double", "bytes", bytes_of("ab"), 2, 30000, &bytes, &error));
    CHECK(bytes.count == 4 && memcmp(bytes.bytes, "abab", 4) == 0);
    sc_bytes_free(&bytes);
    CHECK_CODE(SC_ERR_REFUSED, sc_request(group, "double", NULL, NULL, 0, SC_FOREVER, &bytes, &error));
    CHECK(strcmp(error.message, "empty") == 0);
    // A request in another form is refused, and its responder does not see it.
    CHECK_CODE(SC_ERR_REFUSED, sc_request(group, "double", "json", bytes_of("1"), 1, 30000, &bytes, &error));
    CHECK(strstr(error.message, "json") != NULL);
    started_requests();
    CHECK_CODE(SC_OK, sc_close(responder));
    pthread_join(thread, NULL);
}

struct sent {
    int32_t command, code;
    sc_error error;
};

static void *send_command(void *argument) {
    struct sent *sent = argument;
    sent->code = sc_call_command(group, "call-1", sent->command, 30000, &sent->error);
    return NULL;
}

// Sends a command on a thread of its own, and takes it.
static struct sent command(sc_call call, int32_t command, const char *refusal) {
    struct sent sent = {.command = command};
    pthread_t thread;
    sc_command taken;
    int32_t kind, descriptor;
    CHECK_CODE(SC_NOTHING, sc_call_next_command(call, 0, &taken, &kind, &error));
    CHECK_CODE(SC_OK, sc_descriptor(call, &descriptor, &error));
    CHECK(pthread_create(&thread, NULL, send_command, &sent) == 0);
    struct pollfd poll_entry = {.fd = descriptor, .events = POLLIN};
    CHECK(poll(&poll_entry, 1, 30000) == 1);
    CHECK_CODE(SC_OK, sc_call_next_command(call, 0, &taken, &kind, &error));
    CHECK(kind == command);
    if (refusal == NULL) {
        CHECK_CODE(SC_OK, sc_command_accept(taken, &error));
    } else {
        CHECK_CODE(SC_OK, sc_command_refuse(taken, refusal, &error));
    }
    CHECK_CODE(SC_ERR_HANDLE, sc_command_accept(taken, &error));
    pthread_join(thread, NULL);
    return sent;
}

static void calls(sc_core core) {
    sc_call_list list;
    sc_call_changes changes;
    sc_call call;
    sc_activity activity;
    int32_t acknowledged;
    CHECK_CODE(SC_OK, sc_calls_watch(group, &changes, &error));
    CHECK_CODE(SC_OK, sc_calls_next(changes, 30000, &list, &error));
    CHECK(list.count == 0);
    sc_call_list_free(&list);
    sc_call_info info = {.id = "call-1", .from = "ann", .to = "bob", .direction = SC_DIRECTION_INCOMING, .media = SC_AUDIO};
    CHECK_CODE(SC_ERR_NOT_FOUND, sc_call_command(group, "call-1", SC_COMMAND_ANSWER, 1000, &error));
    info.direction = 0;
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_call_begin(core, &info, &call, &error));
    info.direction = SC_DIRECTION_INCOMING;
    info.state = SC_CALL_ENDED;
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_call_begin(core, &info, &call, &error));
    info.state = SC_CALL_RINGING;
    CHECK_CODE(SC_OK, sc_call_begin(core, &info, &call, &error));
    CHECK_CODE(SC_OK, sc_calls_next(changes, 30000, &list, &error));
    CHECK(list.count == 1 && strcmp(list.calls[0].id, "call-1") == 0 && strcmp(list.calls[0].from, "ann") == 0);
    CHECK(list.calls[0].state == SC_CALL_RINGING && list.calls[0].holder != 0 && list.calls[0].answered == -1);
    sc_call_list_free(&list);
    sc_call_list_free(&list);
    // A core that takes no commands.
    CHECK_CODE(SC_ERR_TIMEOUT, sc_call_command(group, "call-1", SC_COMMAND_ANSWER, 50, &error));
    struct sent sent = command(call, SC_COMMAND_ANSWER, NULL);
    CHECK(sent.code == SC_OK);
    CHECK_CODE(SC_OK, sc_call_change(call, SC_CALL_ANSWERED, &error));
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_call_change_media(call, 4, &error));
    CHECK_CODE(SC_OK, sc_call_change_media(call, 0, &error));
    CHECK_CODE(SC_OK, sc_calls(group, &list, &error));
    CHECK(list.count == 1 && list.calls[0].media == 0 && list.calls[0].state == SC_CALL_ANSWERED);
    sc_call_list_free(&list);
    sent = command(call, SC_COMMAND_HOLD, "the line is dead");
    CHECK(sent.code == SC_ERR_REFUSED && strstr(sent.error.message, "the line is dead") != NULL);
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_call_end(call, SC_END_LOST, NULL, &error));
    CHECK_CODE(SC_OK, sc_call_acknowledge(group, "call-1", &acknowledged, &error));
    CHECK(acknowledged == 0);
    CHECK_CODE(SC_OK, sc_call_end(call, SC_END_FAILED, "no route", &error));
    CHECK_CODE(SC_ERR_HANDLE, sc_call_change(call, SC_CALL_HELD, &error));
    CHECK_CODE(SC_ERR_HANDLE, sc_call_change_media(call, SC_AUDIO, &error));
    CHECK_CODE(SC_OK, sc_calls(group, &list, &error));
    CHECK(list.count == 1 && list.calls[0].state == SC_CALL_ENDED && list.calls[0].end_reason == SC_END_FAILED);
    CHECK(strcmp(list.calls[0].end_text, "no route") == 0 && list.calls[0].holder == 0);
    CHECK(list.calls[0].answered >= list.calls[0].began && list.calls[0].ended >= list.calls[0].answered);
    sc_call_list_free(&list);
    CHECK_CODE(SC_OK, sc_call_acknowledge(group, "call-1", &acknowledged, &error));
    CHECK(acknowledged == 1);
    CHECK_CODE(SC_OK, sc_calls(group, &list, &error));
    CHECK(list.count == 0);
    sc_call_list_free(&list);
    CHECK_CODE(SC_OK, sc_close(changes));
    // Activities.
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_activity_begin(core, "sync", 0, "1", &activity, &error));
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_activity_begin(core, "transfer", 0, "", &activity, &error));
    CHECK_CODE(SC_OK, sc_activity_begin(core, "sync", 60000, "1", &activity, &error));
    CHECK_CODE(SC_OK, sc_activity_end(activity, &error));
    CHECK_CODE(SC_ERR_HANDLE, sc_activity_end(activity, &error));
    // One call is left open, and lost.
    info.id = "call-2";
    CHECK_CODE(SC_OK, sc_call_begin(core, &info, &call, &error));
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    group = open_group(arguments[1], NULL);
    requests();
    sc_group own = open_group(arguments[1], "main");
    sc_participant participant;
    sc_core core = start_main(own, &participant);
    calls(core);
    sc_group guarded;
    CHECK_CODE(SC_OK, sc_core_group(core, &guarded, &error));
    end_main(participant, core);
    sc_call_list list;
    CHECK_CODE(SC_OK, sc_calls(group, &list, &error));
    CHECK(list.count == 1 && list.calls[0].state == SC_CALL_ENDED && list.calls[0].end_reason == SC_END_LOST);
    sc_call_list_free(&list);
    // Through the group of a core that is over nothing is changed.
    CHECK_CODE(SC_ERR_GUARD_FAILED, sc_call_acknowledge(guarded, "call-2", NULL, &error));
    CHECK_CODE(SC_OK, sc_call_acknowledge(group, "call-2", NULL, &error));
    CHECK_CODE(SC_OK, sc_close(guarded));
    CHECK_CODE(SC_OK, sc_close(own));
    CHECK_CODE(SC_OK, sc_close(group));
    puts("calls: fine");
    return 0;
}
