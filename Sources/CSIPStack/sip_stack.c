#ifdef SIP
#include "private.h"

#include <dirent.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

// The time after which a stack that has adopted a call registers again. The former stack has answered no message since it gave
// the call. A registrar may have stopped trying it after this stack's first REGISTER, and then stores the message until the
// next one.
enum { ADOPTER_MILLISECONDS = 4000 };

static void register_now(sip_stack *stack, enum exchange_kind kind);

static void refresh_due(void *magic, su_timer_t *timer, void *argument) {
    sip_stack *stack = argument;
    if (!stack->is_stopping) register_now(stack, EXCHANGE_REGISTER);
}

static void try_again_in(sip_stack *stack, long milliseconds) {
    su_timer_set_interval(stack->refresh, refresh_due, stack, milliseconds);
}

// MARK: the connection that the registrar sends over

static void release_connection(sip_stack *stack) {
    if (!stack->connection) return;
    if (stack->pending) tport_release(stack->connection, stack->pending, NULL, NULL, stack, 0);
    tport_unref(stack->connection);
    stack->connection = NULL;
    stack->pending = 0;
}

static void connection_closed(void *client, void *argument, tport_t *tport, msg_t *message, int error) {
    sip_stack *stack = argument;
    if (tport != stack->connection) return;
    release_connection(stack);
    if (!stack->is_stopping) try_again_in(stack, 100);
}

// Returns 1 if the connection had ended without a call of `connection_closed`: the library calls it for no connection that it
// has begun to shut down itself, as after a request with a wrong Via.
static int end_lost_connection(sip_stack *stack) {
    if (!stack->connection || !tport_is_shutdown(stack->connection)) return 0;
    connection_closed(NULL, stack, stack->connection, NULL, 0);
    return 1;
}

static void keep_connection(sip_stack *stack, nta_outgoing_t *request) {
    tport_t *used = nta_outgoing_transport(request);
    if (used && tport_is_connected(used) && used != stack->connection) {
        release_connection(stack);
        stack->pending = tport_pend(used, NULL, (tport_pending_error_f *)connection_closed, (tp_client_t *)stack);
        stack->connection = tport_ref(used);
    }
    if (used) tport_unref(used);
}

// MARK: requests

exchange *exchange_begin(sip_stack *stack, enum exchange_kind kind, nta_leg_t *leg) {
    exchange *x = calloc(1, sizeof *x);
    if (!x) return NULL;
    x->stack = stack;
    x->kind = kind;
    x->leg = leg;
    x->next = stack->exchanges;
    stack->exchanges = x;
    return x;
}

void exchange_free(exchange *x) {
    for (exchange **link = &x->stack->exchanges; *link; link = &(*link)->next) {
        if (*link != x) continue;
        *link = x->next;
        break;
    }
    if (x->request) nta_outgoing_destroy(x->request);
    if (x->owns_leg) nta_leg_destroy(x->leg);
    free(x->to);
    free(x->type);
    free(x->text);
    free(x);
}

static int is_own_instance(const sip_stack *stack, const sip_contact_t *contact) {
    const char *instance = msg_header_find_param(contact->m_common, "+sip.instance=");
    return instance && strstr(instance, stack->instance) != NULL;
}

static void register_answered(exchange *x, const sip_t *sip) {
    sip_stack *stack = x->stack;
    int status = sip ? sip->sip_status->st_status : 0;
    if (x->kind == EXCHANGE_UNREGISTER) {
        stack->stop_status = status ? status : 408;
        exchange_free(x);
        return stack_check_stopped(stack);
    }
    if (status != 200) {
        stack->failures++;
        long seconds = 1L << (stack->failures < 6 ? stack->failures - 1 : 5);
        try_again_in(stack, 1000 * (seconds > 30 ? 30 : seconds));
        stack->callbacks.registered(stack->callbacks.user, status, sip ? sip->sip_status->st_phrase : "no answer", 0, 0, 0);
        return exchange_free(x);
    }
    stack->failures = 0;
    keep_connection(stack, x->request);
    int own = 0, all = 0;
    unsigned expires = stack->expires;
    su_free(stack->home, stack->former);
    stack->former = NULL;
    for (const sip_contact_t *contact = sip->sip_contact; contact; contact = contact->m_next) {
        char *uri = url_as_string(stack->home, contact->m_url);
        int is_this = uri && strcmp(uri, stack->contact) == 0;
        all++;
        if (is_this && contact->m_expires) expires = (unsigned)strtoul(contact->m_expires, NULL, 10);
        if (is_this || is_own_instance(stack, contact)) own++;
        if (uri && !is_this && is_own_instance(stack, contact)) {
            // A contact of a killed process that the group does not know. The next request removes it.
            char *former = su_sprintf(stack->home, "%s%s\n", stack->former ? stack->former : "", uri);
            su_free(stack->home, stack->former);
            stack->former = former;
        }
        su_free(stack->home, uri);
    }
    if (expires < 4) expires = 4;
    long next = expires * 1000L - (expires > 60 ? 30000L : expires * 500L);
    if (stack->has_adopted && next > ADOPTER_MILLISECONDS) next = ADOPTER_MILLISECONDS;
    stack->has_adopted = 0;
    try_again_in(stack, stack->former ? 1 : next);
    stack->callbacks.registered(stack->callbacks.user, 200, sip->sip_status->st_phrase, own, all, expires);
    exchange_free(x);
}

