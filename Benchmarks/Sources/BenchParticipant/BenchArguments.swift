internal import BackendRegistry
internal import CoreAPI

/// The arguments of a participant: `DESIGN ROLE DIRECTORY [name=value...]`.
struct BenchArguments {
    enum Design: String {
        /// A participant of coordination, a process that only has the group open, and the peers.
        case sharedcore, store, flag, lease
        /// The hub of a group that is measured alone.
        case hub
        /// A program without any of them, which has run a task and waits.
        case none
        /// The same, which ends.
        case nothing
    }

    struct Wrong: Error, CustomStringConvertible {
        let description: String
    }

    let design: Design
    let role: SessionRole
    /// The directory of the witness and of the peers' files.
    let directory: String
    /// The group to join.
    var backend = BackendConfiguration(backend: "file", group: "bench", stateDirectory: "/")
    /// The message to get.
    var callID: String?
    /// The directory from which the core fetches messages.
    var server: String?
    /// True if the participant runs on its first thread and uses no thread of Swift's pool.
    var isOffPool = false
    /// The time that the core takes to start.
    var startMilliseconds: UInt32 = 0

    init(_ arguments: [String]) throws {
        guard arguments.count >= 3, let design = Design(rawValue: arguments[0]) else {
            throw Wrong(description: "usage: DESIGN ROLE DIRECTORY [name=value...]")
        }
        self.design = design
        role = SessionRole(rawValue: arguments[1])
        directory = arguments[2]
        for argument in arguments.dropFirst(3) {
            let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw Wrong(description: "“\(argument)” is not name=value") }
            switch parts[0] {
            case "backend": backend.backend = parts[1]
            case "group": backend.group = parts[1]
            case "parent": backend.stateDirectory = parts[1]
            case "durability": backend.durability = Durability(rawValue: parts[1])
            case "call-id": callID = parts[1]
            case "server": server = parts[1]
            case "off-pool": isOffPool = parts[1] == "yes"
            case "start-ms": startMilliseconds = UInt32(parts[1]) ?? 0
            default: backend.settings[parts[0]] = parts[1]
            }
        }
    }
}
