// A loop over the descriptors of mailboxes and of a responder, which threads and other sessions fill.

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

enum { thread_count = 3, round_count = 500, round_messages = 2 };

static const char *directory;
static sc_group group;

static int is_readable(int32_t descriptor, int timeout) {
    struct pollfd poll_entry = {.fd = descriptor, .events = POLLIN};
    int found = poll(&poll_entry, 1, timeout);
    CHECK(found >= 0 && (found == 0 || poll_entry.revents == POLLIN));
    return found;
}

static int32_t descriptor_of(sc_handle handle) {
    int32_t descriptor = -1, again = -2;
    CHECK_CODE(SC_OK, sc_descriptor(handle, &descriptor, &error));
    CHECK_CODE(SC_OK, sc_descriptor(handle, &again, &error));
    CHECK(descriptor >= 0 && again == descriptor);
    return descriptor;
}

static sc_delivery take(sc_mailbox mailbox) {
    sc_delivery delivery;
    sc_bytes bytes;
    int32_t code = sc_take(mailbox, 0, &delivery, &bytes, &error);
    if (code == SC_NOTHING) return 0;
    CHECK_CODE(SC_OK, code);
    sc_bytes_free(&bytes);
    return delivery;
}

// With no message there the descriptor becomes and stays quiet, when the signals of earlier messages have come.
static void check_quiet(sc_mailbox mailbox, int32_t descriptor) {
    for (int tries = 0; tries < 20; tries++) {
        CHECK(take(mailbox) == 0);
        if (!is_readable(descriptor, 50)) return;
    }
    CHECK(!"the descriptor stays readable");
}

static void send_one(sc_mailbox mailbox) { CHECK_CODE(SC_OK, sc_send(mailbox, (const uint8_t *)"x", 1, NULL, &error)); }

// One message after another: the descriptor is readable while one is there, and not when all are taken.
static void one_mailbox(void) {
    sc_mailbox mailbox;
    CHECK_CODE(SC_OK, sc_mailbox_open(group, "one", 0, SC_REFUSE, &mailbox, &error));
    send_one(mailbox);
    // A message that came before the descriptor.
    int32_t descriptor = descriptor_of(mailbox);
    CHECK(is_readable(descriptor, 0));
    sc_delivery delivery = take(mailbox);
    CHECK(delivery != 0);
    check_quiet(mailbox, descriptor);
    // An acknowledgement brings no message, and what is given back is one.
    CHECK_CODE(SC_OK, sc_acknowledge(delivery, NULL, &error));
    CHECK_CODE(SC_OK, sc_sync(group, &error));
    CHECK(!is_readable(descriptor, 50));
    send_one(mailbox);
    send_one(mailbox);
    CHECK(is_readable(descriptor, 30000));
    delivery = take(mailbox);
    CHECK(delivery != 0);
    // The second one is still there.
    CHECK(is_readable(descriptor, 0));
    sc_delivery second = take(mailbox);
    CHECK(second != 0);
    check_quiet(mailbox, descriptor);
    CHECK_CODE(SC_OK, sc_give_back(second, &error));
    CHECK(is_readable(descriptor, 30000));
    second = take(mailbox);
    CHECK(second != 0);
    CHECK_CODE(SC_OK, sc_acknowledge(second, NULL, &error));
    CHECK_CODE(SC_OK, sc_acknowledge(delivery, NULL, &error));

    // The take of a session ends with it.
    sc_group other = open_group(directory, NULL);
    sc_mailbox others;
    CHECK_CODE(SC_OK, sc_mailbox_open(other, "one", 0, SC_REFUSE, &others, &error));
    send_one(mailbox);
    CHECK(take(others) != 0);
    CHECK_CODE(SC_OK, sc_sync(group, &error));
    check_quiet(mailbox, descriptor);
    CHECK_CODE(SC_OK, sc_close(others));
    CHECK_CODE(SC_OK, sc_close(other));
    CHECK(is_readable(descriptor, 30000));
    delivery = take(mailbox);
    CHECK(delivery != 0);
    CHECK_CODE(SC_OK, sc_acknowledge(delivery, NULL, &error));
    CHECK_CODE(SC_OK, sc_close(mailbox));
    CHECK_CODE(SC_ERR_HANDLE, sc_descriptor(mailbox, &descriptor, &error));
}