static int answered(void *argument, nta_outgoing_t *request, const sip_t *sip) {
    exchange *x = argument;
    sip_stack *stack = x->stack;
    int status = sip ? sip->sip_status->st_status : 0;
    if (sip && status < 200) {
        if (x->kind == EXCHANGE_INVITE && status >= 180) call_rings(x->call);
        return 0;
    }
    if (sip && (status == 401 || status == 407) && x->tries < 3 && !(x->call && x->call->is_cancelled)) {
        int is_new = 0;
        if (sip->sip_www_authenticate)
            is_new |= auc_challenge(&stack->credentials, stack->home, sip->sip_www_authenticate, sip_authorization_class) > 0;
        if (sip->sip_proxy_authenticate)
            is_new |=
                auc_challenge(&stack->credentials, stack->home, sip->sip_proxy_authenticate, sip_proxy_authorization_class) > 0;
        // A rejected password gets the same challenge again, or a new one. The bound of attempts ends both.
        if (is_new && auc_all_credentials(&stack->credentials, NULL, NULL, stack->user, stack->password) >= 0
            && auc_has_authorization(&stack->credentials)) {
            nta_outgoing_destroy(x->request);
            x->request = NULL;
            if (exchange_send(x) == 0) return 0;
            sip = NULL;
            status = 500;
        }
    }
    switch (x->kind) {
    case EXCHANGE_REGISTER:
    case EXCHANGE_UNREGISTER: register_answered(x, sip); break;
    case EXCHANGE_MESSAGE:
        stack->callbacks.sent(
            stack->callbacks.user, x->number, status ? status : 408, sip ? sip->sip_status->st_phrase : "no answer");
        exchange_free(x);
        break;
    case EXCHANGE_BYE:
        call_bye_answered(x->call);
        exchange_free(x);
        stack_check_stopped(stack);
        break;
    case EXCHANGE_INVITE:
        call_invite_answered(x, sip);
        exchange_free(x);
        stack_check_stopped(stack);
        break;
    }
    return 0;
}

static char *contacts(sip_stack *stack, su_home_t *home, int is_removal) {
    char *text = su_sprintf(home, "%s;expires=%u", stack->contact_header, is_removal ? 0 : stack->expires);
    for (char *line = stack->former; line && *line && text;) {
        size_t length = strcspn(line, "\n");
        if (length != strlen(stack->contact) || strncmp(line, stack->contact, length) != 0)
            text = su_sprintf(home, "%s, <%.*s>;expires=0", text, (int)length, line);
        line += length + (line[length] == '\n');
    }
    return text;
}

