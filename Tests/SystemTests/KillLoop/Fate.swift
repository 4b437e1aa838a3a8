internal import CoreAPITesting
internal import TestSupport

/// What befalls one Executor.
enum Fate: Sendable {
    case spared
    /// It kills itself inside of a write.
    case dies(writingAt: String, occurrence: Int)
    /// Its core kills itself before it acknowledges to the server.
    case diesBeforeAcknowledging
    /// It is killed after so many milliseconds, whatever it does then.
    case killed(after: Int)

    /// The places inside of a write, before and after its record is part of the order.
    private static let places = [
        "commit.afterLock", "commit.halfRecord", "commit.beforePublish", "commit.afterPublish", "commit.beforeUnlock",
    ]

    static func drawn(from random: inout SplitMix64) -> Fate {
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<3:
            .dies(
                writingAt: places[Int.random(in: 0..<places.count, using: &random)],
                occurrence: Int.random(in: 1...8, using: &random))
        case 3..<6: .diesBeforeAcknowledging
        case 6..<8: .killed(after: Int.random(in: 0...120, using: &random))
        default: .spared
        }
    }

    /// What the program is told of it.
    var failPoint: String? {
        switch self {
        case .dies(let place, let occurrence): "\(place):kill@\(occurrence)"
        case .diesBeforeAcknowledging: "maildir.beforeAcknowledgement:kill"
        case .spared, .killed: nil
        }
    }
}
