#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/// A page of a file that this process has mapped. The handler reads entries while threads add and remove them: an entry
/// is never freed but reused, and its words are atomic.
struct clinux_watched_page {
    /// 0 for a free entry.
    _Atomic uintptr_t address;
    atomic_bool is_lost;
    struct clinux_watched_page *next;
};

static _Atomic(struct clinux_watched_page *) entries = NULL;
static pthread_mutex_t entries_lock = PTHREAD_MUTEX_INITIALIZER;
static uintptr_t page_size = 4096;

struct clinux_watched_page *clinux_watch_page(void *address) {
    pthread_mutex_lock(&entries_lock);
    struct clinux_watched_page *entry = atomic_load(&entries);
    while (entry != NULL && atomic_load(&entry->address) != 0) entry = entry->next;
    bool is_new = entry == NULL;
    if (is_new) entry = calloc(1, sizeof *entry);
    if (entry != NULL) {
        atomic_store(&entry->is_lost, false);
        atomic_store(&entry->address, (uintptr_t)address);
        if (is_new) {
            entry->next = atomic_load(&entries);
            atomic_store(&entries, entry);
        }
    }
    pthread_mutex_unlock(&entries_lock);
    return entry;
}

void clinux_forget_page(struct clinux_watched_page *entry) {
    atomic_store(&entry->address, 0);
}

bool clinux_is_page_lost(struct clinux_watched_page *entry) {
    return atomic_load_explicit(&entry->is_lost, memory_order_relaxed);
}

static struct sigaction former;

/// Replaces a lost page by zeros. Returns true if the address is in a registered page.
static bool replace_page(uintptr_t address) {
    uintptr_t base = address & ~(page_size - 1);
    for (struct clinux_watched_page *entry = atomic_load(&entries); entry != NULL; entry = entry->next) {
        if (atomic_load(&entry->address) != base) continue;
        // The mark is set first, so that a thread that reads the zeros finds it.
        atomic_store(&entry->is_lost, true);
        int flags = MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS;
        return mmap((void *)base, page_size, PROT_READ | PROT_WRITE, flags, -1, 0) != MAP_FAILED;
    }
    return false;
}

static void handle_bus_error(int signal, siginfo_t *information, void *context) {
    int saved = errno;
    // A signal that a process has sent has no address.
    bool is_fault = information->si_code > 0;
    if (is_fault && replace_page((uintptr_t)information->si_addr)) {
        errno = saved;
        return;
    }
    if (former.sa_flags & SA_SIGINFO) {
        former.sa_sigaction(signal, information, context);
    } else if (former.sa_handler != SIG_DFL && former.sa_handler != SIG_IGN) {
        former.sa_handler(signal);
    } else if (is_fault || former.sa_handler == SIG_DFL) {
        // A fault occurs again when this returns, and then ends the process. A sent signal is sent again.
        struct sigaction standard;
        memset(&standard, 0, sizeof standard);
        standard.sa_handler = SIG_DFL;
        sigaction(signal, &standard, NULL);
        if (!is_fault) raise(signal);
    }
    errno = saved;
}

static int install_error = 0;

static void install(void) {
    page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handle_bus_error;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset(&action.sa_mask);
    // Stored before the handler can run.
    if (sigaction(SIGBUS, NULL, &former) < 0 || sigaction(SIGBUS, &action, NULL) < 0) install_error = -errno;
}

int clinux_handle_bus_errors(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
    return install_error;
}