int exchange_send(exchange *x) {
    sip_stack *stack = x->stack;
    msg_t *message = nta_msg_create(stack->agent, 0);
    sip_t *sip = message ? sip_object(message) : NULL;
    if (!sip) return -1;
    su_home_t *home = msg_home(message);
    int result = -1;
    const char *allow = "INVITE, ACK, CANCEL, BYE, MESSAGE, OPTIONS";
    x->tries++;
    switch (x->kind) {
    case EXCHANGE_REGISTER:
    case EXCHANGE_UNREGISTER: {
        char *text = contacts(stack, home, x->kind == EXCHANGE_UNREGISTER);
        if (!text || sip_add_tl(message, sip, SIPTAG_CONTACT_STR(text), SIPTAG_ALLOW_STR(allow), TAG_END()) < 0) break;
        result = nta_msg_request_complete(message, x->leg, SIP_METHOD_REGISTER, URL_STRING_MAKE(stack->registrar));
        break;
    }
    case EXCHANGE_MESSAGE:
        if (sip_add_tl(message, sip, SIPTAG_CONTENT_TYPE_STR(x->type), SIPTAG_PAYLOAD_STR(x->text), TAG_END()) < 0) break;
        result = nta_msg_request_complete(message, x->leg, SIP_METHOD_MESSAGE, URL_STRING_MAKE(x->to));
        break;
    case EXCHANGE_INVITE: {
        char *text = media_describe(&x->call->media, home, 1);
        if (!text
            || sip_add_tl(
                   message, sip, SIPTAG_CONTACT_STR(stack->bare_contact), SIPTAG_ALLOW_STR(allow),
                   SIPTAG_CONTENT_TYPE_STR("application/sdp"), SIPTAG_PAYLOAD_STR(text), TAG_END()) < 0)
            break;
        result = nta_msg_request_complete(message, x->leg, SIP_METHOD_INVITE, x->to ? URL_STRING_MAKE(x->to) : NULL);
        break;
    }
    case EXCHANGE_BYE: result = nta_msg_request_complete(message, x->leg, SIP_METHOD_BYE, NULL); break;
    }
    if (result >= 0 && auc_has_authorization(&stack->credentials))
        auc_authorization(
            &stack->credentials, message, (msg_pub_t *)sip, sip->sip_request->rq_method_name, sip->sip_request->rq_url,
            sip->sip_payload);
    if (result < 0) {
        nta_msg_discard(stack->agent, message);
        return -1;
    }
    x->request = nta_outgoing_mcreate(stack->agent, answered, x, NULL, message, TAG_END());
    return x->request ? 0 : -1;
}

static void register_now(sip_stack *stack, enum exchange_kind kind) {
    exchange *x = exchange_begin(stack, kind, stack->registration);
    if (x && exchange_send(x) == 0) return;
    if (x) exchange_free(x);
    if (kind == EXCHANGE_REGISTER) return try_again_in(stack, 1000);
    stack->stop_status = 500;
    stack_check_stopped(stack);
}

void sip_stack_register(sip_stack *stack, const char *former) {
    su_free(stack->home, stack->former);
    stack->former = former && *former ? su_strdup(stack->home, former) : NULL;
    register_now(stack, EXCHANGE_REGISTER);
}

void sip_stack_refresh(sip_stack *stack) {
    if (!stack->is_stopping) try_again_in(stack, 1);
}

void sip_stack_unregister(sip_stack *stack) {
    if (stack->is_stopping) return;
    stack->is_stopping = 1;
    su_timer_reset(stack->refresh);
    calls_hang_up(stack);
    register_now(stack, EXCHANGE_UNREGISTER);
}

void sip_stack_rest(sip_stack *stack) {
    stack->is_stopping = 1;
    stack->is_resting = 1;
    su_timer_reset(stack->refresh);
    for (sip_call *call = stack->calls; call; call = call->next) {
        media_stop(&call->media);
        if (call->retry) su_timer_reset(call->retry);
    }
}

static void step_for(sip_stack *stack, int milliseconds, const int *until) {
    su_time_t end = su_time_add(su_now(), milliseconds);
    long left = milliseconds;
    while (left > 0 && !(until && *until)) {
        su_root_step(stack->root, left < 20 ? left : 20);
        left = (long)su_duration(end, su_now());
    }
}

void sip_stack_drain(sip_stack *stack, int milliseconds) {
    // An open request would be sent again, such as a REGISTER for the former Contact.
    if (!stack->exchanges) step_for(stack, milliseconds, NULL);
}

void sip_stack_finish(sip_stack *stack, int milliseconds) {
    stack->is_stopping = 0;
    sip_stack_unregister(stack);
    step_for(stack, milliseconds, &stack->is_stopped);
}

void stack_check_stopped(sip_stack *stack) {
    if (!stack->is_stopping || !stack->stop_status || stack->is_stopped) return;
    for (exchange *x = stack->exchanges; x; x = x->next)
        if (x->kind == EXCHANGE_BYE || (x->call && x->call->is_cancelled)) return;
    stack->is_stopped = 1;
    stack->callbacks.stopped(stack->callbacks.user, stack->stop_status);
}