// While a take clears the descriptor, two messages come: the take gets one, and the descriptor is readable for the other.

static _Atomic int interrupted = -1;
static sc_mailbox interrupting;

static unsigned long long count_of(int descriptor) {
    char path[64], line[128];
    unsigned long long found = 0;
    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", descriptor);
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    while (fgets(line, sizeof line, file) != NULL) sscanf(line, "eventfd-count: %llx", &found);
    CHECK(fclose(file) == 0);
    return found;
}

// Takes the place of the system's function for the library, which clears a descriptor with it.
ssize_t read(int descriptor, void *bytes, size_t count) {
    if (descriptor == atomic_load(&interrupted)) {
        atomic_store(&interrupted, -1);
        unsigned long long before = count_of(descriptor);
        send_one(interrupting);
        send_one(interrupting);
        for (int tries = 0; count_of(descriptor) < before + 2; tries++) {
            CHECK(tries < 30000);
            usleep(1000);
        }
    }
    return syscall(SYS_read, descriptor, bytes, count);
}

static void messages_while_clearing(void) {
    sc_mailbox mailbox;
    CHECK_CODE(SC_OK, sc_mailbox_open(group, "clearing", 0, SC_REFUSE, &mailbox, &error));
    CHECK_CODE(SC_OK, sc_mailbox_open(group, "clearing", 0, SC_REFUSE, &interrupting, &error));
    int32_t descriptor = descriptor_of(mailbox);
    check_quiet(mailbox, descriptor);
    atomic_store(&interrupted, descriptor);
    sc_delivery delivery = take(mailbox);
    CHECK(atomic_load(&interrupted) == -1);
    CHECK(delivery != 0);
    CHECK_CODE(SC_OK, sc_acknowledge(delivery, NULL, &error));
    CHECK(is_readable(descriptor, 0));
    delivery = take(mailbox);
    CHECK(delivery != 0);
    CHECK_CODE(SC_OK, sc_acknowledge(delivery, NULL, &error));
    CHECK_CODE(SC_OK, sc_close(interrupting));
    CHECK_CODE(SC_OK, sc_close(mailbox));
}

static sc_mailbox shared;
static int32_t shared_descriptor;
static atomic_int taken;

// Polls and takes one message at a time. Of the threads that a message wakes, one gets it; the others clear the signal while the next
// ones come, and must lose none.
static void *poll_and_take(void *unused) {
    sc_error own;
    (void)unused;
    for (;;) {
        struct pollfd poll_entry = {.fd = shared_descriptor, .events = POLLIN};
        CHECK(poll(&poll_entry, 1, 20000) == 1);
        sc_delivery delivery;
        sc_bytes bytes;
        int32_t code = sc_take(shared, 0, &delivery, &bytes, &own);
        if (code == SC_ERR_HANDLE) return NULL;
        if (code == SC_NOTHING) continue;
        CHECK(code == SC_OK);
        sc_bytes_free(&bytes);
        CHECK(sc_acknowledge(delivery, NULL, &own) == SC_OK);
        atomic_fetch_add(&taken, 1);
    }
}

