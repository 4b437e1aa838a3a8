internal import CoreAPI
internal import Testing

/// The supervision of a Main: its machine, its keeper, its kept sockets.
@Suite("Keeper") enum KeeperTests {}

/// An instant so many seconds after the beginning of a run.
func at(_ seconds: Double) -> BootInstant {
    BootInstant(nanoseconds: 1_000_000_000_000 + UInt64(seconds * 1_000_000_000))
}
