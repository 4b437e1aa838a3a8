package import CoreAPI

/// A request of a process to the holder of a call.
///
/// Source: contract C24.
public enum CallCommand: UInt8, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    case answer = 1
    case decline, hold, resume, hangUp

    public var description: String {
        switch self {
        case .answer: "answer"
        case .decline: "decline"
        case .hold: "hold"
        case .resume: "resume"
        case .hangUp: "hangUp"
        }
    }

    /// The end that the command asks for; nil for a command that ends no call.
    var end: Call.EndReason? {
        switch self {
        case .hangUp: .hungUp
        case .decline: .declined
        case .answer, .hold, .resume: nil
        }
    }
}

/// The record of a command in the group: version, command, the call that it is for, and its deadline. The call and the
/// deadline each have the boot id of the machine whose clock they use.
package struct CommandRecord: Hashable, Sendable {
    package let command: CallCommand
    private let callBootID: BootID
    private let callBegan: BootInstant
    private let bootID: BootID
    private let deadline: BootInstant

    /// Makes a command for exactly this call. It does not apply to a later call with the same id, which has another
    /// beginning.
    package init(_ command: CallCommand, for call: CallRecord, before deadline: BootInstant, in bootID: BootID) {
        self.command = command
        (callBootID, callBegan) = (call.bootID, call.began)
        (self.bootID, self.deadline) = (bootID, deadline)
    }

    /// Reads a record; nil if this version cannot read the bytes.
    package init?(_ bytes: [UInt8]) {
        do {
            var reader = ByteReader(bytes)
            guard try reader.byte() == CallKey.commandVersion, let command = CallCommand(rawValue: try reader.byte())
            else { return nil }
            self.command = command
            callBootID = BootID(high: try reader.word(), low: try reader.word())
            callBegan = try reader.instant()
            bootID = BootID(high: try reader.word(), low: try reader.word())
            deadline = try reader.instant()
            try reader.finish()
        } catch {
            return nil
        }
    }

    var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.byte(CallKey.commandVersion)
        writer.byte(command.rawValue)
        writer.word(callBootID.high)
        writer.word(callBootID.low)
        writer.instant(callBegan)
        writer.word(bootID.high)
        writer.word(bootID.low)
        writer.instant(deadline)
        return writer.bytes
    }

    /// Returns true if the command is for `call`, not for another call of the same id.
    package func isFor(_ call: CallRecord) -> Bool { (callBootID, callBegan) == (call.bootID, call.began) }

    /// Returns true if the command's deadline has passed. Returns false if the deadline counts in another run of a
    /// machine.
    package func isOver(at now: BootInstant, in bootID: BootID) -> Bool { bootID == self.bootID && deadline <= now }
}

/// The holder's progress with a command, in an entry beside the command's own. The entry outlives the holder, so that
/// no other core takes the command and the sender learns that it was taken. The sender removes the entry. If the sender
/// has ended, the holder or the next core removes it.
package struct CommandProgress: Hashable, Sendable {
    package enum Kind: UInt8, Hashable, Sendable {
        case taken = 1
        case done, refused
    }

    package let kind: Kind
    /// Why it was refused.
    let text: String

    package init(_ kind: Kind, _ text: String = "") {
        self.kind = kind
        self.text = text
    }

    /// Bytes that cannot be read count as a command that was taken with an unknown outcome.
    package init(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard (try? reader.byte()) == CallKey.commandVersion, let tag = try? reader.byte(),
            let kind = Kind(rawValue: tag),
            let text = try? reader.text()
        else {
            self.init(.taken)
            return
        }
        self.init(kind, text)
    }

    var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.byte(CallKey.commandVersion)
        writer.byte(kind.rawValue)
        writer.text(text)
        return writer.bytes
    }
}

extension CallKey {
    fileprivate static let commandVersion: UInt8 = 1
    /// A sender adds no command to a call for which this many commands wait. Senders that check at the same moment do
    /// not see each other's command, so a few more can wait.
    static let maximumCommandCount = 16
    private static let commandPath = ".sharedcore/calls/command/"

    /// Selects the commands for a call.
    static func commands(for call: Key) throws(SharedCoreError) -> KeyPrefix {
        try KeyPrefix(commandPath + call.text.dropFirst(records.path.utf8.count) + "/")
    }

    /// Returns the key of a command that a session sends.
    package static func command(_ number: UInt64, of session: SessionID, for call: Key) throws(SharedCoreError) -> Key {
        try Key("\(commands(for: call).path)\(session)-\(number)")
    }

    /// Returns the key at which the holder reports its progress with a command.
    package static func progress(of command: Key) throws(SharedCoreError) -> Key { try Key(command.text + "/taken") }

