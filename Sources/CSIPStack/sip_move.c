#ifdef SIP
#include "private.h"

#include <netdb.h>
#include <stdlib.h>
#include <unistd.h>

int sip_call_export(sip_stack *stack, uint64_t number, sip_dialog *dialog) {
    sip_call *call = call_find(stack, number);
    const sip_route_t *route = NULL;
    const sip_contact_t *target = NULL;
    if (!call || call->state != CALL_ANSWERED || call->is_unconfirmed || call_open_invite(call)) return -1;
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
    sip_call *call = call_make(stack);
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
            stack->agent, call_requested, call, SIPTAG_CALL_ID(id), SIPTAG_FROM(local), SIPTAG_TO(remote), SIPTAG_CSEQ(number),
            NTATAG_REMOTE_CSEQ(dialog->remote_cseq), TAG_END());
    // The route set as it stands: it is in the order of the requests already, so it is taken as a server takes it.
    if (!call->leg || nta_leg_server_route(call->leg, route, target) < 0) {
        call_discard(call);
        return 0;
    }
    call->next = stack->calls;
    stack->calls = call;
    stack->has_adopted = 1;
    return call->number;
}

void sip_call_forget(sip_stack *stack, uint64_t number) {
    sip_call *call = call_find(stack, number);
    if (call) call->state = CALL_OVER;
}

int sip_call_continue(sip_stack *stack, uint64_t number) {
    sip_call *call = call_find(stack, number);
    if (!call || call->state != CALL_ANSWERED || media_start(&call->media) < 0) return -1;
    call_invite_again(call);
    return 0;
}
#endif