int sip_stack_send(sip_stack *stack, uint64_t number, const char *to, const char *type, const char *text) {
    nta_leg_t *leg = nta_leg_tcreate(
        stack->agent, NULL, NULL, SIPTAG_FROM_STR(stack->identity), SIPTAG_TO_STR(to), TAG_END());
    exchange *x = leg && nta_leg_tag(leg, NULL) ? exchange_begin(stack, EXCHANGE_MESSAGE, leg) : NULL;
    if (!x) {
        if (leg) nta_leg_destroy(leg);
        return -1;
    }
    x->owns_leg = 1;
    x->number = number;
    x->to = strdup(to);
    x->type = strdup(type);
    x->text = strdup(text);
    if (x->to && x->type && x->text && exchange_send(x) == 0) return 0;
    exchange_free(x);
    return -1;
}

// MARK: requests of others

static int message_came(sip_stack *stack, nta_incoming_t *irq, const sip_t *sip) {
    su_home_t home[1] = { SU_HOME_INIT(home) };
    su_home_init(home);
    sip_message message = {
        .call_id = sip->sip_call_id->i_id,
        .cseq = sip->sip_cseq->cs_seq,
        .from = url_as_string(home, sip->sip_from->a_url),
        .to = url_as_string(home, sip->sip_to->a_url),
        .content_type = sip->sip_content_type && sip->sip_content_type->c_type ? sip->sip_content_type->c_type : "text/plain",
        .body = sip->sip_payload ? sip->sip_payload->pl_data : "",
        .length = sip->sip_payload ? sip->sip_payload->pl_len : 0,
    };
    const msg_param_t *encodings = sip->sip_content_encoding ? sip->sip_content_encoding->k_items : NULL;
    if (encodings && *encodings && strcasecmp(*encodings, "identity")) message.encoding = *encodings;
    for (const sip_unknown_t *header = sip->sip_unknown; header; header = header->un_next) {
        if (!header->un_name || !header->un_value) continue;
        if (!strcasecmp(header->un_name, "X-Original-Call-ID")) message.original_call_id = header->un_value;
        if (!strcasecmp(header->un_name, "X-Original-CSeq")) message.original_cseq = header->un_value;
    }
    int status = message.from && message.to ? stack->callbacks.message(stack->callbacks.user, &message) : 500;
    su_home_deinit(home);
    if (status != 415) return status;
    nta_incoming_treply(
        irq, SIP_415_UNSUPPORTED_MEDIA, SIPTAG_ACCEPT_STR("text/*"), SIPTAG_ACCEPT_ENCODING_STR("identity"), TAG_END());
    nta_incoming_destroy(irq);
    return 0;
}

int request_refused(nta_incoming_t *irq, const sip_t *sip) {
    int method = sip->sip_request->rq_method;
    if (method == sip_method_ack || method == sip_method_cancel) return 0;
    enum url_type_e scheme = (enum url_type_e)sip->sip_request->rq_url->url_type;
    int status = 0;
    su_home_t home[1] = { SU_HOME_INIT(home) };
    su_home_init(home);
    if (scheme != url_sip && scheme != url_sips && scheme != url_tel) {
        status = 416;
        nta_incoming_treply(irq, SIP_416_UNSUPPORTED_URI, TAG_END());
    } else {
        status = nta_check_required(irq, sip, NULL, TAG_END());
    }
    if (!status && method == sip_method_invite) {
        sip_accept_t *description = sip_accept_make(home, "application/sdp");
        status = nta_check_session_content(irq, sip, description, TAG_END());
        if (!status) status = nta_check_accept(irq, sip, description, NULL, TAG_END());
    }
    su_home_deinit(home);
    if (status) nta_incoming_destroy(irq);
    return status;
}

static int requested(void *argument, nta_leg_t *leg, nta_incoming_t *irq, const sip_t *sip) {
    sip_stack *stack = argument;
    if (!irq || !sip || request_refused(irq, sip)) return 0;
    switch (sip->sip_request->rq_method) {
    case sip_method_message: return message_came(stack, irq, sip);
    case sip_method_invite: return call_invited(stack, irq, sip);
    case sip_method_options: return 200;
    case sip_method_ack: return 0;
    case sip_method_bye:
    case sip_method_cancel: return 481;
    default: return 405;
    }
}

// MARK: the stack

static void silent(void *stream, char const *format, va_list list) {}

