internal import Coordination
internal import CoreAPI
internal import FoundationEssentials

/// A push as it waits in the group, in JSON.
struct Push: Codable, Hashable, Sendable {
    /// What it announces.
    let callID: String
    /// When it came, in nanoseconds of that run of the machine.
    let receivedAt: UInt64
    /// The run of the machine in which it came.
    let bootID: String
    /// How many Executors have failed for it.
    var failures = 0
    /// What the last of them ended with, for people.
    var lastFailure: String?

    init(_ callID: CallID, at now: BootInstant, in bootID: BootID) {
        self.callID = callID.text
        self.receivedAt = now.nanoseconds
        self.bootID = bootID.description
    }

    /// More failures than any host counts.
    private static let maximumFailures = 1_000_000

    /// Nil when the bytes are no push, such as one of a later version. Any participant can have written them: a number that
    /// no host writes makes them none, so that no sum of it leaves 64 bits.
    init?(_ bytes: [UInt8]) {
        guard let push = try? JSONDecoder().decode(Push.self, from: Data(bytes)), PushID.callID(push.callID) != nil,
            (0...Self.maximumFailures).contains(push.failures)
        else { return nil }
        self = push
    }

    var bytes: [UInt8] {
        // Texts and numbers always have a form in JSON.
        (try? JSONEncoder().encode(self)).map(Array.init) ?? []
    }

    /// How long ago it came; nil when that was in an earlier run of the machine.
    func age(at now: BootInstant, in bootID: BootID) -> Duration? {
        bootID.description == self.bootID ? BootInstant(nanoseconds: receivedAt).duration(to: now) : nil
    }
}

/// The rule for the call-ids that a push can have: they travel in a line and in the arguments of a program.
enum PushID {
    /// As long as an identifier can be that stands in a message.
    static let maximumByteCount = 998

    static let expectation = "1 to \(maximumByteCount) bytes of UTF-8 without control characters or spaces at its ends"

    /// The call-id; nil when a text cannot be one.
    static func callID(_ text: some StringProtocol) -> CallID? {
        let scalars = text.unicodeScalars
        guard text.utf8.count <= maximumByteCount, scalars.first != " ", scalars.last != " ",
            !scalars.contains(where: { $0.properties.generalCategory == .control })
        else { return nil }
        return CallID(String(text))
    }
}
