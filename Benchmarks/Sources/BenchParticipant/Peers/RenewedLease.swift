internal import Glibc
internal import Platform
internal import Synchronization

/// The design of matrix-rust-sdk's lock between processes: a lease of 500 ms in a store that processes share.
///
/// The owner renews the lease every 50 ms, and releases it at a renewal. A waiting process tries again after 10 ms,
/// then after twice as long each time, up to 1 s.
///
/// The original design cannot ask an owner to release. Here it can, to be compared: an owner checks for a request at
/// each renewal.
final class RenewedLease: PeerDesign {
    private static let duration: UInt64 = 500_000_000
    private static let renewal: UInt64 = 50
    private static let firstBackoff: UInt64 = 10
    private static let lastBackoff: UInt64 = 1000

    private let dictionary: SharedDictionary
    private let own = UInt64(getpid())
    private let holders = Mutex(0)
    private let isLeased = Mutex(false)

    init(path: String) {
        dictionary = SharedDictionary(path: path)
    }

    func own(asMain: Bool) {
        var backoff = Self.firstBackoff
        while !lease(asking: asMain) {
            Moment.sleep(milliseconds: backoff)
            // There the caller hears that it cannot have the lock, and begins anew.
            backoff = backoff * 2 > Self.lastBackoff ? Self.firstBackoff : backoff * 2
        }
        holders.withLock { $0 = 1 }
        isLeased.withLock { $0 = true }
        try? OwnedThread.start("lease") { [self] in renew() }
    }

    func release() {
        holders.withLock { $0 = 0 }
        while isLeased.withLock({ $0 }) { Moment.sleep(milliseconds: 1) }
    }

    func message(_ callID: String, by core: PeerCore) {
        while true {
            own(asMain: false)
            if !core.hasMessage(callID) { core.run() }
            let isThere = core.hasMessage(callID)
            release()
            if isThere { return }
        }
    }

    private func lease(asking: Bool) -> Bool {
        dictionary.update { values in
            let now = Moment.now
            guard values["owner", default: 0] == 0 || values["owner"] == own || values["expiry", default: 0] <= now
            else {
                if asking { values["request"] = 1 }
                return false
            }
            values = ["owner": own, "expiry": now + Self.duration, "request": 0]
            return true
        }
    }

    private func renew() {
        while true {
            let isHeld = holders.withLock { $0 > 0 }
            let isKept = dictionary.update { values in
                guard values["owner"] == own else { return false }
                guard isHeld, values["request"] != 1 else {
                    values["owner"] = 0
                    return false
                }
                values["expiry"] = Moment.now + Self.duration
                return true
            }
            guard isKept else { return isLeased.withLock { $0 = false } }
            Moment.sleep(milliseconds: Self.renewal)
        }
    }
}
