internal import CoreAPI
internal import Platform

/// The process of a hub, as its lock's file names it: `pid startTime bootID`, and `+` when it
/// answers, `-` as long as it does not.
struct HubProcess: Hashable {
    let identity: ProcessIdentity

    static var current: HubProcess { HubProcess(identity: .current) }

    private init(identity: ProcessIdentity) {
        self.identity = identity
    }

    /// Reads a lock's file; nil while the hub does not answer yet.
    init?(_ text: String) {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 4, words[3] == "+", let pid = Int32(words[0]), let start = UInt64(words[1]),
            words[2] == ProcessIdentity.current.bootID.description
        else { return nil }
        identity = ProcessIdentity(bootID: ProcessIdentity.current.bootID, pid: pid, startTime: start)
    }

    /// What the file says; as long in both cases.
    func text(isServing: Bool) -> String {
        "\(identity.pid) \(identity.startTime) \(identity.bootID) \(isServing ? "+" : "-")\n"
    }
}
