#ifdef SIP
#include "private.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void end(sip_call *call, int reason) {
    if (call->state >= CALL_ENDING) return;
    call->state = CALL_OVER;
    media_stop(&call->media);
    call->stack->callbacks.ended(call->stack->callbacks.user, call->number, reason);
}

static int answer(sip_call *call, nta_incoming_t *irq) {
    su_home_t home[1] = { SU_HOME_INIT(home) };
    su_home_init(home);
    char *description = media_describe(&call->media, home, !call->is_offered);
    int result = -1;
    if (description)
        result = nta_incoming_treply(
            irq, SIP_200_OK, SIPTAG_CONTACT_STR(call->stack->bare_contact), SIPTAG_CONTENT_TYPE_STR("application/sdp"),
            SIPTAG_PAYLOAD_STR(description), TAG_END());
    su_home_deinit(home);
    return result;
}

static int tell_moves(sip_call *call, int can_move) {
    return call->stack->callbacks.moves(call->stack->callbacks.user, call->number, can_move);
}

static exchange *open_invite(sip_call *call) {
    exchange *x = call->stack->exchanges;
    while (x && (x->call != call || x->kind != EXCHANGE_INVITE)) x = x->next;
    return x;
}

static void hang_up(sip_call *call) {
    call->state = CALL_ENDING;
    media_stop(&call->media);
    if (call->retry) su_timer_reset(call->retry);
    exchange *x = exchange_begin(call->stack, EXCHANGE_BYE, call->leg);
    if (x) x->call = call;
    if (x && exchange_send(x) == 0) return;
    // An exchange that stays in the list would refer to the freed call, and `stopped` would wait for its answer.
    if (x) exchange_free(x);
    call->state = CALL_OVER;
}

static void fail(sip_call *call, int reason) {
    call->stack->callbacks.ended(call->stack->callbacks.user, call->number, reason);
    hang_up(call);
}

// Called with the ACK or the CANCEL of an INVITE, and with NULL when no ACK has come in time.
static int confirmed(void *argument, nta_incoming_t *irq, const sip_t *sip) {
    sip_call *call = argument;
    if (sip && sip->sip_request->rq_method == sip_method_cancel) {
        nta_incoming_treply(irq, SIP_487_REQUEST_CANCELLED, TAG_END());
        int is_first = irq == call->invite;
        if (is_first && call->state == CALL_RINGING) {
            int cause = 0;
            for (sip_reason_t *reason = sip->sip_reason; reason; reason = reason->re_next)
                if (reason->re_protocol && !strcasecmp(reason->re_protocol, "SIP") && reason->re_cause)
                    cause = atoi(reason->re_cause);
            end(call, cause == 200 ? SIP_END_ANSWERED_ELSEWHERE : SIP_END_CANCELLED);
        }
        return 0;
    }
    if (sip && sip->sip_request->rq_method == sip_method_ack) {
        if (!call->is_unconfirmed || call->state != CALL_ANSWERED) return 0;
        call->is_unconfirmed = 0;
        sip_payload_t *offer = sip->sip_payload;
        if (!call->is_offered
            && (!offer || media_accept(&call->media, call->stack->home, offer->pl_data, offer->pl_len) < 0)) {
            fail(call, SIP_END_NO_MEDIA);
            return 0;
        }
        call->is_offered = 1;
        tell_moves(call, 1);
        return 0;
    }
    if (!sip && call->state == CALL_ANSWERED) fail(call, SIP_END_NO_ACK);
    return 0;
}

