#ifdef SIP
#include "private.h"

#include <string.h>

// MARK: INVITE inside a dialog

enum { INVITE_TRIES = 5 };

int call_invite_again(sip_call *call) {
    // Another process that is about to continue the call sends one itself.
    if (call_tell_moves(call, 0) < 0) return -1;
    exchange *x = exchange_begin(call->stack, EXCHANGE_INVITE, call->leg);
    if (x) x->call = call;
    if (x && exchange_send(x) == 0) return 0;
    if (x) exchange_free(x);
    call_fail(call, SIP_END_UNREACHABLE);
    return 0;
}

static void end_change(sip_call *call, int status) {
    if (!call->is_changing) return;
    call->is_changing = 0;
    if (status >= 300) call->media.is_holding = call->was_holding;
    call->stack->callbacks.hold_answered(call->stack->callbacks.user, call->number, status);
}

int sip_call_hold(sip_stack *stack, uint64_t number, int is_holding) {
    sip_call *call = call_find(stack, number);
    if (!call || call->state != CALL_ANSWERED || call->is_unconfirmed || call->is_changing || call_open_invite(call)) return -1;
    call->was_holding = call->media.is_holding;
    call->media.is_holding = is_holding;
    call->is_changing = 1;
    if (call->retry) su_timer_reset(call->retry);
    if (call_invite_again(call) == 0) return 0;
    call->is_changing = 0;
    call->media.is_holding = call->was_holding;
    return -1;
}

static void retry_due(void *magic, su_timer_t *timer, void *argument) {
    sip_call *call = argument;
    if (call->state == CALL_ANSWERED && !call_open_invite(call)) call_invite_again(call);
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
    sip_call *call = stack->is_stopping ? NULL : call_make(stack);
    if (!call) return 0;
    call->state = CALL_MADE;
    call->is_caller = 1;
    call->remote = su_sprintf(call->home, "<%s>", to);
    sip_call_id_t *id = sip_call_id_create(call->home, stack->host);
    if (call->remote && id && media_open(&call->media, stack->root, stack->host) == 0) {
        call->call_id = su_strdup(call->home, id->i_id);
        call->leg = nta_leg_tcreate(
            stack->agent, call_requested, call, SIPTAG_CALL_ID(id), SIPTAG_FROM_STR(stack->identity), SIPTAG_TO_STR(call->remote),
            TAG_END());
        const char *tag = call->leg ? nta_leg_tag(call->leg, NULL) : NULL;
        call->local = tag ? su_sprintf(call->home, "%s;tag=%s", stack->identity, tag) : NULL;
    }
    if (!call->call_id || !call->local) {
        call_discard(call);
        return 0;
    }
    call->next = stack->calls;
    stack->calls = call;
    *call_id = call->call_id;
    return call->number;
}

int sip_call_invite(sip_stack *stack, uint64_t number) {
    sip_call *call = call_find(stack, number);
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
    // The dialog is that of this answer. The library answers other 2xx responses with ACK and BYE.
    nta_leg_rtag(call->leg, sip->sip_to->a_tag);
    nta_leg_client_reroute(call->leg, sip->sip_record_route, sip->sip_contact, 1);
    call->remote = sip_header_as_string(call->home, (sip_header_t *)sip->sip_to);
    acknowledge(call, sip);
    // It was cancelled here and answered there at the same time.
    if (call->state != CALL_CALLING) {
        call->is_cancelled = 0;
        return call_hang_up(call);
    }
    call->state = CALL_ANSWERED;
    call->is_offered = 1;
    if (!call->remote || !sip->sip_payload
        || media_accept(&call->media, stack->home, sip->sip_payload->pl_data, sip->sip_payload->pl_len) < 0
        || media_start(&call->media) < 0)
        return call_fail(call, SIP_END_NO_MEDIA);
    stack->callbacks.answered(stack->callbacks.user, call->number);
    if (call->media.is_held) stack->callbacks.held(stack->callbacks.user, call->number, 1);
    call_tell_moves(call, 1);
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
            return call_fail(call, SIP_END_NO_MEDIA);
        if (call->media.is_held != was_held)
            call->stack->callbacks.held(call->stack->callbacks.user, call->number, call->media.is_held);
        end_change(call, 200);
        call_tell_moves(call, 1);
        return;
    }
    // The other side does not know the dialog: it has hung up.
    if (status == 481) return call_end(call, SIP_END_REMOTE_HUNG_UP);
    int is_passing = status == 491 || status == 500 || status == 503;
    if (!is_passing || ++call->tries >= INVITE_TRIES) {
        // A refused change leaves the call as it is (RFC 3261, 14.1).
        if (!call->is_changing || status == 408) return call_fail(call, SIP_END_UNREACHABLE);
        call->tries = 0;
        end_change(call, status);
        call_tell_moves(call, 1);
        return;
    }
    // Both sides have sent one: 2.1 s to 4 s for the side that made the Call-ID, else up to 2 s (RFC 3261, 14.1).
    long wait = 10 * (long)(call->is_caller ? su_randint(210, 400) : su_randint(0, 200));
    const sip_retry_after_t *after = status == 491 ? NULL : sip->sip_retry_after;
    if (after) wait += 1000 * (long)(after->af_delta < 10 ? after->af_delta : 10);
    if (!call->retry) call->retry = su_timer_create(su_root_task(call->stack->root), 1000);
    if (!call->retry || su_timer_set_interval(call->retry, retry_due, call, wait) < 0) return call_fail(call, SIP_END_UNREACHABLE);
    call_tell_moves(call, 1);
}
#endif
