// Messages with all that they may have, their updates and withdrawals, and the list of the inbox (contract C20, C21, C22).

#include "participant.h"

static sc_group group;

static int equals(const char *found, const char *expected) {
    return expected == NULL ? found == NULL : found != NULL && strcmp(found, expected) == 0;
}

static const sc_field fields[] = {{"x-subject", "Tea"}, {"priority", ""}};

static sc_message full_message(const char *sequence) {
    sc_message message = SC_MESSAGE_INIT;
    message.call_id = "id-1";
    message.sequence = sequence;
    message.kind = "reaction";
    message.sender = "sip:ann@example.org";
    message.recipient = "sip:bob@example.org";
    message.text = "\xc3\xa4 good tea";
    message.body = (const uint8_t *)"\0\xff";
    message.body_count = 2;
    message.account = "work";
    message.conversation = "tea-club";
    message.content_type = "text/plain;charset=utf-8";
    message.time = -1500;
    message.fields = fields;
    message.field_count = 2;
    return message;
}

static void check_full_message(const sc_message *found, const char *sequence) {
    CHECK(found->size == sizeof(sc_message));
    CHECK(equals(found->call_id, "id-1") && equals(found->sequence, sequence) && equals(found->kind, "reaction"));
    CHECK(equals(found->sender, "sip:ann@example.org") && equals(found->recipient, "sip:bob@example.org"));
    CHECK(equals(found->text, "\xc3\xa4 good tea"));
    CHECK(found->body_count == 2 && memcmp(found->body, "\0\xff", 2) == 0);
    CHECK(equals(found->account, "work") && equals(found->conversation, "tea-club"));
    CHECK(equals(found->content_type, "text/plain;charset=utf-8") && found->time == -1500);
    // In the order of their names.
    CHECK(found->field_count == 2);
    CHECK(equals(found->fields[0].name, "priority") && equals(found->fields[0].value, ""));
    CHECK(equals(found->fields[1].name, "x-subject") && equals(found->fields[1].value, "Tea"));
}

static void refuse(sc_core core, sc_message message) {
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_core_deliver(core, &message, NULL, &error));
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_core_update(core, &message, NULL, &error));
}

// Each value that breaks its rule is refused, and nothing is stored.
static void bounds(sc_core core) {
    static char large[1100];
    static sc_field many[33];
    static char names[33][8];
    sc_field twice[] = {{"a", "1"}, {"a", "2"}};
    memset(large, 'a', sizeof large - 1);
    for (int index = 0; index < 33; index++) {
        snprintf(names[index], sizeof names[index], "f%d", index);
        many[index] = (sc_field){names[index], "x"};
    }
    sc_message message = full_message("1");
#define WITH(field, given) (message = full_message("1"), message.field = (given), message)
    refuse(core, WITH(size, sizeof message - 8));
    refuse(core, WITH(size, 0));
    refuse(core, WITH(call_id, ""));
    refuse(core, WITH(call_id, NULL));
    refuse(core, WITH(sequence, ""));
    refuse(core, WITH(sequence, "a b"));
    refuse(core, WITH(kind, "Not A Kind"));
    refuse(core, WITH(account, "a\nb"));
    refuse(core, WITH(conversation, large));
    refuse(core, WITH(content_type, large));
    refuse(core, WITH(time, (INT64_C(1) << 53) + 1));
    refuse(core, WITH(time, INT64_MAX));
    refuse(core, WITH(time, INT64_MIN + 1));
    refuse(core, WITH(fields, NULL));
    refuse(core, (WITH(fields, twice)));
    message = full_message("1");
    message.fields = many;
    message.field_count = 33;
    refuse(core, message);
    many[0].value = large;
    message.field_count = 1;
    refuse(core, message);
    many[0] = (sc_field){"Not-A-Name", "x"};
    refuse(core, message);
    many[0] = (sc_field){"f0", NULL};
    refuse(core, message);
    many[0] = (sc_field){NULL, "x"};
    refuse(core, message);
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_core_deliver(core, NULL, NULL, &error));
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_core_update(core, NULL, NULL, &error));
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_core_withdraw(core, NULL, NULL, NULL, &error));
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_core_withdraw(core, "id-1", "/", NULL, &error));
    const sc_inbox_page *page;
    CHECK_CODE(SC_OK, sc_inbox(group, 0, 10, &page, &error));
    CHECK(page->count == 0 && page->next == 0);
    sc_inbox_page_free(&page);
    CHECK(page == NULL);
    sc_inbox_page_free(&page);
}

