internal import Glibc
internal import Platform
internal import Synchronization

/// The design of the shared cores on iOS: a flag for the owner of the core in a dictionary that processes share.
/// Each process reads it every 100 ms, and believes it until it has not been refreshed for 30 s.
final class StateFlag: PeerDesign {
    private static let poll: UInt64 = 100
    private static let staleness: UInt64 = 30_000_000_000

    private let dictionary: SharedDictionary
    private let own = UInt64(getpid())

    init(path: String) {
        dictionary = SharedDictionary(path: path)
    }

    func own(asMain: Bool) {
        while !take(asking: asMain) { Moment.sleep(milliseconds: Self.poll) }
        try? OwnedThread.start("flag") { [self] in keep() }
    }

    func release() {
        dictionary.update { if $0["owner"] == own { $0["owner"] = 0 } }
    }

    func message(_ callID: String, by core: PeerCore) {
        while !core.hasMessage(callID) {
            if take(asking: false) {
                core.run()
                release()
            } else {
                Moment.sleep(milliseconds: Self.poll)
            }
        }
    }

    private func take(asking: Bool) -> Bool {
        dictionary.update { values in
            let now = Moment.now
            guard values["owner", default: 0] == 0 || values["seen", default: 0] + Self.staleness < now else {
                if asking { values["request"] = 1 }
                return false
            }
            values = ["owner": own, "seen": now, "request": 0]
            return true
        }
    }

    /// Refreshes the flag, and checks whether a Main has asked for it.
    private func keep() {
        while true {
            let isKept = dictionary.update { values in
                guard values["owner"] == own else { return false }
                if values["request"] == 1 {
                    values["owner"] = 0
                    return false
                }
                values["seen"] = Moment.now
                return true
            }
            guard isKept else { return }
            Moment.sleep(milliseconds: Self.poll)
        }
    }
}
