#ifdef SIP
#include "private.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PACKET_MILLISECONDS = 20, PACKET_SAMPLES = 160, PAYLOAD_PCMU = 0, PAYLOAD_PCMA = 8 };

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void clear(media *m, su_root_t *root) {
    memset(m, 0, sizeof *m);
    m->descriptor = -1;
    m->registration = -1;
    m->root = root;
    m->payload_type = PAYLOAD_PCMU;
}

// Takes a descriptor, if it is a UDP socket with an address. 0, or -1.
static int take(media *m, int descriptor) {
    struct sockaddr_storage own;
    socklen_t length = sizeof own, size = sizeof(int);
    int type = 0;
    if (getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) < 0 || type != SOCK_DGRAM
        || getsockname(descriptor, (struct sockaddr *)&own, &length) < 0)
        return -1;
    const void *address = &((struct sockaddr_in *)&own)->sin_addr;
    in_port_t port = ((struct sockaddr_in *)&own)->sin_port;
    if (own.ss_family == AF_INET6) {
        address = &((struct sockaddr_in6 *)&own)->sin6_addr;
        port = ((struct sockaddr_in6 *)&own)->sin6_port;
    } else if (own.ss_family != AF_INET) {
        return -1;
    }
    if (!inet_ntop(own.ss_family, address, m->host, sizeof m->host)) return -1;
    m->port = ntohs(port);
    m->descriptor = descriptor;
    return 0;
}

int media_open(media *m, su_root_t *root, const char *host) {
    struct addrinfo hints = { .ai_socktype = SOCK_DGRAM, .ai_flags = AI_NUMERICHOST }, *found = NULL;
    clear(m, root);
    if (getrandom(&m->ssrc, sizeof m->ssrc, 0) < 0 || getrandom(&m->sequence, sizeof m->sequence, 0) < 0) return -1;
    if (getaddrinfo(host, NULL, &hints, &found) != 0) return -1;
    m->session = m->ssrc;
    int descriptor = socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int result = descriptor >= 0 && bind(descriptor, found->ai_addr, found->ai_addrlen) == 0 ? take(m, descriptor) : -1;
    freeaddrinfo(found);
    if (result < 0 && descriptor >= 0) close(descriptor);
    return result;
}

static int set_peer(media *m, const char *host, unsigned long port) {
    char service[8];
    struct addrinfo hints = { .ai_socktype = SOCK_DGRAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV }, *found = NULL;
    snprintf(service, sizeof service, "%lu", port);
    // A numeric address alone: the lookup of a name would block the loop, for a name that the other side chooses.
    if (getaddrinfo(host, service, &hints, &found) != 0) return -1;
    memcpy(&m->peer, found->ai_addr, found->ai_addrlen);
    m->peer_length = found->ai_addrlen;
    freeaddrinfo(found);
    return 0;
}

int media_adopt(media *m, su_root_t *root, const sip_dialog *dialog) {
    clear(m, root);
    int is_known = dialog->payload_type == PAYLOAD_PCMU || dialog->payload_type == PAYLOAD_PCMA;
    if (!is_known || dialog->peer_port == 0 || set_peer(m, dialog->peer, dialog->peer_port) < 0
        || take(m, dialog->descriptor) < 0) {
        if (dialog->descriptor >= 0) close(dialog->descriptor);
        return -1;
    }
    m->payload_type = dialog->payload_type;
    m->is_held = dialog->is_held;
    m->is_holding = dialog->is_holding;
    m->session = dialog->session;
    m->version = dialog->version;
    m->described = dialog->described;
    m->ssrc = dialog->ssrc;
    m->timestamp = dialog->timestamp;
    m->sequence = dialog->sequence;
    m->sent_at = dialog->sent_at;
    m->counts = (sip_media_counts){ dialog->sent, dialog->received };
    return 0;
}

// Copies a description without the attributes that are not read. The library refuses a whole description for a fault in one
// of them, such as the "a=rtpmap:31 LPC" of RFC 4475.
static char *plain(su_home_t *home, const char *text, size_t length, size_t *size) {
    static const char *const read[] = { "a=sendrecv", "a=sendonly", "a=recvonly", "a=inactive" };
    char *copy = su_alloc(home, (isize_t)length + 1);
    *size = 0;
    for (size_t start = 0, end; copy && start < length; start = end) {
        const char *newline = memchr(text + start, '\n', length - start);
        end = newline ? (size_t)(newline - text) + 1 : length;
        int is_kept = end - start < 2 || memcmp(text + start, "a=", 2) != 0;
        for (size_t index = 0; index < 4 && !is_kept; index++) {
            size_t count = strlen(read[index]);
            is_kept = end - start >= count && memcmp(text + start, read[index], count) == 0;
        }
        if (!is_kept) continue;
        memcpy(copy + *size, text + start, end - start);
        *size += end - start;
    }
    if (copy) copy[*size] = 0;
    return copy;
}