// A request inside the dialog.
static int requested(void *argument, nta_leg_t *leg, nta_incoming_t *irq, const sip_t *sip) {
    sip_call *call = argument;
    if (!irq || !sip) return 0;
    switch (sip->sip_request->rq_method) {
    case sip_method_ack: return 0;
    case sip_method_bye:
        if (call->state == CALL_RINGING && call->invite) nta_incoming_treply(call->invite, SIP_487_REQUEST_CANCELLED, TAG_END());
        end(call, SIP_END_REMOTE_HUNG_UP);
        return 200;
    case sip_method_options: return 200;
    case sip_method_invite: {
        int was_held = call->media.is_held;
        if (call->stack->is_resting) {
            // Another process has the call, and is about to send an INVITE itself.
            nta_incoming_treply(irq, SIP_500_INTERNAL_SERVER_ERROR, SIPTAG_RETRY_AFTER_STR("1"), TAG_END());
            nta_incoming_destroy(irq);
            return 0;
        }
        if (call->state != CALL_ANSWERED || open_invite(call) || tell_moves(call, 0) < 0) return 491;
        if (sip->sip_payload) {
            if (media_accept(&call->media, call->stack->home, sip->sip_payload->pl_data, sip->sip_payload->pl_len) < 0) {
                if (!call->is_unconfirmed) tell_moves(call, 1);
                return 488;
            }
            call->is_offered = 1;
        } else {
            call->is_offered = 0;
        }
        nta_leg_server_route(leg, NULL, sip->sip_contact);
        if (answer(call, irq) < 0) return 500;
        call->is_unconfirmed = 1;
        nta_incoming_bind(irq, confirmed, call);
        if (call->invite) nta_incoming_destroy(call->invite);
        call->invite = irq;
        if (call->media.is_held != was_held)
            call->stack->callbacks.held(call->stack->callbacks.user, call->number, call->media.is_held);
        return 0;
    }
    default: return 405;
    }
}

static sip_call *make(sip_stack *stack) {
    sip_call *call = calloc(1, sizeof *call);
    if (!call) return NULL;
    su_home_init(call->home);
    call->stack = stack;
    call->number = ++stack->calls_made;
    call->media.descriptor = -1;
    call->media.registration = -1;
    return call;
}

static void discard(sip_call *call) {
    for (exchange *x = call->stack->exchanges, *next; x; x = next) {
        next = x->next;
        if (x->call == call) exchange_free(x);
    }
    if (call->invite) {
        nta_incoming_bind(call->invite, NULL, NULL);
        nta_incoming_destroy(call->invite);
    }
    if (call->retry) su_timer_destroy(call->retry);
    if (call->leg) nta_leg_destroy(call->leg);
    media_close(&call->media);
    su_home_deinit(call->home);
    free(call);
}

int call_invited(sip_stack *stack, nta_incoming_t *irq, const sip_t *sip) {
    if (sip->sip_to->a_tag) return 481;
    if (stack->is_stopping || !sip->sip_contact) return stack->is_stopping ? 480 : 400;
    sip_call *call = make(stack);
    if (!call) return 500;
    call->state = CALL_RINGING;
    int status = 0;
    if (media_open(&call->media, stack->root, stack->host) < 0) status = 500;
    call->is_offered = sip->sip_payload != NULL;
    if (!status && call->is_offered
        && media_accept(&call->media, stack->home, sip->sip_payload->pl_data, sip->sip_payload->pl_len) < 0)
        status = 488;
    if (!status) {
        call->leg = nta_leg_tcreate(
            stack->agent, requested, call, SIPTAG_CALL_ID(sip->sip_call_id), SIPTAG_FROM(sip->sip_to),
            SIPTAG_TO(sip->sip_from), NTATAG_REMOTE_CSEQ(sip->sip_cseq->cs_seq), TAG_END());
        if (!call->leg || !nta_leg_tag(call->leg, nta_incoming_tag(irq, NULL))
            || nta_leg_server_route(call->leg, sip->sip_record_route, sip->sip_contact) < 0)
            status = 500;
        // The call's own texts of the dialog, which the leg does not show.
        char *own = sip_header_as_string(call->home, (sip_header_t *)sip->sip_to);
        call->call_id = su_strdup(call->home, sip->sip_call_id->i_id);
        call->remote = sip_header_as_string(call->home, (sip_header_t *)sip->sip_from);
        call->local = own && call->leg ? su_sprintf(call->home, "%s;tag=%s", own, nta_leg_get_tag(call->leg)) : NULL;
        if (!call->call_id || !call->remote || !call->local) status = 500;
    }
    if (!status) {
        su_home_t home[1] = { SU_HOME_INIT(home) };
        su_home_init(home);
        char *from = url_as_string(home, sip->sip_from->a_url), *to = url_as_string(home, sip->sip_to->a_url);
        status = from && to
            ? stack->callbacks.invited(stack->callbacks.user, call->number, sip->sip_call_id->i_id, from, to) : 500;
        su_home_deinit(home);
    }
    if (status != 180) {
        discard(call);
        return status;
    }
    call->invite = irq;
    call->next = stack->calls;
    stack->calls = call;
    nta_incoming_bind(irq, confirmed, call);
    nta_incoming_treply(irq, SIP_180_RINGING, SIPTAG_CONTACT_STR(stack->bare_contact), TAG_END());
    return 0;
}

