// Structures that begin with their size, of a program that has fewer fields: nothing behind the size is read. Then a core that is told
// to stop before it has started.

#include <sys/mman.h>
#include <unistd.h>

#include "participant.h"

// Returns the address of a structure that has its size alone: the page behind it cannot be read.
static void *short_structure(void) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *start = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(start != MAP_FAILED && mprotect(start + page, page, PROT_NONE) == 0);
    size_t *size = (size_t *)(start + page) - 1;
    *size = sizeof *size;
    return size;
}

static void check_sizes(sc_group main, sc_group executor, sc_group holder, sc_core core) {
    void *structure = short_structure();
    sc_handle handle;
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_open(structure, &handle, &error));
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_open_configured(structure, &handle, &error));
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_main_start(main, structure, &handle, &error));
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_executor_open(executor, structure, &handle, &error));
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_holder_open(holder, structure, &handle, &error));
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_core_deliver(core, structure, NULL, &error));
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_core_update(core, structure, NULL, &error));
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_core_give_baton(core, structure, &error));
    CHECK(strstr(error.message, "SC_BATON_INIT") != NULL);
    sc_options options = SC_OPTIONS_INIT;
    options.size = SIZE_MAX;
    CHECK_CODE(SC_ERR_INVALID_ARGUMENT, sc_open(&options, &handle, &error));
    CHECK(strstr(error.message, "size 18446744073709551615,") != NULL);
}

static void stop_before_start(sc_group group) {
    sc_participant main;
    CHECK_CODE(SC_OK, sc_main_start(group, NULL, &main, &error));
    sc_core core = next(main, SC_CORE_START);
    CHECK_CODE(SC_OK, sc_participant_end(main, &error));
    CHECK(next(main, SC_CORE_STOP) == core);
    CHECK_CODE(SC_OK, sc_core_stopped(core, &error));
    CHECK_CODE(SC_ERR_HANDLE, sc_core_started(core, &error));
    // The first start has failed, and then the participation has ended.
    int32_t kind = 0;
    while (kind != SC_PARTICIPANT_ENDED) {
        sc_participant_event event;
        CHECK_CODE(SC_OK, sc_participant_next(main, 30000, &event, &error));
        kind = event.kind;
        CHECK(kind == SC_PARTICIPANT_ENDED || (kind == SC_STARTED && event.code != SC_OK));
        sc_participant_event_free(&event);
    }
    CHECK_CODE(SC_OK, sc_close(main));
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    sc_group group = open_group(arguments[1], "main"), executor = open_group(arguments[1], "executor");
    sc_group holder = open_group(arguments[1], "holder");
    sc_participant participant;
    sc_core core = start_main(group, &participant);
    check_sizes(group, executor, holder, core);
    end_main(participant, core);
    CHECK_CODE(SC_OK, sc_close(holder));
    CHECK_CODE(SC_OK, sc_close(executor));
    stop_before_start(group);
    CHECK_CODE(SC_OK, sc_close(group));
    puts("sizes: fine");
    return 0;
}
