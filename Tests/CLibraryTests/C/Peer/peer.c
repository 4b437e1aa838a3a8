// The loop and the dispatcher.

#include "peer.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

sc_error failure;

const char *word(const arguments *given, int index) { return index < given->count ? given->words[index] : ""; }

uint64_t number(const arguments *given, int index) { return strtoull(word(given, index), NULL, 10); }

const char *rest(const arguments *given, int index) {
    static char text[4096];
    text[0] = 0;
    for (int at = index; at < given->count; at++) {
        if (at > index) strncat(text, " ", sizeof text - strlen(text) - 1);
        strncat(text, given->words[at], sizeof text - strlen(text) - 1);
    }
    return text;
}

int32_t fail(int32_t code, const char *message) {
    memset(&failure, 0, sizeof failure);
    failure.code = code;
    snprintf(failure.message, sizeof failure.message, "%s", message);
    return code;
}

enum { LIMITATION = -1 };

int32_t limit(const char *reason) { return fail(LIMITATION, reason); }

void *allocate(size_t size) {
    void *memory = calloc(1, size);
    if (memory == NULL) abort();
    return memory;
}

// MARK: - The loop

typedef struct {
    sc_handle handle;
    void (*ready)(void *);
    void *object;
} source;

typedef struct {
    bool (*tick)(void *);
    void *object;
} ticker;

static source *sources;
static size_t source_count;
static ticker *tickers;
static size_t ticker_count;

void attend(sc_handle handle, void (*ready)(void *), void *object) {
    sources = realloc(sources, (source_count + 1) * sizeof *sources);
    if (sources == NULL) abort();
    sources[source_count++] = (source){handle, ready, object};
}

void forget(sc_handle handle) {
    for (size_t index = 0; index < source_count; index++) {
        if (sources[index].handle != handle) continue;
        memmove(&sources[index], &sources[index + 1], (--source_count - index) * sizeof *sources);
        return;
    }
}

void attend_ticks(bool (*tick)(void *), void *object) {
    tickers = realloc(tickers, (ticker_count + 1) * sizeof *tickers);
    if (tickers == NULL) abort();
    tickers[ticker_count++] = (ticker){tick, object};
}

// One round: calls what is ready, waits for it if `waits`. Returns whether the input is readable.
static bool run_once(bool with_input, bool waits) {
    int timeout = waits ? -1 : 0;
    for (size_t index = 0; index < ticker_count; index++)
        if (tickers[index].tick(tickers[index].object) && timeout < 0) timeout = 5;
    size_t count = source_count;
    struct pollfd *polled = allocate((count + 1) * sizeof *polled);
    source *attended = allocate((count + 1) * sizeof *attended);
    memcpy(attended, sources, count * sizeof *attended);
    for (size_t index = 0; index < count; index++) {
        polled[index].events = POLLIN;
        if (sc_descriptor(attended[index].handle, &polled[index].fd, &failure) != SC_OK) polled[index].fd = -1;
    }
    polled[count].fd = with_input ? STDIN_FILENO : -1;
    polled[count].events = POLLIN;
    poll(polled, count + 1, timeout);
    for (size_t index = 0; index < count; index++)
        if (polled[index].revents != 0) attended[index].ready(attended[index].object);
    bool has_input = polled[count].revents != 0;
    free(polled);
    free(attended);
    return has_input;
}

void run_until(bool (*holds)(const void *), const void *object) {
    while (!holds(object)) run_once(false, true);
}

// MARK: - The dispatcher

order find_order(const named_order *orders, const char *name) {
    for (; orders->name != NULL; orders++)
        if (strcmp(orders->name, name) == 0) return orders->run;
    return NULL;
}

static void write_line(const char *text) {
    size_t count = strlen(text);
    char *line = allocate(count + 2);
    memcpy(line, text, count);
    line[count] = '\n';
    for (size_t done = 0; done < count + 1;) {
        ssize_t written = write(STDOUT_FILENO, line + done, count + 1 - done);
        if (written < 0 && errno != EINTR) exit(0);
        if (written > 0) done += (size_t)written;
    }
    free(line);
}

static void run_order(char *line) {
    arguments given = {0};
    char *name = strtok(line, " ");
    if (name == NULL) return;
    if (strcmp(name, "exit") == 0) exit(0);
    for (char *next = strtok(NULL, " "); next != NULL && given.count < 64; next = strtok(NULL, " "))
        given.words[given.count++] = next;
    order run = find_order(store_orders, name);
    if (run == NULL) run = find_order(parcel_orders, name);
    if (run == NULL) run = find_order(participant_orders, name);
    // What came before the order is counted before it is answered.
    run_once(false, false);
    char *text = NULL, *whole = NULL;
    size_t size;
    FILE *answer = open_memstream(&text, &size);
    int32_t code = run != NULL ? run(&given, answer) : fail(SC_ERR_INVALID_ARGUMENT, "The peer knows no such order.");
    fclose(answer);
    int length = code == SC_OK      ? asprintf(&whole, "ok %s", text)
        : code == LIMITATION ? asprintf(&whole, "limitation %s", failure.message)
                             : asprintf(&whole, "error %s %s: %s", sc_code_name(code), name, failure.message);
    if (length < 0) abort();
    for (char *at = whole; *at != 0; at++)
        if (*at == '\n') *at = ' ';
    write_line(whole);
    free(text);
    free(whole);
}

// With an argument, the path of a file that says that the program was started.
int main(int count_of_arguments, char **paths) {
    char first[32];
    FILE *started = count_of_arguments > 1 ? fopen(paths[1], "we") : NULL;
    if (started != NULL) fclose(started);
    sc_handle_bus_errors(&failure);
    snprintf(first, sizeof first, "ok %d", (int)getpid());
    write_line(first);
    char *input = NULL;
    size_t count = 0;
    while (true) {
        char *end = count > 0 ? memchr(input, '\n', count) : NULL;
        if (end != NULL) {
            size_t length = (size_t)(end - input);
            char *line = allocate(length + 1);
            memcpy(line, input, length);
            count -= length + 1;
            memmove(input, end + 1, count);
            run_order(line);
            free(line);
            continue;
        }
        if (!run_once(true, true)) continue;
        input = realloc(input, count + 65536);
        if (input == NULL) abort();
        ssize_t got = read(STDIN_FILENO, input + count, 65536);
        if (got == 0 || (got < 0 && errno != EINTR)) return 0;
        if (got > 0) count += (size_t)got;
    }
}
