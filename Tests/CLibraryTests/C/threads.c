// 64 threads block in sc_take, most of them for messages that never come. The other threads get messages, and other calls return:
// no wait uses a thread of a pool. Closing wakes all threads, also one that waits for an Executor of a closed group. No signal handler and no signal mask is changed.

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { thread_count = 64, served_count = 4 };

static sc_mailbox mailbox, idle;
static atomic_int waiting, taken, woken;

static void *take(void *argument) {
    sc_mailbox own_mailbox = *(sc_mailbox *)argument;
    sc_error own;
    for (;;) {
        sc_delivery delivery;
        sc_bytes bytes;
        atomic_fetch_add(&waiting, 1);
        int32_t code = sc_take(own_mailbox, SC_FOREVER, &delivery, &bytes, &own);
        if (code == SC_ERR_CLOSED) {
            atomic_fetch_add(&woken, 1);
            return NULL;
        }
        CHECK(code == SC_OK);
        sc_bytes_free(&bytes);
        CHECK(sc_acknowledge(delivery, NULL, &own) == SC_OK);
        atomic_fetch_add(&taken, 1);
    }
}

static void wait_until(atomic_int *counter, int value) {
    for (int tries = 0; tries < 6000 && atomic_load(counter) < value; tries++) usleep(10000);
    CHECK(atomic_load(counter) >= value);
}

// Notes the handlers and the mask, or compares them with what was noted.
static void signals(int notes) {
    static void (*handlers[32])(int);
    static sigset_t noted;
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    if (notes) noted = mask;
    for (int number = 1; number < 32; number++) {
        struct sigaction action;
        if (sigaction(number, NULL, &action) != 0) continue;
        if (notes) handlers[number] = action.sa_handler;
        CHECK(action.sa_handler == handlers[number]);
        // Started with: ignored or the default, so no handler of the library's.
        CHECK(action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN);
        CHECK(sigismember(&mask, number) == sigismember(&noted, number));
    }
}

static void *take_end(void *argument) {
    sc_participant executor = *(sc_participant *)argument;
    sc_participant_event event;
    sc_error own;
    CHECK(sc_participant_next(executor, SC_FOREVER, &event, &own) == SC_OK);
    CHECK(event.kind == SC_PARTICIPANT_ENDED && event.code == SC_ERR_CLOSED);
    sc_participant_event_free(&event);
    CHECK(sc_participant_next(executor, SC_FOREVER, &event, &own) == SC_ENDED);
    return NULL;
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    signals(1);
    sc_group group = open_group(arguments[1], NULL);
    CHECK_CODE(SC_OK, sc_mailbox_open(group, "work", 0, SC_REFUSE, &mailbox, &error));
    CHECK_CODE(SC_OK, sc_mailbox_open(group, "idle", 0, SC_REFUSE, &idle, &error));
    pthread_t threads[thread_count];
    for (int index = 0; index < thread_count; index++) {
        sc_mailbox *own = index < thread_count - served_count ? &idle : &mailbox;
        CHECK(pthread_create(&threads[index], NULL, take, own) == 0);
        // Those for which nothing comes wait first.
        if (own == &idle) wait_until(&waiting, index + 1);
    }
    wait_until(&waiting, thread_count);
    // Beside them.
    for (int number = 0; number < 200; number++) {
        CHECK_CODE(SC_OK, sc_put(group, "a", SC_NUL, NULL, 0, NULL, &error));
    }
    sc_watch watch;
    sc_event event;
    CHECK_CODE(SC_OK, sc_watch_open(group, "a", SC_NUL, SC_FROM_NOW, 0, &watch, &error));
    CHECK_CODE(SC_OK, sc_put(group, "a", SC_NUL, NULL, 0, NULL, &error));
    CHECK_CODE(SC_OK, sc_watch_next(watch, 30000, &event, &error));
    sc_event_free(&event);
    for (int number = 0; number < 128; number++) CHECK_CODE(SC_OK, sc_send(mailbox, NULL, 0, NULL, &error));
    wait_until(&taken, 128);
    signals(0);
    CHECK_CODE(SC_OK, sc_close(mailbox));
    CHECK_CODE(SC_OK, sc_close(idle));
    for (int index = 0; index < thread_count; index++) pthread_join(threads[index], NULL);
    CHECK(atomic_load(&woken) == thread_count);
    CHECK_CODE(SC_OK, sc_close(group));

    group = open_group(arguments[1], "executor");
    sc_participant executor;
    CHECK_CODE(SC_OK, sc_executor_open(group, NULL, &executor, &error));
    CHECK(pthread_create(&threads[0], NULL, take_end, &executor) == 0);
    usleep(50000);
    CHECK_CODE(SC_OK, sc_close(group));
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 60;
    CHECK(pthread_timedjoin_np(threads[0], NULL, &limit) == 0);
    CHECK_CODE(SC_OK, sc_close(executor));
    puts("threads: fine");
    return 0;
}