// Gets the message of a call-id, or the code of a result without one.
static sc_taken ask(sc_participant executor, const char *id, const char *sequence, int32_t result, sc_participant_event *event) {
    uint64_t request;
    CHECK_CODE(SC_OK, sc_executor_ask(executor, id, sequence, 30000, &request, &error));
    CHECK_CODE(SC_OK, sc_participant_next(executor, 30000, event, &error));
    CHECK(event->kind == SC_RESULT && event->request == request && event->code == SC_OK && event->result == result);
    CHECK((result == SC_RESULT_MESSAGE) == (event->message != NULL));
    return event->taken;
}

static void check_state(const char *id, const char *sequence, int32_t expected, uint64_t expected_session) {
    int32_t state = -1;
    uint64_t session = 99;
    CHECK_CODE(SC_OK, sc_inbox_state(group, id, sequence, &state, &session, &error));
    CHECK(state == expected && session == expected_session);
    CHECK_CODE(SC_OK, sc_inbox_state(group, id, sequence, &state, NULL, &error));
}

static void delivered(sc_core core, sc_participant main, sc_participant executor, sc_group executor_group) {
    int32_t flag = -1, change = -1;
    uint64_t session;
    const sc_inbox_page *page;
    sc_participant_event event;
    sc_message message = full_message("2");
    check_state("id-1", "2", SC_MESSAGE_ABSENT, 0);
    CHECK_CODE(SC_OK, sc_core_update(core, &message, &change, &error));
    CHECK(change == SC_UPDATE_ABSENT);
    CHECK_CODE(SC_OK, sc_core_withdraw(core, "id-1", "2", &change, &error));
    CHECK(change == SC_UPDATE_ABSENT);
    CHECK_CODE(SC_OK, sc_core_deliver(core, &message, &flag, &error));
    CHECK(flag == 0);
    CHECK_CODE(SC_OK, sc_core_deliver(core, &message, &flag, &error));
    CHECK(flag == 1);
    // Another sequence is another message; the shortest one has a call-id alone.
    sc_message other = SC_MESSAGE_INIT;
    other.call_id = "id-1";
    other.sequence = "10";
    CHECK_CODE(SC_OK, sc_core_deliver(core, &other, &flag, &error));
    CHECK(flag == 0);
    sc_message plain = SC_MESSAGE_INIT;
    plain.call_id = "id-2";
    CHECK_CODE(SC_OK, sc_core_deliver(core, &plain, NULL, &error));

    // Two pages, the oldest first.
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_inbox(group, 0, 0, &page, &error));
    CHECK(strstr(error.message, "not 0") != NULL);
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_inbox(group, 0, SIZE_MAX, &page, &error));
    CHECK(strstr(error.message, "not 18446744073709551615") != NULL);
    CHECK_CODE(SC_OK, sc_inbox(group, 0, 2, &page, &error));
    CHECK(page->size == sizeof(sc_inbox_page) && page->count == 2 && page->next == page->messages[1]->stored_at);
    CHECK(page->messages[0]->size == sizeof(sc_listed_message) && page->messages[0]->stored_at > 0);
    check_full_message(page->messages[0]->message, "2");
    CHECK(page->messages[0]->state == SC_MESSAGE_STORED && page->messages[0]->taken_by == 0);
    CHECK(equals(page->messages[1]->message->sequence, "10") && page->messages[1]->message->field_count == 0);
    uint64_t after = page->next;
    sc_inbox_page_free(&page);
    CHECK_CODE(SC_OK, sc_inbox(group, after, 2, &page, &error));
    CHECK(page->count == 1 && page->next == 0);
    const sc_message *found = page->messages[0]->message;
    CHECK(equals(found->call_id, "id-2") && equals(found->sequence, NULL) && equals(found->kind, "text"));
    CHECK(equals(found->sender, "") && equals(found->text, "") && found->body_count == 0 && found->time == SC_NO_TIME);
    CHECK(equals(found->account, NULL) && equals(found->conversation, NULL) && equals(found->content_type, NULL));
    sc_inbox_page_free(&page);

    // A wait for a sequence gets that one, though another message of the call-id is older.
    CHECK_CODE(SC_OK, sc_session(executor_group, &session, &error));
    sc_taken taken = ask(executor, "id-1", "10", SC_RESULT_MESSAGE, &event);
    CHECK(equals(event.message->sequence, "10") && event.from_core == 0);
    sc_participant_event_free(&event);
    check_state("id-1", "10", SC_MESSAGE_TAKEN, session);
    check_state("id-1", NULL, SC_MESSAGE_STORED, 0);
    CHECK_CODE(SC_OK, sc_taken_acknowledge(taken, &flag, &error));
    CHECK(flag == 1);
    check_state("id-1", "10", SC_MESSAGE_ACKNOWLEDGED, 0);

    // An update takes a message out of the hand that it is in.
    taken = ask(executor, "id-1", NULL, SC_RESULT_MESSAGE, &event);
    check_full_message(event.message, "2");
    sc_participant_event_free(&event);
    sc_participant_event_free(&event);
    CHECK_CODE(SC_OK, sc_inbox(group, 0, 2, &page, &error));
    CHECK(page->messages[0]->state == SC_MESSAGE_TAKEN && page->messages[0]->taken_by == session);
    sc_inbox_page_free(&page);
    message.text = "no tea";
    CHECK_CODE(SC_OK, sc_core_update(core, &message, &change, &error));
    CHECK(change == SC_UPDATE_CHANGED_IN_HAND);
    CHECK_CODE(SC_OK, sc_taken_acknowledge(taken, &flag, &error));
    CHECK(flag == 0);
    message.text = "some tea";
    CHECK_CODE(SC_OK, sc_core_update(core, &message, &change, &error));
    CHECK(change == SC_UPDATE_CHANGED);
    taken = ask(executor, "id-1", NULL, SC_RESULT_MESSAGE, &event);
    CHECK(equals(event.message->text, "some tea"));
    sc_participant_event_free(&event);
    CHECK_CODE(SC_OK, sc_taken_give_back(taken, &error));

    // Main acknowledges exactly one identity.
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_main_acknowledge(main, "id-1", "", &flag, &error));
    CHECK_CODE(SC_OK, sc_main_acknowledge(main, "id-1", NULL, &flag, &error));
    CHECK(flag == 0);
    CHECK_CODE(SC_OK, sc_main_acknowledge(main, "id-1", "2", &flag, &error));
    CHECK(flag == 1);
    CHECK_CODE(SC_OK, sc_core_update(core, &message, &change, &error));
    CHECK(change == SC_UPDATE_OVER);

    // A withdrawn message has nothing to show.
    CHECK_CODE(SC_OK, sc_core_withdraw(core, "id-2", NULL, &change, &error));
    CHECK(change == SC_UPDATE_CHANGED);
    CHECK_CODE(SC_OK, sc_core_withdraw(core, "id-2", NULL, &change, &error));
    CHECK(change == SC_UPDATE_OVER);
    ask(executor, "id-2", NULL, SC_RESULT_NOTHING, &event);
    sc_participant_event_free(&event);
}

