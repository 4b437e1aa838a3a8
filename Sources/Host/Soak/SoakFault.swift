internal import CoreAPI
internal import CoreAPITesting

/// The fault of one Executor.
enum SoakFault: Hashable, Sendable {
    case spared
    /// The Executor kills itself inside of a write.
    case dies(writingAt: String, occurrence: Int)
    /// The core of the Executor kills its process before it acknowledges to the server.
    case diesBeforeAcknowledging
    /// The Executor kills itself while it reads a message, or after it has counted that another process ended while
    /// reading it.
    case diesReading(at: String)
    /// The Executor is killed after this number of milliseconds, at any point of its work.
    case killed(after: Int)
    /// The Executor is frozen after a number of milliseconds, for a number of milliseconds.
    case frozen(after: Int, for: Int)

    /// The fail points inside of a write, before and after its record is part of the order.
    private static let places = [
        "commit.afterLock", "commit.halfRecord", "commit.beforePublish", "commit.afterPublish", "commit.beforeUnlock",
    ]

    /// Draws the fault of one Executor.
    ///
    /// - Parameter killsItself: True if this build can be told to die at a fail point of the file backend.
    static func drawn(from random: inout SeededRandom, killsItself: Bool) -> SoakFault {
        switch Int.random(in: 0..<11, using: &random) {
        case 0..<3 where killsItself:
            .dies(
                writingAt: places[Int.random(in: 0..<places.count, using: &random)],
                occurrence: Int.random(in: 1...8, using: &random))
        case 3..<6 where killsItself: .diesBeforeAcknowledging
        case 6..<8: .killed(after: Int.random(in: 0...120, using: &random))
        case 8: .frozen(after: Int.random(in: 0...200, using: &random), for: Int.random(in: 50...1500, using: &random))
        case 9 where killsItself: .diesReading(at: random.once(in: 2) ? "maildir.reading" : "maildir.counted")
        default: .spared
        }
    }

    /// The fail point to set in the program; nil for none.
    var failPoint: String? {
        switch self {
        case .dies(let place, let occurrence): "\(place):kill@\(occurrence)"
        case .diesBeforeAcknowledging: "maildir.beforeAcknowledgement:kill"
        case .diesReading(let place): "\(place):kill"
        case .spared, .killed, .frozen: nil
        }
    }
}