static sip_call *find(sip_stack *stack, uint64_t number) {
    sip_call *call = stack->calls;
    while (call && call->number != number) call = call->next;
    return call;
}

int sip_call_answer(sip_stack *stack, uint64_t number) {
    sip_call *call = find(stack, number);
    if (!call || call->state != CALL_RINGING) return -1;
    if (media_start(&call->media) < 0) return -1;
    if (answer(call, call->invite) < 0) {
        media_stop(&call->media);
        return -1;
    }
    call->state = CALL_ANSWERED;
    call->is_unconfirmed = 1;
    return 0;
}

int sip_call_refuse(sip_stack *stack, uint64_t number, int status) {
    sip_call *call = find(stack, number);
    if (!call || call->state != CALL_RINGING) return -1;
    nta_incoming_treply(call->invite, status, sip_status_phrase(status), TAG_END());
    call->state = CALL_OVER;
    return 0;
}

// The library sends the CANCEL when a provisional answer has come. The final answer ends the call.
static void cancel(sip_call *call) {
    exchange *x = open_invite(call);
    call->state = x ? CALL_ENDING : CALL_OVER;
    call->is_cancelled = 1;
    if (x) nta_outgoing_cancel(x->request);
}

int sip_call_hang_up(sip_stack *stack, uint64_t number) {
    sip_call *call = find(stack, number);
    if (!call || (call->state != CALL_ANSWERED && call->state != CALL_CALLING)) return -1;
    if (call->state == CALL_CALLING) cancel(call);
    else hang_up(call);
    return 0;
}

sip_media_counts sip_call_media(sip_stack *stack, uint64_t number) {
    sip_call *call = find(stack, number);
    return call ? call->media.counts : (sip_media_counts){ 0, 0 };
}

void call_bye_answered(sip_call *call) { call->state = CALL_OVER; }

void calls_hang_up(sip_stack *stack) {
    for (sip_call *call = stack->calls; call; call = call->next) {
        if (call->state == CALL_RINGING) sip_call_refuse(stack, call->number, 480);
        else if (call->state == CALL_CALLING) cancel(call);
        else if (call->state == CALL_ANSWERED) hang_up(call);
    }
}

// Frees the calls that are over, or all. Not called inside a callback of a call: the library still uses its leg then.
void calls_sweep(sip_stack *stack, int all) {
    for (sip_call **link = &stack->calls; *link;) {
        sip_call *call = *link;
        if (call->state != CALL_OVER && !all) {
            link = &call->next;
            continue;
        }
        *link = call->next;
        discard(call);
    }
}

// MARK: INVITE inside a dialog

enum { INVITE_TRIES = 5 };

static int invite_again(sip_call *call) {
    // Another process that is about to continue the call sends one itself.
    if (tell_moves(call, 0) < 0) return -1;
    exchange *x = exchange_begin(call->stack, EXCHANGE_INVITE, call->leg);
    if (x) x->call = call;
    if (x && exchange_send(x) == 0) return 0;
    if (x) exchange_free(x);
    fail(call, SIP_END_UNREACHABLE);
    return 0;
}