int media_accept(media *m, su_home_t *home, const char *text, size_t length) {
    char *description = plain(home, text, length, &length);
    if (!description) return -1;
    sdp_parser_t *parser = sdp_parse(home, description, (issize_t)length, 0);
    sdp_session_t *session = sdp_session(parser);
    int result = -1;
    for (sdp_media_t *stream = session ? session->sdp_media : NULL; stream && result < 0; stream = stream->m_next) {
        if (stream->m_type != sdp_media_audio || stream->m_port == 0 || stream->m_port > 65535) continue;
        if (stream->m_proto != sdp_proto_rtp) continue;
        int type = -1;
        for (sdp_rtpmap_t *map = stream->m_rtpmaps; map && type < 0; map = map->rm_next)
            if (map->rm_pt == PAYLOAD_PCMU || map->rm_pt == PAYLOAD_PCMA) type = (int)map->rm_pt;
        sdp_connection_t *address = stream->m_connections ? stream->m_connections : session->sdp_connection;
        if (type < 0 || !address || !address->c_address) continue;
        if (set_peer(m, address->c_address, stream->m_port) < 0) continue;
        m->payload_type = type;
        m->is_held = !(stream->m_mode & sdp_recvonly);
        m->is_peer_silent = !(stream->m_mode & sdp_sendonly);
        result = 0;
    }
    if (parser) sdp_parser_free(parser);
    su_free(home, description);
    return result;
}

char *media_describe(media *m, su_home_t *home, int is_offer) {
    const char *family = strchr(m->host, ':') ? "IP6" : "IP4";
    int sends = !m->is_held, receives = !m->is_holding && (is_offer || !m->is_peer_silent);
    const char *mode = sends ? receives ? "" : "a=sendonly\r\n" : receives ? "a=recvonly\r\n" : "a=inactive\r\n";
    // The version changes with the description alone (RFC 3264, 8).
    uint32_t described = 0x80u | (uint32_t)m->payload_type << 2 | (uint32_t)sends << 1 | (uint32_t)receives;
    if (described != m->described) m->version++;
    m->described = described;
    return su_sprintf(
        home,
        "v=0\r\no=- %u %u IN %s %s\r\ns=-\r\nc=IN %s %s\r\nt=0 0\r\nm=audio %u RTP/AVP %d\r\n"
        "a=rtpmap:%d %s/8000\r\na=ptime:%d\r\n%s",
        (unsigned)m->session, (unsigned)m->version, family, m->host, family, m->host, m->port, m->payload_type,
        m->payload_type, m->payload_type == PAYLOAD_PCMA ? "PCMA" : "PCMU", PACKET_MILLISECONDS, mode);
}

static void send_packet(void *magic, su_timer_t *timer, void *argument) {
    media *m = argument;
    uint8_t packet[12 + PACKET_SAMPLES];
    uint16_t sequence = htons(m->sequence);
    uint32_t timestamp = htonl(m->timestamp), ssrc = htonl(m->ssrc);
    m->timestamp += PACKET_SAMPLES;
    m->sent_at = now();
    if (m->is_held || m->peer_length == 0) return;
    packet[0] = 0x80;
    packet[1] = (uint8_t)(m->payload_type | (m->counts.sent == 0 ? 0x80 : 0));
    memcpy(packet + 2, &sequence, 2);
    memcpy(packet + 4, &timestamp, 4);
    memcpy(packet + 8, &ssrc, 4);
    memset(packet + 12, m->payload_type == PAYLOAD_PCMA ? 0xD5 : 0xFF, PACKET_SAMPLES);
    m->sequence++;
    ssize_t size = sendto(m->descriptor, packet, sizeof packet, MSG_NOSIGNAL, (struct sockaddr *)&m->peer, m->peer_length);
    if (size == (ssize_t)sizeof packet) m->counts.sent++;
}

static int receive_packets(void *magic, su_wait_t *wait, void *argument) {
    media *m = argument;
    uint8_t packet[2048];
    // At most 32 packets, so that a flood of them does not delay the signalling.
    for (int left = 32; left > 0; left--) {
        ssize_t size = recv(m->descriptor, packet, sizeof packet, MSG_DONTWAIT);
        if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
        if (size >= 12 && packet[0] >> 6 == 2) m->counts.received++;
    }
    return 0;
}

int media_start(media *m) {
    su_wait_t wait[1] = { SU_WAIT_INIT };
    if (m->timer) return 0;
    if (su_wait_create(wait, m->descriptor, SU_WAIT_IN) < 0) return -1;
    m->registration = su_root_register(m->root, wait, receive_packets, m, 0);
    m->timer = su_timer_create(su_root_task(m->root), PACKET_MILLISECONDS);
    if (m->registration < 0 || !m->timer || su_timer_set_for_ever(m->timer, send_packet, m) < 0) {
        media_stop(m);
        return -1;
    }
    if (m->sent_at) {
        // Another process has sent before: the timestamps pass over the time in between, the numbers do not.
        uint64_t time = now(), gap = time > m->sent_at ? time - m->sent_at : 0, packets = gap / (PACKET_MILLISECONDS * 1000000u);
        if (packets > 1 && packets < 3000) m->timestamp += (uint32_t)(packets - 1) * PACKET_SAMPLES;
        send_packet(NULL, NULL, m);
    }
    return 0;
}

void media_stop(media *m) {
    if (m->timer) su_timer_destroy(m->timer);
    if (m->registration >= 0) su_root_deregister(m->root, m->registration);
    m->timer = NULL;
    m->registration = -1;
}

void media_close(media *m) {
    media_stop(m);
    if (m->descriptor >= 0) close(m->descriptor);
    m->descriptor = -1;
}
#endif
