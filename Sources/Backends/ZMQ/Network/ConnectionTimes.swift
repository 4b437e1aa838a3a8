internal import CoreAPI

/// How long an end of a connection over a network may do nothing before the other one lets it go.
struct ConnectionTimes: Hashable, Sendable {
    /// Until a key is proved.
    var key = Duration.milliseconds(2_500)
    /// Until a hello was accepted.
    var hello = Duration.seconds(5)
    /// While much waits that the other end does not take, or may not give.
    var blocked = Duration.seconds(30)
    /// From one heartbeat of the library to the next, which the other end answers (ZMTP 3.1, RFC 23 of ZeroMQ).
    var heartbeat = Duration.seconds(5)
    /// From a heartbeat to the loss of the connection, when nothing at all has come since.
    var silence = Duration.seconds(15)

    /// In place of that where a message may be a state: from a heartbeat to its end. The library takes only a whole message for
    /// a sign of the other end, and a large one on a slow line takes minutes.
    var message = Duration.seconds(600)

    /// Has a socket send heartbeats.
    func set(on socket: Socket) throws(MessagingError) {
        try socket.set(.heartbeatInterval, Int(heartbeat.wholeMilliseconds))
        try socket.set(.heartbeatTimeout, Int(silence.wholeMilliseconds))
    }

    /// Lets a message take longer than a silence may, for a socket whose other end sends states. The other machine's system
    /// still has to confirm the heartbeats that it is sent.
    func allowLongMessages(on socket: Socket) throws(MessagingError) {
        try socket.set(.heartbeatTimeout, Int(message.wholeMilliseconds))
        try socket.set(.unconfirmedTimeout, Int(silence.wholeMilliseconds))
    }
}