// Returns the epoll descriptor of a root, which the library does not export; -1 where it is not found. Registers an eventfd with
// the root, and looks for the epoll descriptor of this process that has it, by /proc/self/fdinfo (proc_pid_fdinfo(5)).
static int find_descriptor(su_root_t *root) {
    int mark = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), found = -1;
    su_wait_t wait[1] = { SU_WAIT_INIT };
    if (mark < 0) return -1;
    if (su_wait_create(wait, mark, SU_WAIT_IN) < 0) {
        close(mark);
        return -1;
    }
    int registration = su_root_register(root, wait, NULL, NULL, 0);
    DIR *folder = opendir("/proc/self/fdinfo");
    struct dirent *entry;
    while (registration >= 0 && folder && found < 0 && (entry = readdir(folder))) {
        char path[300], line[256];
        snprintf(path, sizeof path, "/proc/self/fdinfo/%s", entry->d_name);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "re");
        int number;
        while (file && fgets(line, sizeof line, file))
            if (sscanf(line, "tfd: %d", &number) == 1 && number == mark) found = atoi(entry->d_name);
        if (file) fclose(file);
    }
    if (folder) closedir(folder);
    if (registration >= 0) su_root_deregister(root, registration);
    close(mark);
    return found;
}

// Finds the local address of the route to the registrar. Blocks while the name of the registrar is looked up.
static int find_address(const sip_account *account, char *text, size_t size) {
    struct addrinfo hints = { .ai_socktype = SOCK_DGRAM }, *found = NULL;
    char service[8];
    snprintf(service, sizeof service, "%u", account->port);
    if (getaddrinfo(account->host, service, &hints, &found) != 0) return -1;
    int result = -1;
    for (struct addrinfo *one = found; one && result < 0; one = one->ai_next) {
        int descriptor = socket(one->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        struct sockaddr_storage own;
        socklen_t length = sizeof own;
        if (descriptor >= 0 && connect(descriptor, one->ai_addr, one->ai_addrlen) == 0
            && getsockname(descriptor, (struct sockaddr *)&own, &length) == 0
            && getnameinfo((struct sockaddr *)&own, length, text, size, NULL, 0, NI_NUMERICHOST) == 0)
            result = 0;
        if (descriptor >= 0) close(descriptor);
    }
    freeaddrinfo(found);
    return result;
}

void sip_erase(void *bytes, size_t size) { explicit_bzero(bytes, size); }

sip_stack *sip_stack_create(const sip_account *account, sip_callbacks callbacks, char *problem, size_t size) {
    const char *transport =
        account->transport == SIP_STACK_TLS ? "tls" : account->transport == SIP_STACK_TCP ? "tcp" : "udp";
    char address[NI_MAXHOST];
    su_init();
    su_log_redirect(NULL, silent, NULL);
    sip_stack *stack = calloc(1, sizeof *stack);
    if (!stack) {
        snprintf(problem, size, "no memory");
        return NULL;
    }
    su_home_init(stack->home);
    stack->callbacks = callbacks;
    stack->expires = account->expires;
    stack->descriptor = -1;
    if (account->local_address) snprintf(address, sizeof address, "%s", account->local_address);
    else if (find_address(account, address, sizeof address) < 0) {
        snprintf(problem, size, "no route to %s", account->host);
        goto failed;
    }
    int is_six = strchr(address, ':') != NULL, is_host_six = strchr(account->host, ':') != NULL;
    const char *open = is_six ? "[" : "", *shut = is_six ? "]" : "";
    su_home_t *home = stack->home;
    stack->host = su_strdup(home, address);
    stack->user = su_strdup(home, account->user);
    stack->password = su_strdup(home, account->password);
    stack->instance = su_strdup(home, account->instance);
    stack->identity = su_sprintf(home, "<sip:%s@%s>", account->user, account->domain);
    stack->registrar = su_sprintf(home, "sip:%s", account->domain);
    stack->proxy = su_sprintf(
        home, account->transport == SIP_STACK_TLS ? "sips:%s%s%s:%u" : "sip:%s%s%s:%u;transport=%s",
        is_host_six ? "[" : "", account->host, is_host_six ? "]" : "", account->port, transport);
    char *own = account->transport == SIP_STACK_TLS
        ? su_sprintf(home, "sips:%s%s%s:*", open, address, shut)
        : su_sprintf(home, "sip:%s%s%s:*;transport=%s", open, address, shut, transport);
    stack->root = su_root_create(stack);
    if (!stack->root) {
        snprintf(problem, size, "the library has no loop");
        goto failed;
    }
    su_root_threading(stack->root, 0);
    stack->descriptor = find_descriptor(stack->root);
    const void *subjects = NULL;
    if (account->name) {
        su_strlst_t *list = su_strlst_create(home);
        su_strlst_dup_append(list, account->name);
        subjects = list;
    }
    stack->agent = nta_agent_create(
        stack->root, URL_STRING_MAKE(own), NULL, NULL, NTATAG_UA(1), NTATAG_DEFAULT_PROXY(stack->proxy),
        NTATAG_USER_VIA(0),
        TAG_IF(account->transport == SIP_STACK_TLS, TPTAG_CERTIFICATE(account->certificates)),
        TAG_IF(account->transport == SIP_STACK_TLS,
               TPTAG_TLS_VERIFY_POLICY(subjects ? TPTLS_VERIFY_OUT | TPTLS_VERIFY_SUBJECTS_OUT : TPTLS_VERIFY_OUT)),
        TAG_IF(subjects, TPTAG_TLS_VERIFY_SUBJECTS(subjects)), TAG_END());
    const sip_contact_t *bound = stack->agent ? nta_agent_contact(stack->agent) : NULL;
    if (!bound || !bound->m_url->url_port) {
        snprintf(problem, size, "no socket for %s at %s", transport, address);
        goto failed;
    }
    stack->contact = su_sprintf(
        home, "sip:%s@%s%s%s:%s;transport=%s%s", account->user, open, address, shut, bound->m_url->url_port, transport,
        account->contact_parameters);
    stack->bare_contact = su_sprintf(
        home, "<sip:%s@%s%s%s:%s;transport=%s>", account->user, open, address, shut, bound->m_url->url_port, transport);
    stack->contact_header = su_sprintf(home, "<%s>;+sip.instance=\"<%s>\"", stack->contact, account->instance);
    stack->requests = nta_leg_tcreate(stack->agent, requested, stack, NTATAG_NO_DIALOG(1), TAG_END());
    stack->registration = nta_leg_tcreate(
        stack->agent, NULL, NULL, SIPTAG_FROM_STR(stack->identity), SIPTAG_TO_STR(stack->identity),
        TAG_END());
    stack->refresh = su_timer_create(su_root_task(stack->root), 1000);
    if (!stack->host || !stack->user || !stack->password || !stack->instance || !stack->identity || !stack->registrar
        || !stack->proxy || !stack->contact || !stack->bare_contact || !stack->contact_header) {
        snprintf(problem, size, "no memory");
        goto failed;
    }
    if (!stack->requests || !stack->registration || !nta_leg_tag(stack->registration, NULL) || !stack->refresh) {
        snprintf(problem, size, "the library refuses the account %s@%s", account->user, account->domain);
        goto failed;
    }
    return stack;
failed:
    sip_stack_destroy(stack);
    return NULL;
}

void sip_stack_destroy(sip_stack *stack) {
    while (stack->exchanges) exchange_free(stack->exchanges);
    calls_sweep(stack, 1);
    release_connection(stack);
    if (stack->refresh) su_timer_destroy(stack->refresh);
    if (stack->requests) nta_leg_destroy(stack->requests);
    if (stack->registration) nta_leg_destroy(stack->registration);
    if (stack->agent) nta_agent_destroy(stack->agent);
    if (stack->root) su_root_destroy(stack->root);
    if (stack->password) explicit_bzero(stack->password, strlen(stack->password));
    su_home_deinit(stack->home);
    free(stack);
}

int sip_stack_descriptor(const sip_stack *stack) { return stack->descriptor; }
int sip_stack_is_idle(const sip_stack *stack) { return !stack->calls && !stack->exchanges && !stack->is_stopping; }
const char *sip_stack_contact(const sip_stack *stack) { return stack->contact; }

long sip_stack_step(sip_stack *stack) {
    calls_sweep(stack, 0);
    // 0 is a timer that is due within the millisecond. The steps run it here, instead of in a loop of the caller's.
    long next = 0;
    for (int turn = 0; turn < 4 && next == 0; turn++) {
        next = su_root_step(stack->root, 0);
        if (end_lost_connection(stack)) next = 0;  // there is a new timer
    }
    calls_sweep(stack, 0);
    return next < 0 ? -1 : next > 0 ? next : 1;
}
#endif