// The inbox remembers what became of the messages, also for a session that comes when no participant is left.
static void remembered(const char *directory) {
    CHECK_CODE(SC_OK, sc_close(group));
    group = open_group(directory, NULL);
    const sc_inbox_page *page;
    check_state("id-1", "2", SC_MESSAGE_ACKNOWLEDGED, 0);
    check_state("id-1", "10", SC_MESSAGE_ACKNOWLEDGED, 0);
    check_state("id-1", NULL, SC_MESSAGE_ACKNOWLEDGED, 0);
    check_state("id-2", NULL, SC_MESSAGE_NOTHING, 0);
    check_state("id-3", NULL, SC_MESSAGE_ABSENT, 0);
    CHECK_CODE(SC_OK, sc_inbox(group, 0, 10, &page, &error));
    CHECK(page->count == 0);
    sc_inbox_page_free(&page);
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    group = open_group(arguments[1], NULL);
    sc_group main_group = open_group(arguments[1], "main"), executor_group = open_group(arguments[1], "executor");
    sc_participant main, executor;
    sc_core core = start_main(main_group, &main);
    CHECK_CODE(SC_OK, sc_executor_open(executor_group, NULL, &executor, &error));
    bounds(core);
    delivered(core, main, executor, executor_group);
    CHECK_CODE(SC_OK, sc_close(executor));
    end_main(main, core);
    CHECK_CODE(SC_ERR_HANDLE, sc_core_withdraw(core, "id-2", NULL, NULL, &error));
    CHECK_CODE(SC_OK, sc_close(executor_group));
    CHECK_CODE(SC_OK, sc_close(main_group));
    remembered(arguments[1]);
    CHECK_CODE(SC_OK, sc_close(group));
    puts("messages: fine");
    return 0;
}
