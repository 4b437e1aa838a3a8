// A SIP user agent for one account, on the transactions and dialogs (nta) of libsofia-sip-ua. One thread makes all calls: it
// polls `sip_stack_descriptor` and calls `sip_stack_step`. Nothing is sent before it steps. Callbacks come inside these calls.
#ifndef SIP_STACK_H
#define SIP_STACK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sip_stack sip_stack;

enum sip_transport { SIP_STACK_UDP = 0, SIP_STACK_TCP = 1, SIP_STACK_TLS = 2 };

// Why a call has ended.
enum sip_end {
    SIP_END_REMOTE_HUNG_UP = 1,
    SIP_END_CANCELLED,
    SIP_END_ANSWERED_ELSEWHERE,
    SIP_END_NO_ACK,
    SIP_END_NO_MEDIA,  // the INVITE had no offer, and the ACK has none that can be answered
    SIP_END_UNREACHABLE,  // the other side does not answer a request of the dialog, or refuses it permanently
};

// An account. `sip_stack_create` copies the strings.
typedef struct sip_account {
    const char *user, *domain, *password;
    const char *host;  // the registrar
    uint16_t port;
    int transport;  // enum sip_transport
    const char *instance;  // urn:uuid:…
    const char *contact_parameters;  // appended to the Contact URI: ";pn-provider=…", or empty
    const char *certificates;  // TLS: folder with cafile.pem
    const char *name;  // TLS: the name that the registrar's certificate must have
    const char *local_address;  // NULL: the local address of the route to the registrar
    unsigned expires;  // seconds
} sip_account;

typedef struct sip_message {
    const char *call_id, *original_call_id, *original_cseq;  // the last two may be NULL
    uint32_t cseq;
    const char *from, *to, *content_type;
    const char *encoding;  // of the body, such as deflate; NULL for none
    const char *body;
    size_t length;
} sip_message;

typedef struct sip_callbacks {
    void *user;
    // The final answer to a REGISTER, or status 0 at its timeout. `own` contacts of this instance are bound, `all` of the account,
    // for `expires` seconds.
    void (*registered)(void *user, int status, const char *phrase, int own, int all, unsigned expires);
    // The end of `sip_stack_unregister`: no request is open, and 200 means that the registrar has removed the contact.
    void (*stopped)(void *user, int status);
    // Returns the status to answer with: 200 only if the message is stored.
    int (*message)(void *user, const sip_message *message);
    // The final answer to the message that `sip_stack_send` sent under this number, or 408.
    void (*sent)(void *user, uint64_t number, int status, const char *phrase);
    // Returns 180 to let the call ring, or the final status.
    int (*invited)(void *user, uint64_t call, const char *call_id, const char *from, const char *to);
    // The other side holds the call, or resumes it.
    void (*held)(void *user, uint64_t call, int is_held);
    // The end of `sip_call_hold`: 200, or the status with which the other side refuses.
    void (*hold_answered)(void *user, uint64_t call, int status);
    // A call from here rings at the other side, or is answered there.
    void (*rings)(void *user, uint64_t call);
    void (*answered)(void *user, uint64_t call);
    // The final answer to a call from here, or 408.
    void (*refused)(void *user, uint64_t call, int status, const char *phrase);
    // Reports whether another process can continue the call from now on. Returns 0, or -1 if that cannot change because
    // another process is about to continue the call.
    int (*moves)(void *user, uint64_t call, int can_move);
    // `reason` is an enum sip_end. Not called for a call that is refused or hung up from here.
    void (*ended)(void *user, uint64_t call, int reason);
} sip_callbacks;

typedef struct sip_media_counts {
    uint64_t sent, received;   // RTP packets
} sip_media_counts;

// An answered call, as another process continues it.
typedef struct sip_dialog {
    const char *call_id, *local, *remote;  // Call-ID; the addresses of From and To, with tags
    const char *target, *routes;  // Contact of the other side; Route, or empty
    uint32_t local_cseq, remote_cseq;  // the last ones used; 0: none
    const char *peer;  // the numeric address of the other side's RTP stream
    uint16_t peer_port;
    int is_caller, payload_type, is_held, is_holding;  // `is_held`: by the other side
    uint32_t session, version, described;  // of this side's SDP
    uint32_t ssrc, timestamp;
    uint16_t sequence;  // of the next packet
    uint64_t sent_at;  // when the last packet was sent: nanoseconds of CLOCK_MONOTONIC
    uint64_t sent, received;
    int descriptor;  // the RTP socket
} sip_dialog;

