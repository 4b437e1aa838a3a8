/// The desktop's notification service, over the sd-bus of libsystemd, which is loaded when it is first used: a program
/// that links this needs no such library, neither to be built nor to run.

#pragma once

#include <stddef.h>
#include <stdint.h>

/// Shows a notification through org.freedesktop.Notifications on the session's bus. Blocks until the service has answered
/// or the timeout has passed.
///
/// Returns the number of the notification. If it cannot be shown, returns a negated errno, -ENOSYS without the library, and
/// writes a message for people to `problem`, with a zero at its end.
///
/// Source: Desktop Notifications Specification 1.2, the method Notify.
int64_t clinux_notify_desktop(
    const char *application, const char *summary, const char *body, uint32_t replaced, uint64_t timeout_microseconds,
    char *problem, size_t problem_size);