static void end_change(sip_call *call, int status) {
    if (!call->is_changing) return;
    call->is_changing = 0;
    if (status >= 300) call->media.is_holding = call->was_holding;
    call->stack->callbacks.hold_answered(call->stack->callbacks.user, call->number, status);
}

int sip_call_hold(sip_stack *stack, uint64_t number, int is_holding) {
    sip_call *call = find(stack, number);
    if (!call || call->state != CALL_ANSWERED || call->is_unconfirmed || call->is_changing || open_invite(call)) return -1;
    call->was_holding = call->media.is_holding;
    call->media.is_holding = is_holding;
    call->is_changing = 1;
    if (call->retry) su_timer_reset(call->retry);
    if (invite_again(call) == 0) return 0;
    call->is_changing = 0;
    call->media.is_holding = call->was_holding;
    return -1;
}

static void retry_due(void *magic, su_timer_t *timer, void *argument) {
    sip_call *call = argument;
    if (call->state == CALL_ANSWERED && !open_invite(call)) invite_again(call);
}

// Sends the ACK of a 2xx. The library sends that of other answers by itself.
static void acknowledge(sip_call *call, const sip_t *answer) {
    sip_stack *stack = call->stack;
    msg_t *message = nta_msg_create(stack->agent, 0);
    sip_t *sip = message ? sip_object(message) : NULL;
    sip_cseq_t *number = sip ? sip_cseq_create(msg_home(message), answer->sip_cseq->cs_seq, SIP_METHOD_ACK) : NULL;
    if (!number || msg_header_insert(message, (msg_pub_t *)sip, (msg_header_t *)number) < 0
        || nta_msg_request_complete(message, call->leg, SIP_METHOD_ACK, NULL) < 0) {
        if (message) nta_msg_discard(stack->agent, message);
        return;
    }
    // The library sends it again for each repetition of the 200, until the time of those has passed.
    nta_outgoing_t *request = nta_outgoing_mcreate(stack->agent, NULL, NULL, NULL, message, TAG_END());
    if (request) nta_outgoing_destroy(request);
}

// MARK: calls from here

uint64_t sip_call_make(sip_stack *stack, const char *to, const char **call_id) {
    sip_call *call = stack->is_stopping ? NULL : make(stack);
    if (!call) return 0;
    call->state = CALL_MADE;
    call->is_caller = 1;
    call->remote = su_sprintf(call->home, "<%s>", to);
    sip_call_id_t *id = sip_call_id_create(call->home, stack->host);
    if (call->remote && id && media_open(&call->media, stack->root, stack->host) == 0) {
        call->call_id = su_strdup(call->home, id->i_id);
        call->leg = nta_leg_tcreate(
            stack->agent, requested, call, SIPTAG_CALL_ID(id), SIPTAG_FROM_STR(stack->identity), SIPTAG_TO_STR(call->remote),
            TAG_END());
        const char *tag = call->leg ? nta_leg_tag(call->leg, NULL) : NULL;
        call->local = tag ? su_sprintf(call->home, "%s;tag=%s", stack->identity, tag) : NULL;
    }
    if (!call->call_id || !call->local) {
        discard(call);
        return 0;
    }
    call->next = stack->calls;
    stack->calls = call;
    *call_id = call->call_id;
    return call->number;
}

int sip_call_invite(sip_stack *stack, uint64_t number) {
    sip_call *call = find(stack, number);
    if (!call || call->state != CALL_MADE) return -1;
    exchange *x = exchange_begin(stack, EXCHANGE_INVITE, call->leg);
    if (x) {
        x->call = call;
        // Without the brackets of the To header.
        x->to = strdup(call->remote + 1);
        if (x->to) x->to[strlen(x->to) - 1] = 0;
    }
    if (!x || !x->to || exchange_send(x) < 0) {
        if (x) exchange_free(x);
        call->state = CALL_OVER;
        return -1;
    }
    call->state = CALL_CALLING;
    return 0;
}

void call_rings(sip_call *call) {
    if (call->state == CALL_CALLING) call->stack->callbacks.rings(call->stack->callbacks.user, call->number);
}

