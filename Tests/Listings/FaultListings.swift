internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Synchronization

enum FaultPlace {
    private static let armed = Mutex("")

    static func arm(_ place: String) { armed.withLock { $0 = place } }

    /// Stands in `append`, before the record is written ("append") and behind it ("appended").
    static func pass(_ name: String) {
        let fault = armed.withLock { armed in
            defer { if armed.hasPrefix(name + ":") { armed = "" } }
            return armed
        }
        if fault == name + ":stop" { raise(SIGSTOP) }
        if fault == name + ":kill" { raise(SIGKILL) }
    }
}

func playFaultyPeer() async {
    await ConformancePeer(
        arm: { place throws(SharedCoreError) in FaultPlace.arm(place) },
        open: { address, description throws(SharedCoreError) in
            try await MyGroup.open(address, as: description)
        }
    ).serve()
}