// Overwrites memory, also where the compiler sees that it is not read again.
void sip_erase(void *bytes, size_t size);

// Returns NULL, and the reason in `problem`, if the account cannot be used.
sip_stack *sip_stack_create(const sip_account *account, sip_callbacks callbacks, char *problem, size_t size);
void sip_stack_destroy(sip_stack *stack);

// The descriptor that is readable while there is work; -1 if there is none: then step at an interval.
int sip_stack_descriptor(const sip_stack *stack);
// Handles what is ready. Returns the milliseconds until the next timer, at least 1; -1 for none.
long sip_stack_step(sip_stack *stack);

// Returns 1 if no call and no request of this side is open, so that the stack loses nothing while it is not stepped.
int sip_stack_is_idle(const sip_stack *stack);

// The URI of this stack's Contact.
const char *sip_stack_contact(const sip_stack *stack);
// Registers, and refreshes the registration. `former` has Contact URIs of this instance, one a line, which the same request
// removes.
void sip_stack_register(sip_stack *stack, const char *former);
// Refreshes the registration at the next step, before it is due.
void sip_stack_refresh(sip_stack *stack);
// Hangs up all calls and removes the Contact. The callback `stopped` follows.
void sip_stack_unregister(sip_stack *stack);

// Sends text to a URI. Returns 0, or -1 if the request cannot be made: `sent` is not called then.
int sip_stack_send(sip_stack *stack, uint64_t number, const char *to, const char *content_type, const char *text);

// Creates a call to a URI, and sends nothing. Returns its number, and its Call-ID, which is valid as long as the call;
// or 0.
uint64_t sip_call_make(sip_stack *stack, const char *to, const char **call_id);
// Sends the INVITE of a call of `sip_call_make`. Returns 0, or -1 if the call is over then.
int sip_call_invite(sip_stack *stack, uint64_t call);

// Return 0, or -1 if the call is over or in another state. Only a ringing call can be answered or refused. An answered
// call, and a call from here, can be hung up.
int sip_call_answer(sip_stack *stack, uint64_t call);
int sip_call_refuse(sip_stack *stack, uint64_t call, int status);
int sip_call_hang_up(sip_stack *stack, uint64_t call);
// Holds an answered call, or resumes it: sends an INVITE, and `hold_answered` reports the answer. Returns -1 also while
// an INVITE is open, and if another process is about to continue the call.
int sip_call_hold(sip_stack *stack, uint64_t call, int is_holding);

// Describes a call that has no transaction open. The texts and the descriptor stay the call's. Returns 0, or -1 for a call that
// cannot move now.
int sip_call_export(sip_stack *stack, uint64_t call, sip_dialog *dialog);
// Stops sending and reading RTP, and refuses requests, because another process continues the calls.
void sip_stack_rest(sip_stack *stack);
// Answers the requests that have come to a stack at rest, for `milliseconds`: a BYE with 200, an INVITE with 500 or
// 480.
void sip_stack_drain(sip_stack *stack, int milliseconds);
// Calls `sip_stack_unregister`, and waits at most `milliseconds` for its end.
void sip_stack_finish(sip_stack *stack, int milliseconds);
// Creates a call from its description, and sends nothing. Takes the descriptor, also if it fails. Returns the number of
// the call, or 0 for an invalid description.
uint64_t sip_call_adopt(sip_stack *stack, const sip_dialog *dialog);
// Continues an adopted call: sends RTP at once, and an INVITE with this stack's Contact.
int sip_call_continue(sip_stack *stack, uint64_t call);
// Frees an adopted call and sends nothing to the other side.
void sip_call_forget(sip_stack *stack, uint64_t call);

// Returns the number of packets of a call so far; 0 of each for an unknown call. A call is known until the step after
// its end.
sip_media_counts sip_call_media(sip_stack *stack, uint64_t call);

#ifdef __cplusplus
}
#endif
#endif
