// A SIP user agent for one account, on the transactions and dialogs (nta) of libsofia-sip-ua. All calls are for one thread, which
// polls `sip_stack_descriptor` and calls `sip_stack_step`. Nothing here sends before the thread steps.
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
};

// What the account is. The strings are copied.
typedef struct sip_account {
    const char *user, *domain, *password;
    const char *host;          // of the registrar
    uint16_t port;
    int transport;             // enum sip_transport
    const char *instance;      // urn:uuid:…
    const char *contact_parameters;  // of the Contact URI: ";pn-provider=…", or empty
    const char *certificates;  // TLS: folder with cafile.pem
    const char *name;          // TLS: the name that the registrar's certificate must have
    const char *local_address;  // NULL: the one of the route to the registrar
    unsigned expires;          // seconds
} sip_account;

typedef struct sip_message {
    const char *call_id, *original_call_id, *original_cseq;  // the last two may be NULL
    uint32_t cseq;
    const char *from, *to, *content_type;
    const char *body;
    size_t length;
} sip_message;

typedef struct sip_callbacks {
    void *user;
    // A final answer to a REGISTER; 0 where none came. `own` contacts of this instance are bound, of `all`.
    void (*registered)(void *user, int status, const char *phrase, int own, int all, unsigned expires);
    // Nothing is registered any more and no request is open, or the registrar did not confirm it (another status than 200).
    void (*stopped)(void *user, int status);
    // Returns the status to answer with. 200 only where the message is stored.
    int (*message)(void *user, const sip_message *message);
    // The final answer to what `sip_stack_send` sent under this number.
    void (*sent)(void *user, uint64_t number, int status, const char *phrase);
    // Returns 180 to ring, otherwise the final status.
    int (*invited)(void *user, uint64_t call, const char *call_id, const char *from, const char *to);
    // The other side holds the call, or no longer.
    void (*held)(void *user, uint64_t call, int is_held);
    void (*ended)(void *user, uint64_t call, int reason);
} sip_callbacks;

typedef struct sip_media_counts {
    uint64_t sent, received;   // RTP packets
} sip_media_counts;

// NULL with a sentence in `problem` where it cannot be made.
sip_stack *sip_stack_create(const sip_account *account, sip_callbacks callbacks, char *problem, size_t size);
void sip_stack_destroy(sip_stack *stack);

// The descriptor that is readable when there is work; -1 where it could not be found.
int sip_stack_descriptor(const sip_stack *stack);
// Works, and returns the milliseconds until the next timer; -1 for none.
long sip_stack_step(sip_stack *stack);

// The URI of the own Contact.
const char *sip_stack_contact(const sip_stack *stack);
// Registers, and keeps registered. `former` has Contact URIs of this instance, one a line, which the same request removes.
void sip_stack_register(sip_stack *stack, const char *former);
// Hangs up what is open and removes the own Contact; `stopped` follows.
void sip_stack_unregister(sip_stack *stack);

// -1 where nothing can be sent.
int sip_stack_send(sip_stack *stack, uint64_t number, const char *to, const char *content_type, const char *text);

// 0, or -1 where the call is over or in another state.
int sip_call_answer(sip_stack *stack, uint64_t call);
int sip_call_refuse(sip_stack *stack, uint64_t call, int status);
int sip_call_hang_up(sip_stack *stack, uint64_t call);
sip_media_counts sip_call_media(sip_stack *stack, uint64_t call);

#ifdef __cplusplus
}
#endif
#endif