    /// Returns the command that a key of progress belongs to, as text; nil for any other key.
    static func command(ofProgress key: Key) -> String? {
        let suffix = "/taken"
        guard key.text.hasPrefix(commandPath), key.text.hasSuffix(suffix) else { return nil }
        return String(key.text.dropLast(suffix.utf8.count))
    }

    /// Returns the progress entries without a command, because its sender has ended.
    static func leftovers(among keys: some Sequence<Key>) -> [Key] {
        let commands = Set(keys.map(\.text))
        return keys.filter { key in command(ofProgress: key).map { !commands.contains($0) } ?? false }
    }
}

/// The commits of a command. Each has one author, and fails if another commit came first.
extension Transaction {
    /// Sends a command for a call.
    package static func sending(_ command: CommandRecord, as key: Key, for call: Key) -> Transaction {
        var transaction = Transaction(guards: [.exists(call)])
        transaction.put(key, command.bytes, lifetime: .session)
        return transaction
    }

    /// Takes a command, at most once, for a call whose record has not changed since it was read.
    package static func taking(
        _ command: Entry, for call: Key, at revision: Revision
    ) throws(SharedCoreError) -> Transaction {
        let progress = try CallKey.progress(of: command.key)
        var transaction = Transaction(
            guards: [.epoch(command.key, command.creationRevision), .absent(progress), .revision(call, revision)])
        transaction.put(progress, CommandProgress(.taken).bytes)
        return transaction
    }

    /// Records the outcome of a command that was taken in the commit `taken`.
    package static func finishing(
        _ command: Key, as outcome: CommandProgress, taken: Revision
    ) throws(SharedCoreError) -> Transaction {
        let progress = try CallKey.progress(of: command)
        var transaction = Transaction(guards: [.epoch(progress, taken), .exists(command)])
        transaction.put(progress, outcome.bytes)
        return transaction
    }

    /// Withdraws a command, if the holder's progress has not changed since it was read. The progress is nil if the
    /// holder has not taken the command.
    package static func withdrawing(
        _ command: Key, after progress: Entry?
    ) throws(SharedCoreError) -> Transaction {
        let key = try CallKey.progress(of: command)
        var transaction = Transaction(guards: [progress.map { .revision(key, $0.revision) } ?? .absent(key)])
        transaction.delete(command)
        transaction.delete(key)
        return transaction
    }
}

/// A call, its commands and the owner at one revision, kept up to date by a watch.
package struct CallSight {
    let call: Key
    private var entries: [Key: Entry] = [:]
    package private(set) var owner: Revision?
    /// True while the call moves from one core to the next.
    private var isMoving = false

    package init(of call: Key) {
        self.call = call
    }

    package static func prefixes(of call: Key) throws(SharedCoreError) -> [KeyPrefix] {
        [
            KeyPrefix(OwnershipKey.owner), KeyPrefix(OwnershipKey.baton), KeyPrefix(call),
            try CallKey.commands(for: call),
        ]
    }

    package mutating func apply(_ event: WatchEvent) {
        switch event {
        case .snapshot(let snapshot), .lagged(let snapshot):
            self = CallSight(of: call)
            for entry in snapshot.entries { set(entry.key, to: entry) }
        case .changes(let changes):
            for change in changes.changes { set(change.key, to: change.new) }
        }
    }

    private mutating func set(_ key: Key, to entry: Entry?) {
        switch key {
        case OwnershipKey.owner: owner = entry?.creationRevision
        case OwnershipKey.baton: isMoving = BatonRecord.movingKeys(of: entry).contains(call)
        default: entries[key] = entry
        }
    }

    /// The call while it is open, and the revision of its record; nil if the call has ended, is lost or is not known.
    package var open: (record: CallRecord, revision: Revision)? {
        guard let entry = entries[call], isMoving || !entry.isOlder(than: owner), let record = CallRecord(entry.value),
            record.state.isOpen
        else { return nil }
        return (record, entry.revision)
    }

    package subscript(key: Key) -> Entry? { entries[key] }

    /// Returns true if `call` is open. Another call of the same id does not count.
    func isOpen(_ call: CallRecord) -> Bool {
        open.map { ($0.record.began, $0.record.bootID) == (call.began, call.bootID) } ?? false
    }

    /// The commands, the oldest first.
    package var commands: [Entry] {
        entries.values.filter { $0.key != call && CallKey.command(ofProgress: $0.key) == nil }
            .sorted { $0.creationRevision < $1.creationRevision }
    }

    /// The keys of progress entries without a command, because that was removed.
    var leftovers: [Key] { CallKey.leftovers(among: entries.keys) }
}
