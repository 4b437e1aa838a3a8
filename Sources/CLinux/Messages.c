#define _GNU_SOURCE
#include "CLinuxMessages.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int result(long value) {
    return value < 0 ? -errno : (int)value;
}

/// The maximum number of descriptors in one message: the kernel's limit.
enum { most_descriptors = 253 };

static int open_at(const char *path, int (*use)(int, const struct sockaddr *, socklen_t)) {
    struct sockaddr_un address;
    memset(&address, 0, sizeof address);
    address.sun_family = AF_UNIX;
    if (strlen(path) >= sizeof address.sun_path) return -ENAMETOOLONG;
    strcpy(address.sun_path, path);
    int socket_descriptor = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket_descriptor < 0) return -errno;
    if (use(socket_descriptor, (const struct sockaddr *)&address, sizeof address) == 0) return socket_descriptor;
    int error = -errno;
    close(socket_descriptor);
    return error;
}

static int bind_and_listen(int socket_descriptor, const struct sockaddr *address, socklen_t size) {
    if (bind(socket_descriptor, address, size) < 0) return -1;
    return listen(socket_descriptor, 64);
}

int clinux_listen_for_messages(const char *path) {
    return open_at(path, bind_and_listen);
}

int clinux_connect_for_messages(const char *path) {
    return open_at(path, connect);
}

int clinux_send_message(
    int socket_descriptor, const void *bytes, size_t count, const int *descriptors, size_t descriptor_count) {
    if (descriptor_count > most_descriptors) return -EINVAL;
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
    union {
        char space[CMSG_SPACE(sizeof(int) * most_descriptors)];
        struct cmsghdr alignment;
    } control;
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (descriptor_count > 0) {
        memset(&control, 0, sizeof control);
        message.msg_control = control.space;
        message.msg_controllen = CMSG_SPACE(sizeof(int) * descriptor_count);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int) * descriptor_count);
        memcpy(CMSG_DATA(header), descriptors, sizeof(int) * descriptor_count);
    }
    return result(sendmsg(socket_descriptor, &message, MSG_NOSIGNAL));
}

int clinux_receive_message(
    int socket_descriptor, void *bytes, size_t count, int *descriptors, size_t space, size_t *descriptor_count) {
    struct iovec part = {.iov_base = bytes, .iov_len = count};
    union {
        char space[CMSG_SPACE(sizeof(int) * most_descriptors)];
        struct cmsghdr alignment;
    } control;
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = sizeof control.space};
    *descriptor_count = 0;
    ssize_t received = recvmsg(socket_descriptor, &message, MSG_CMSG_CLOEXEC);
    if (received < 0) return -errno;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header != NULL; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        size_t carried = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t index = 0; index < carried; index++) {
            int each;
            memcpy(&each, CMSG_DATA(header) + index * sizeof(int), sizeof each);
            if (*descriptor_count < space) descriptors[(*descriptor_count)++] = each;
            else close(each);
        }
    }
    if ((message.msg_flags & MSG_TRUNC) == 0) return (int)received;
    while (*descriptor_count > 0) close(descriptors[--*descriptor_count]);
    return -EMSGSIZE;
}

static struct flock whole_file(void) {
    struct flock range;
    memset(&range, 0, sizeof range);
    range.l_type = F_WRLCK;
    range.l_whence = SEEK_SET;
    return range;
}

int clinux_lock_for_process(int descriptor) {
    struct flock range = whole_file();
    int error = result(fcntl(descriptor, F_SETLK, &range));
    return error == -EACCES ? -EAGAIN : error;
}

int clinux_lock_holder(int descriptor) {
    struct flock range = whole_file();
    int error = result(fcntl(descriptor, F_GETLK, &range));
    if (error < 0) return error;
    return range.l_type == F_UNLCK ? 0 : range.l_pid;
}

int clinux_let_inherit(int descriptor) {
    return result(fcntl(descriptor, F_SETFD, 0));
}
