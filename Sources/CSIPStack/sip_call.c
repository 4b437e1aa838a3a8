#ifdef SIP
#include "private.h"

#include <stdlib.h>
#include <string.h>

void call_end(sip_call *call, int reason) {
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

int call_tell_moves(sip_call *call, int can_move) {
    return call->stack->callbacks.moves(call->stack->callbacks.user, call->number, can_move);
}

exchange *call_open_invite(sip_call *call) {
    exchange *x = call->stack->exchanges;
    while (x && (x->call != call || x->kind != EXCHANGE_INVITE)) x = x->next;
    return x;
}

void call_hang_up(sip_call *call) {
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

void call_fail(sip_call *call, int reason) {
    call->stack->callbacks.ended(call->stack->callbacks.user, call->number, reason);
    call_hang_up(call);
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
            call_end(call, cause == 200 ? SIP_END_ANSWERED_ELSEWHERE : SIP_END_CANCELLED);
        }
        return 0;
    }
    if (sip && sip->sip_request->rq_method == sip_method_ack) {
        if (!call->is_unconfirmed || call->state != CALL_ANSWERED) return 0;
        call->is_unconfirmed = 0;
        sip_payload_t *offer = sip->sip_payload;
        if (!call->is_offered
            && (!offer || media_accept(&call->media, call->stack->home, offer->pl_data, offer->pl_len) < 0)) {
            call_fail(call, SIP_END_NO_MEDIA);
            return 0;
        }
        call->is_offered = 1;
        call_tell_moves(call, 1);
        return 0;
    }
    if (!sip && call->state == CALL_ANSWERED) call_fail(call, SIP_END_NO_ACK);
    return 0;
}

// A request inside the dialog.
int call_requested(void *argument, nta_leg_t *leg, nta_incoming_t *irq, const sip_t *sip) {
    sip_call *call = argument;
    if (!irq || !sip || request_refused(irq, sip)) return 0;
    switch (sip->sip_request->rq_method) {
    case sip_method_ack: return 0;
    case sip_method_bye:
        if (call->state == CALL_RINGING && call->invite) nta_incoming_treply(call->invite, SIP_487_REQUEST_CANCELLED, TAG_END());
        call_end(call, SIP_END_REMOTE_HUNG_UP);
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
        if (call->state != CALL_ANSWERED || call_open_invite(call) || call_tell_moves(call, 0) < 0) return 491;
        if (sip->sip_payload) {
            if (media_accept(&call->media, call->stack->home, sip->sip_payload->pl_data, sip->sip_payload->pl_len) < 0) {
                if (!call->is_unconfirmed) call_tell_moves(call, 1);
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

sip_call *call_make(sip_stack *stack) {
    sip_call *call = calloc(1, sizeof *call);
    if (!call) return NULL;
    su_home_init(call->home);
    call->stack = stack;
    call->number = ++stack->calls_made;
    call->media.descriptor = -1;
    call->media.registration = -1;
    return call;
}

void call_discard(sip_call *call) {
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
    sip_call *call = call_make(stack);
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
            stack->agent, call_requested, call, SIPTAG_CALL_ID(sip->sip_call_id), SIPTAG_FROM(sip->sip_to),
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
        call_discard(call);
        return status;
    }
    call->invite = irq;
    call->next = stack->calls;
    stack->calls = call;
    nta_incoming_bind(irq, confirmed, call);
    nta_incoming_treply(irq, SIP_180_RINGING, SIPTAG_CONTACT_STR(stack->bare_contact), TAG_END());
    return 0;
}

sip_call *call_find(sip_stack *stack, uint64_t number) {
    sip_call *call = stack->calls;
    while (call && call->number != number) call = call->next;
    return call;
}

int sip_call_answer(sip_stack *stack, uint64_t number) {
    sip_call *call = call_find(stack, number);
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
    sip_call *call = call_find(stack, number);
    if (!call || call->state != CALL_RINGING) return -1;
    nta_incoming_treply(call->invite, status, sip_status_phrase(status), TAG_END());
    call->state = CALL_OVER;
    return 0;
}

// The library sends the CANCEL when a provisional answer has come. The final answer ends the call.
static void cancel(sip_call *call) {
    exchange *x = call_open_invite(call);
    call->state = x ? CALL_ENDING : CALL_OVER;
    call->is_cancelled = 1;
    if (x) nta_outgoing_cancel(x->request);
}

int sip_call_hang_up(sip_stack *stack, uint64_t number) {
    sip_call *call = call_find(stack, number);
    if (!call || (call->state != CALL_ANSWERED && call->state != CALL_CALLING)) return -1;
    if (call->state == CALL_CALLING) cancel(call);
    else call_hang_up(call);
    return 0;
}

sip_media_counts sip_call_media(sip_stack *stack, uint64_t number) {
    sip_call *call = call_find(stack, number);
    return call ? call->media.counts : (sip_media_counts){ 0, 0 };
}

void call_bye_answered(sip_call *call) { call->state = CALL_OVER; }

void calls_hang_up(sip_stack *stack) {
    for (sip_call *call = stack->calls; call; call = call->next) {
        if (call->state == CALL_RINGING) sip_call_refuse(stack, call->number, 480);
        else if (call->state == CALL_CALLING) cancel(call);
        else if (call->state == CALL_ANSWERED) call_hang_up(call);
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
        call_discard(call);
    }
}
#endif
