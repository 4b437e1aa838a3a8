#ifndef SIP_STACK_PRIVATE_H
#define SIP_STACK_PRIVATE_H

#include "sip_stack.h"

#define SU_ROOT_MAGIC_T void
#define SU_TIMER_ARG_T void
#define SU_WAKEUP_ARG_T void
#define NTA_AGENT_MAGIC_T void
#define NTA_LEG_MAGIC_T void
#define NTA_INCOMING_MAGIC_T void
#define NTA_OUTGOING_MAGIC_T void
#define TP_CLIENT_T void

#include <netinet/in.h>
#include <sofia-sip/auth_client.h>
#include <sofia-sip/msg_addr.h>
#include <sofia-sip/nta.h>
#include <sofia-sip/nta_tport.h>
#include <sofia-sip/sdp.h>
#include <sofia-sip/sip_header.h>
#include <sofia-sip/sip_status.h>
#include <sofia-sip/sip_tag.h>
#include <sofia-sip/su_log.h>
#include <sofia-sip/su_uniqueid.h>
#include <sofia-sip/su_wait.h>
#include <sofia-sip/tport.h>
#include <sofia-sip/tport_tag.h>

// One RTP stream of silence in each direction.
typedef struct media {
    int descriptor;
    uint16_t port;
    char host[INET6_ADDRSTRLEN];  // the address of the socket
    su_root_t *root;
    int registration;
    su_timer_t *timer;
    struct sockaddr_storage peer;
    socklen_t peer_length;
    int payload_type, is_held, is_holding, is_peer_silent;
    uint32_t session, version, described;
    uint32_t ssrc, timestamp;
    uint16_t sequence;
    uint64_t sent_at;
    sip_media_counts counts;
} media;

enum call_state { CALL_MADE, CALL_CALLING, CALL_RINGING, CALL_ANSWERED, CALL_ENDING, CALL_OVER };

typedef struct sip_call {
    struct sip_call *next;
    su_home_t home[1];
    sip_stack *stack;
    uint64_t number;
    enum call_state state;
    nta_leg_t *leg;
    nta_incoming_t *invite;
    int is_offered;  // the INVITE had an offer; without one the answer is in the ACK
    int is_caller;  // the call is from here
    int is_cancelled;
    int is_changing, was_holding;  // an INVITE to hold the call, or to take it back, is under way
    int is_unconfirmed;  // the ACK for a 200 has not come
    char *call_id, *local, *remote;
    int tries;
    su_timer_t *retry;
    media media;
} sip_call;

enum exchange_kind { EXCHANGE_REGISTER, EXCHANGE_UNREGISTER, EXCHANGE_MESSAGE, EXCHANGE_BYE, EXCHANGE_INVITE };

// An open request, with the data to send it again with credentials.
typedef struct exchange {
    struct exchange *next;
    sip_stack *stack;
    enum exchange_kind kind;
    uint64_t number;
    sip_call *call;
    nta_leg_t *leg;
    int owns_leg, tries;
    nta_outgoing_t *request;
    char *to, *type, *text;
} exchange;

struct sip_stack {
    su_home_t home[1];
    su_root_t *root;
    nta_agent_t *agent;
    nta_leg_t *requests, *registration;
    auth_client_t *credentials;
    sip_callbacks callbacks;
    char *user, *password, *identity, *registrar, *proxy, *contact, *contact_header, *bare_contact, *instance, *host;
    char *former;
    unsigned expires;
    int descriptor, is_stopping, is_stopped, is_resting, has_adopted, failures, stop_status;
    uint64_t calls_made;
    su_timer_t *refresh;
    tport_t *connection;
    int pending;
    sip_call *calls;
    exchange *exchanges;
};

exchange *exchange_begin(sip_stack *stack, enum exchange_kind kind, nta_leg_t *leg);
// 0, or -1 where the request was not sent: the caller frees the exchange then.
int exchange_send(exchange *x);
void exchange_free(exchange *x);

// Refuses a request that needs something that this side does not support, and ends its transaction (RFC 3261, 8.2). The
// status is 416 for a URI of another scheme, 420 for an extension in Require, 415 for an INVITE with a body other than SDP,
// and 406 if the answer must not be SDP. Returns the status, or 0 for a request that is to be handled.
int request_refused(nta_incoming_t *irq, const sip_t *sip);
int call_invited(sip_stack *stack, nta_incoming_t *irq, const sip_t *sip);
sip_call *call_make(sip_stack *stack);
// Frees a call. Not called inside a callback of the call.
void call_discard(sip_call *call);
sip_call *call_find(sip_stack *stack, uint64_t number);
// The requests inside its dialog.
int call_requested(void *argument, nta_leg_t *leg, nta_incoming_t *irq, const sip_t *sip);
int call_tell_moves(sip_call *call, int can_move);
exchange *call_open_invite(sip_call *call);
// The ends of a call: `call_end` after the other side has ended it, `call_hang_up` with a BYE of this side, `call_fail`
// with a BYE after a failure. `call_fail` also calls `ended`.
void call_end(sip_call *call, int reason);
void call_hang_up(sip_call *call);
void call_fail(sip_call *call, int reason);
// Sends an INVITE inside the dialog. Returns -1 if another process is about to continue the call.
int call_invite_again(sip_call *call);
void call_bye_answered(sip_call *call);
void call_invite_answered(exchange *x, const sip_t *sip);
void call_rings(sip_call *call);
void calls_sweep(sip_stack *stack, int all);
void calls_hang_up(sip_stack *stack);
void stack_check_stopped(sip_stack *stack);

int media_open(media *m, su_root_t *root, const char *host);
// Returns 0, or -1 if the SDP has no RTP stream of PCMU or PCMA at a numeric address.
int media_accept(media *m, su_home_t *home, const char *text, size_t length);
// Starts sending and receiving packets, until `media_stop`. Returns 0, or -1 if nothing was started.
int media_start(media *m);
void media_stop(media *m);
void media_close(media *m);
// The SDP of this side: an offer, or the answer to the last one of the other side.
char *media_describe(media *m, su_home_t *home, int is_offer);
// Takes the stream of another process. Returns 0, or -1 for an invalid description, and then closes the descriptor.
int media_adopt(media *m, su_root_t *root, const sip_dialog *dialog);

#endif
