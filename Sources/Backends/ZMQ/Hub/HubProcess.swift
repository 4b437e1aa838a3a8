internal import CoreAPI
internal import Platform

/// The process of a hub, as its lock's file names it: `pid startTime bootID`, and `+` when it answers, `*` when it does and
/// serves its own memory, `-` as long as it does not answer.
struct HubProcess: Hashable {
    let identity: ProcessIdentity
    /// Whether it serves the memory of the process: the files of the group's directory are not what it serves.
    let isOnMemory: Bool

    /// This process.
    init(isOnMemory: Bool) {
        identity = .current
        self.isOnMemory = isOnMemory
    }

    /// Reads a lock's file; nil while the hub does not answer yet.
    init?(_ text: String) {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 4, words[3] == "+" || words[3] == "*", let pid = Int32(words[0]),
            let start = UInt64(words[1]),
            words[2] == ProcessIdentity.current.bootID.description
        else { return nil }
        identity = ProcessIdentity(bootID: ProcessIdentity.current.bootID, pid: pid, startTime: start)
        isOnMemory = words[3] == "*"
    }

    /// What the file says; as long in all cases.
    func text(isServing: Bool) -> String {
        let state = isServing ? isOnMemory ? "*" : "+" : "-"
        return "\(identity.pid) \(identity.startTime) \(identity.bootID) \(state)\n"
    }
}
