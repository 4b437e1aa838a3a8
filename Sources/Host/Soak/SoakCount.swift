/// What a soak has done, and what came of it.
struct SoakCount: Hashable, Sendable, CustomStringConvertible {
    /// Executors that were started.
    var pushes = 0
    /// Messages that were sent, each with a call-id of its own.
    var messages = 0
    /// Call-ids whose own text was shown.
    var delivered = 0
    /// Messages that were shown again although whoever showed them had ended well.
    var duplicates = 0
    /// Processes that died of SIGKILL, one way or another.
    var kills = 0
    /// Killed as the owner: stopped first, then seen to own, then killed.
    var owners = 0
    /// Killed that were to kill themselves inside of a write.
    var writers = 0
    /// Killed that were to kill themselves between the commit of a message and its acknowledgement to the server.
    var cores = 0
    /// Participants that were stopped and continued.
    var freezes = 0
    /// Mains that were switched on.
    var mains = 0
    var rounds = 0

    /// Call-ids whose own text nobody showed.
    var lost: Int { messages - delivered }

    var description: String {
        "\(pushes) pushes for \(messages) messages in \(rounds) rounds, \(mains) Mains, \(freezes) freezes, \(kills) kills "
            + "(\(owners) owners, \(writers) inside a write, \(cores) between commit and acknowledgement)"
    }
}
