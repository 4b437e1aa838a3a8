internal import CoreAPI

/// How long one end of a connection over a network may be idle before the other end closes it.
struct ConnectionTimes: Hashable, Sendable {
    /// Until a key is proved.
    var key = Duration.milliseconds(2_500)
    /// Until a hello was accepted.
    var hello = Duration.seconds(5)
    /// While the other end does not receive waiting data, or may not send more.
    var blocked = Duration.seconds(30)
    /// From one heartbeat of the library to the next. The other end answers each (ZMTP 3.1, RFC 23 of ZeroMQ).
    var heartbeat = Duration.seconds(5)
    /// From a heartbeat to the loss of the connection, when nothing has arrived since.
    var silence = Duration.seconds(15)

    /// Used instead of ``silence`` where a message may be a state. The library counts only whole messages as a sign of
    /// the other end, and a large one on a slow line takes minutes.
    var message = Duration.seconds(600)

    /// Makes a socket send heartbeats.
    func set(on socket: Socket) throws(MessagingError) {
        try socket.set(.heartbeatInterval, Int(heartbeat.wholeMilliseconds))
        try socket.set(.heartbeatTimeout, Int(silence.wholeMilliseconds))
    }

    /// Lets a message take longer than ``silence``, for a socket with states to receive. The other machine's kernel
    /// must still acknowledge the heartbeats that it is sent.
    func allowLongMessages(on socket: Socket) throws(MessagingError) {
        try socket.set(.heartbeatTimeout, Int(message.wholeMilliseconds))
        try socket.set(.unconfirmedTimeout, Int(silence.wholeMilliseconds))
    }
}
