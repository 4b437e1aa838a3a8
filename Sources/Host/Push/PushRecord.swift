internal import Coordination
internal import CoreAPI
internal import ExecutorRun
internal import FoundationEssentials
internal import ProgramOutput

/// The record of a push that waits for an Executor, in JSON.
///
/// Type, account and payload (as Base64) are present only if they are not the defaults. So records of earlier versions,
/// which have none of them, can be read, and earlier versions can read the other fields.
struct PushRecord: Codable, Hashable, Sendable {
    private enum CodingKeys: CodingKey {
        case callID, receivedAt, bootID, failures, lastFailure, type, account, payload
    }

    let push: Push
    /// The time at which the push came, in nanoseconds since the machine's boot.
    let receivedAt: UInt64
    /// The boot of the machine since which that time counts.
    let bootID: String
    /// How many Executors have failed for it.
    var failures = 0
    /// How the last of these Executors ended, for people.
    var lastFailure: String?

    /// The call-id that the push announces.
    var callID: String { push.callID.text }

    init(_ push: Push, at now: BootInstant, in bootID: BootID) {
        self.push = push
        self.receivedAt = now.nanoseconds
        self.bootID = bootID.description
    }

    /// An upper bound for valid records: no host counts so many failures.
    private static let maximumFailures = 1_000_000

    /// Returns nil if the bytes are not a push that this version can read. Any participant can have written them: a
    /// record with a number that no host writes is refused, so that no sum exceeds 64 bits.
    init?(_ bytes: [UInt8]) {
        guard let record = try? JSONDecoder().decode(PushRecord.self, from: Data(bytes)) else { return nil }
        self = record
    }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) throws -> String? { try fields.decodeIfPresent(String.self, forKey: key) }
        guard let callID = PushID.callID(try fields.decode(String.self, forKey: .callID)),
            let push = Push(
                callID, type: try text(.type) ?? Push.defaultType, account: try text(.account) ?? "",
                encodedPayload: try text(.payload) ?? "")
        else { throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "no push")) }
        self.push = push
        receivedAt = try fields.decode(UInt64.self, forKey: .receivedAt)
        bootID = try fields.decode(String.self, forKey: .bootID)
        failures = try fields.decode(Int.self, forKey: .failures)
        guard (0...Self.maximumFailures).contains(failures) else {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "no host writes this number"))
        }
        lastFailure = try text(.lastFailure)
    }

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(callID, forKey: .callID)
        try fields.encode(receivedAt, forKey: .receivedAt)
        try fields.encode(bootID, forKey: .bootID)
        try fields.encode(failures, forKey: .failures)
        try fields.encodeIfPresent(lastFailure, forKey: .lastFailure)
        if push.type != Push.defaultType { try fields.encode(push.type, forKey: .type) }
        if !push.account.isEmpty { try fields.encode(push.account, forKey: .account) }
        if !push.payload.isEmpty { try fields.encode(Base64.encode(push.payload), forKey: .payload) }
    }

    var bytes: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        // Texts and numbers always have a form in JSON.
        return (try? encoder.encode(self)).map(Array.init) ?? []
    }

    /// `event callID type account failures reason`: a push that was given up, without its payload.
    var givenUpJSON: JSONObject {
        [
            "event": "givenUp", "callID": .text(callID), "type": .text(push.type), "account": .text(push.account),
            "failures": .integer(Int64(failures)), "reason": .text(lastFailure ?? ""),
        ]
    }

    /// Returns the time since the push came; nil if that was in an earlier boot.
    func age(at now: BootInstant, in bootID: BootID) -> Duration? {
        bootID.description == self.bootID ? BootInstant(nanoseconds: receivedAt).duration(to: now) : nil
    }
}