// The final answer to the INVITE of a call from here.
static void call_answered(sip_call *call, const sip_t *sip, int status) {
    sip_stack *stack = call->stack;
    if (status >= 300) {
        int is_told = call->state == CALL_CALLING;
        call->state = CALL_OVER;
        if (is_told)
            stack->callbacks.refused(stack->callbacks.user, call->number, status, sip ? sip->sip_status->st_phrase : "no answer");
        return;
    }
    // The dialog is that of this answer. To others the library says ACK and BYE.
    nta_leg_rtag(call->leg, sip->sip_to->a_tag);
    nta_leg_client_reroute(call->leg, sip->sip_record_route, sip->sip_contact, 1);
    call->remote = sip_header_as_string(call->home, (sip_header_t *)sip->sip_to);
    acknowledge(call, sip);
    // It was cancelled here and answered there at the same time.
    if (call->state != CALL_CALLING) {
        call->is_cancelled = 0;
        return hang_up(call);
    }
    call->state = CALL_ANSWERED;
    call->is_offered = 1;
    if (!call->remote || !sip->sip_payload
        || media_accept(&call->media, stack->home, sip->sip_payload->pl_data, sip->sip_payload->pl_len) < 0
        || media_start(&call->media) < 0)
        return fail(call, SIP_END_NO_MEDIA);
    stack->callbacks.answered(stack->callbacks.user, call->number);
    if (call->media.is_held) stack->callbacks.held(stack->callbacks.user, call->number, 1);
    tell_moves(call, 1);
}

void call_invite_answered(exchange *x, const sip_t *sip) {
    sip_call *call = x->call;
    int status = sip ? sip->sip_status->st_status : 408;
    if (x->to) return call_answered(call, sip, status);
    if (status < 300) {
        if (sip->sip_contact) nta_leg_client_reroute(call->leg, NULL, sip->sip_contact, 0);
        acknowledge(call, sip);
    }
    if (call->state != CALL_ANSWERED) return;
    if (status < 300) {
        int was_held = call->media.is_held;
        call->tries = 0;
        if (!sip->sip_payload
            || media_accept(&call->media, call->stack->home, sip->sip_payload->pl_data, sip->sip_payload->pl_len) < 0)
            return fail(call, SIP_END_NO_MEDIA);
        if (call->media.is_held != was_held)
            call->stack->callbacks.held(call->stack->callbacks.user, call->number, call->media.is_held);
        end_change(call, 200);
        tell_moves(call, 1);
        return;
    }
    // The other side does not know the dialog: it has hung up.
    if (status == 481) return end(call, SIP_END_REMOTE_HUNG_UP);
    int is_passing = status == 491 || status == 500 || status == 503;
    if (!is_passing || ++call->tries >= INVITE_TRIES) {
        // A refused change leaves the call as it is (RFC 3261, 14.1).
        if (!call->is_changing || status == 408) return fail(call, SIP_END_UNREACHABLE);
        call->tries = 0;
        end_change(call, status);
        tell_moves(call, 1);
        return;
    }
    // Both sides have sent one: 2.1 s to 4 s for the side that made the Call-ID, else up to 2 s (RFC 3261, 14.1).
    long wait = 10 * (long)(call->is_caller ? su_randint(210, 400) : su_randint(0, 200));
    const sip_retry_after_t *after = status == 491 ? NULL : sip->sip_retry_after;
    if (after) wait += 1000 * (long)(after->af_delta < 10 ? after->af_delta : 10);
    if (!call->retry) call->retry = su_timer_create(su_root_task(call->stack->root), 1000);
    if (!call->retry || su_timer_set_interval(call->retry, retry_due, call, wait) < 0) return fail(call, SIP_END_UNREACHABLE);
    tell_moves(call, 1);
}

// MARK: calls that move

