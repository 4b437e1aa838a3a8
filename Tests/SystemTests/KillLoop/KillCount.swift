/// What a kill loop has done.
struct KillCount: Sendable, CustomStringConvertible {
    /// Processes that died by SIGKILL, one way or another.
    var kills = 0
    /// Killed as the owner: stopped first, then seen to own, then killed.
    var owners = 0
    /// Killed by itself inside of a write to the journal.
    var writers = 0
    /// Killed by itself after a message was committed and before it was acknowledged to the server.
    var cores = 0
    var rounds = 0
    var messages = 0

    /// At least 200 deaths, 30 of each kind that matters.
    var isEnough: Bool { kills >= 200 && owners >= 30 && writers >= 30 && cores >= 30 }

    var description: String {
        "\(kills) kills (\(owners) owners, \(writers) writers inside a write, \(cores) cores between commit and "
            + "acknowledgement), \(messages) messages in \(rounds) rounds"
    }
}