static void many_threads(void) {
    sc_mailbox sending;
    pthread_t threads[thread_count];
    CHECK_CODE(SC_OK, sc_mailbox_open(group, "many", 0, SC_REFUSE, &shared, &error));
    CHECK_CODE(SC_OK, sc_mailbox_open(group, "many", 0, SC_REFUSE, &sending, &error));
    // The descriptor of a closed mailbox may be another file's: the threads poll a copy.
    shared_descriptor = dup(descriptor_of(shared));
    CHECK(shared_descriptor >= 0);
    for (int index = 0; index < thread_count; index++) {
        CHECK(pthread_create(&threads[index], NULL, poll_and_take, NULL) == 0);
    }
    for (int round = 1; round <= round_count; round++) {
        for (int message = 0; message < round_messages; message++) send_one(sending);
        for (int waits = 0; atomic_load(&taken) < round * round_messages; waits++) {
            if (waits < 1000) {
                sched_yield();
            } else {
                usleep(100);
            }
            CHECK(waits < 200000);
        }
    }
    // Closing makes the descriptor readable.
    CHECK_CODE(SC_OK, sc_close(shared));
    for (int index = 0; index < thread_count; index++) pthread_join(threads[index], NULL);
    close(shared_descriptor);
    CHECK_CODE(SC_OK, sc_close(sending));
}

static void *request(void *result) {
    sc_error own;
    sc_bytes reply;
    int32_t code = sc_request(group, "double", NULL, (const uint8_t *)"a", 1, 30000, &reply, &own);
    if (code == SC_OK) sc_bytes_free(&reply);
    *(int32_t *)result = code;
    return NULL;
}

static void responder(void) {
    sc_responder responder;
    sc_received received;
    sc_bytes bytes;
    pthread_t thread;
    int32_t result = -1, sent = -1;
    CHECK_CODE(SC_OK, sc_responder_open(group, "double", NULL, &responder, &error));
    int32_t descriptor = descriptor_of(responder);
    CHECK_CODE(SC_NOTHING, sc_responder_take(responder, 0, &received, &bytes, &error));
    CHECK(!is_readable(descriptor, 50));
    CHECK(pthread_create(&thread, NULL, request, &result) == 0);
    CHECK(is_readable(descriptor, 30000));
    CHECK_CODE(SC_OK, sc_responder_take(responder, 0, &received, &bytes, &error));
    sc_bytes_free(&bytes);
    // A request that is given back comes again.
    do {
        CHECK_CODE(SC_NOTHING, sc_responder_take(responder, 0, &(sc_received){0}, &(sc_bytes){0}, &error));
    } while (is_readable(descriptor, 50));
    CHECK_CODE(SC_OK, sc_received_give_back(received, &error));
    CHECK_CODE(SC_ERR_HANDLE, sc_received_give_back(received, &error));
    CHECK(is_readable(descriptor, 30000));
    CHECK_CODE(SC_OK, sc_responder_take(responder, 0, &received, &bytes, &error));
    CHECK_CODE(SC_OK, sc_reply(received, bytes.bytes, bytes.count, &sent, &error));
    sc_bytes_free(&bytes);
    pthread_join(thread, NULL);
    CHECK(sent == 1 && result == SC_OK);
    CHECK_CODE(SC_OK, sc_close(responder));
}

// The end of the group makes the descriptor readable, and the take says why.
static void end(void) {
    sc_group ending = open_group(directory, NULL);
    sc_mailbox mailbox;
    sc_delivery delivery;
    sc_bytes bytes;
    CHECK_CODE(SC_OK, sc_mailbox_open(ending, "end", 0, SC_REFUSE, &mailbox, &error));
    int32_t descriptor = descriptor_of(mailbox);
    check_quiet(mailbox, descriptor);
    CHECK_CODE(SC_OK, sc_close(ending));
    CHECK(is_readable(descriptor, 30000));
    CHECK_CODE(SC_ERR_CLOSED, sc_take(mailbox, 0, &delivery, &bytes, &error));
    CHECK(is_readable(descriptor, 0));
    CHECK_CODE(SC_OK, sc_close(mailbox));
    CHECK_CODE(SC_ERR_HANDLE, sc_mailbox_open(ending, "end", 0, SC_REFUSE, &mailbox, &error));
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    directory = arguments[1];
    group = open_group(directory, NULL);
    one_mailbox();
    messages_while_clearing();
    many_threads();
    responder();
    end();
    CHECK_CODE(SC_OK, sc_close(group));
    puts("mailboxes: fine");
    return 0;
}