int sip_call_export(sip_stack *stack, uint64_t number, sip_dialog *dialog) {
    sip_call *call = find(stack, number);
    const sip_route_t *route = NULL;
    const sip_contact_t *target = NULL;
    if (!call || call->state != CALL_ANSWERED || call->is_unconfirmed || open_invite(call)) return -1;
    if (nta_leg_get_route(call->leg, &route, &target) < 0 || !target || call->media.peer_length == 0) return -1;
    char *routes = su_strdup(call->home, ""), *contact = sip_header_as_string(call->home, (sip_header_t *)target);
    for (; route && routes; route = route->r_next) {
        char *one = sip_header_as_string(call->home, (sip_header_t *)route);
        routes = one ? su_sprintf(call->home, "%s%s%s", routes, *routes ? ", " : "", one) : NULL;
    }
    media *m = &call->media;
    char peer[NI_MAXHOST], port[8];
    if (!routes || !contact
        || getnameinfo((struct sockaddr *)&m->peer, m->peer_length, peer, sizeof peer, port, sizeof port,
                       NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return -1;
    *dialog = (sip_dialog){
        .call_id = call->call_id, .local = call->local, .remote = call->remote, .target = contact, .routes = routes,
        .local_cseq = nta_leg_get_seq(call->leg), .remote_cseq = nta_leg_get_rseq(call->leg),
        .peer = su_strdup(call->home, peer), .peer_port = (uint16_t)atoi(port),
        .is_caller = call->is_caller, .payload_type = m->payload_type, .is_held = m->is_held, .is_holding = m->is_holding,
        .session = m->session, .version = m->version, .described = m->described,
        .ssrc = m->ssrc, .timestamp = m->timestamp, .sequence = m->sequence, .sent_at = m->sent_at,
        .sent = m->counts.sent, .received = m->counts.received, .descriptor = m->descriptor,
    };
    return dialog->peer ? 0 : -1;
}

uint64_t sip_call_adopt(sip_stack *stack, const sip_dialog *dialog) {
    sip_call *call = make(stack);
    if (!call) {
        if (dialog->descriptor >= 0) close(dialog->descriptor);
        return 0;
    }
    su_home_t *home = call->home;
    call->state = CALL_ANSWERED;
    call->is_offered = 1;
    call->is_caller = dialog->is_caller;
    call->call_id = su_strdup(home, dialog->call_id);
    call->local = su_strdup(home, dialog->local);
    call->remote = su_strdup(home, dialog->remote);
    sip_call_id_t *id = sip_call_id_make(home, dialog->call_id);
    sip_from_t *local = sip_from_make(home, dialog->local);
    sip_to_t *remote = sip_to_make(home, dialog->remote);
    sip_contact_t *target = sip_contact_make(home, dialog->target);
    sip_record_route_t *route = *dialog->routes ? sip_record_route_make(home, dialog->routes) : NULL;
    sip_cseq_t *number = sip_cseq_create(home, dialog->local_cseq, SIP_METHOD_INVITE);
    if (media_adopt(&call->media, stack->root, dialog) == 0 && call->call_id && call->local && call->remote && id && local
        && local->a_tag && remote && remote->a_tag && target && number && (route || !*dialog->routes))
        call->leg = nta_leg_tcreate(
            stack->agent, requested, call, SIPTAG_CALL_ID(id), SIPTAG_FROM(local), SIPTAG_TO(remote), SIPTAG_CSEQ(number),
            NTATAG_REMOTE_CSEQ(dialog->remote_cseq), TAG_END());
    // The route set as it stands: it is in the order of the requests already, so it is taken as a server takes it.
    if (!call->leg || nta_leg_server_route(call->leg, route, target) < 0) {
        discard(call);
        return 0;
    }
    call->next = stack->calls;
    stack->calls = call;
    stack->has_adopted = 1;
    return call->number;
}

void sip_call_forget(sip_stack *stack, uint64_t number) {
    sip_call *call = find(stack, number);
    if (call) call->state = CALL_OVER;
}

int sip_call_continue(sip_stack *stack, uint64_t number) {
    sip_call *call = find(stack, number);
    if (!call || call->state != CALL_ANSWERED || media_start(&call->media) < 0) return -1;
    invite_again(call);
    return 0;
}
#endif
