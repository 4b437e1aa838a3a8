/// A reader of untrusted bytes, and what its target does with an input.
enum FuzzTarget: String, CaseIterable {
    case journal
    case snapshot
    case follower
    case request
    case reply
    case timeline
    case configuration
    case envelope
    case keeper
    case mime
    case command
    case push

    /// Reads an input. A trap, and an input on which two ways to the same result differ, are findings.
    func run(_ bytes: [UInt8]) {
        switch self {
        case .journal: JournalTarget.run(bytes)
        case .snapshot: SnapshotTarget.run(bytes)
        case .follower: FollowerTarget.run(bytes)
        case .request: WireTargets.request(bytes)
        case .reply: WireTargets.reply(bytes)
        case .timeline: TimelineTarget.run(bytes)
        case .configuration: ConfigurationTarget.run(bytes)
        case .envelope: WireTargets.envelope(bytes)
        case .keeper: WireTargets.keeper(bytes)
        case .mime: MimeTarget.run(bytes)
        case .command: CommandTarget.run(bytes)
        case .push: PushTarget.run(bytes)
        }
    }

    /// The shape of the inputs; nil for bytes that the library mutates alone.
    var shape: (any InputShape)? {
        switch self {
        case .journal: JournalTarget.seal
        case .snapshot: SnapshotTarget.seal
        case .follower: FollowerTarget.shape
        case .timeline: TimelineTarget.shape
        case .configuration: Words.configuration
        case .keeper: Words.keeper
        case .mime: Words.mime
        case .command: Words.command
        case .push: Words.push
        case .request, .reply, .envelope: nil
        }
    }
}

/// Ends the run with a finding where a property does not hold.
func require(_ holds: Bool, _ property: String) {
    if !holds { fatalError("finding: " + property) }
}

/// Requires that writing what was read, and reading that again, changes nothing any more.
func requireStable<Value>(
    _ bytes: [UInt8], _ read: ([UInt8]) throws -> Value, _ write: (Value) throws -> [UInt8]
) {
    guard let value = try? read(bytes) else { return }
    guard let written = try? write(value) else { return }
    guard let again = try? read(written), let rewritten = try? write(again) else {
        fatalError("finding: what was written cannot be read")
    }
    require(written == rewritten, "what was written is read as something else")
}
