internal import CSharedCore
internal import CoreAPI

/// One piece of memory with a result and everything that it points to. Its first address is what is freed.
struct Block {
    private let start: UnsafeMutableRawPointer
    private let size: Int
    private var used = 0

    /// - Parameter size: The bytes of everything that is placed in it, arrays first.
    init(size: Int) {
        self.size = size + 1
        start = .allocate(byteCount: size + 1, alignment: 16)
    }

    /// Places so many values, which the caller sets.
    mutating func array<Element>(of type: Element.Type, count: Int) -> UnsafeMutablePointer<Element> {
        start.advanced(by: take(count * MemoryLayout<Element>.stride)).bindMemory(to: type, capacity: count)
    }

    /// Places text with a NUL behind it.
    mutating func text(_ text: String) -> UnsafePointer<CChar> {
        let count = text.utf8.count
        let place = start.advanced(by: take(count + 1))
        UnsafeMutableRawBufferPointer(start: place, count: count).copyBytes(from: text.utf8)
        place.storeBytes(of: 0, toByteOffset: count, as: UInt8.self)
        return UnsafePointer(place.bindMemory(to: CChar.self, capacity: count + 1))
    }

    mutating func bytes(_ bytes: [UInt8]) -> UnsafePointer<UInt8> {
        let place = start.advanced(by: take(bytes.count))
        UnsafeMutableRawBufferPointer(start: place, count: bytes.count).copyBytes(from: bytes)
        return UnsafePointer(place.bindMemory(to: UInt8.self, capacity: bytes.count))
    }

    mutating func entry(_ entry: Entry) -> sc_entry {
        var result = sc_entry()
        result.key = text(entry.key.text)
        result.key_count = entry.key.text.utf8.count
        result.value = bytes(entry.value)
        result.value_count = entry.value.count
        result.revision = entry.revision.rawValue
        result.creation_revision = entry.creationRevision.rawValue
        result.origin = entry.origin.rawValue
        switch entry.lifetime {
        case .persistent: result.lifetime_kind = Int32(SC_PERSISTENT)
        case .session: result.lifetime_kind = Int32(SC_SESSION)
        case .expiring(let duration):
            result.lifetime_kind = Int32(SC_EXPIRING)
            let (seconds, attoseconds) = duration.components
            result.lifetime =
                seconds.multipliedReportingOverflow(by: 1000).partialValue &+ attoseconds / 1_000_000_000_000_000
        }
        return result
    }

    private mutating func take(_ count: Int) -> Int {
        precondition(used + count <= size, "A block was measured as \(size) bytes, and \(used + count) are needed.")
        defer { used += count }
        return used
    }

    /// Frees the block that begins at an address; nil is allowed.
    static func free(_ start: UnsafeRawPointer?) {
        guard let start else { return }
        UnsafeMutableRawPointer(mutating: start).deallocate()
    }
}

extension Entry {
    /// What it takes in a block, beside its structure.
    var blockByteCount: Int { key.text.utf8.count + 1 + value.count }
}

extension WatchEvent {
    /// The event as C has it.
    var event: sc_event {
        var event = sc_event()
        event.revision = revision.rawValue
        switch self {
        case .snapshot(let snapshot):
            event.kind = Int32(SC_EVENT_SNAPSHOT)
            Self.place(snapshot, in: &event)
        case .lagged(let snapshot):
            event.kind = Int32(SC_EVENT_LAGGED)
            Self.place(snapshot, in: &event)
        case .changes(let changes):
            event.kind = Int32(SC_EVENT_CHANGES)
            event.origin = changes.origin.rawValue
            Self.place(changes.changes, in: &event)
        }
        return event
    }

    private static func place(_ snapshot: Snapshot, in event: inout sc_event) {
        let stride = MemoryLayout<sc_change>.stride
        let size = snapshot.entries.reduce(0) { $0 + stride + $1.blockByteCount }
        var block = Block(size: size)
        let changes = block.array(of: sc_change.self, count: snapshot.entries.count)
        for (index, entry) in snapshot.entries.enumerated() {
            var change = sc_change()
            change.kind = Int32(SC_CHANGE_PRESENT)
            change.entry = block.entry(entry)
            changes[index] = change
        }
        event.count = snapshot.entries.count
        event.changes = UnsafePointer(changes)
    }

    private static func place(_ list: [Change], in event: inout sc_event) {
        let stride = MemoryLayout<sc_change>.stride
        let size = list.reduce(0) { size, change in
            size + stride + (change.new?.blockByteCount ?? change.key.text.utf8.count + 1)
                + (change.old?.blockByteCount ?? 0)
        }
        var block = Block(size: size)
        let changes = block.array(of: sc_change.self, count: list.count)
        for (index, each) in list.enumerated() {
            var change = sc_change()
            change.kind =
                switch each.kind {
                case .put: Int32(SC_CHANGE_PUT)
                case .deleted: Int32(SC_CHANGE_DELETED)
                case .expired: Int32(SC_CHANGE_EXPIRED)
                case .sessionEnded: Int32(SC_CHANGE_SESSION_ENDED)
                }
            if let new = each.new {
                change.entry = block.entry(new)
            } else {
                change.entry.key = block.text(each.key.text)
                change.entry.key_count = each.key.text.utf8.count
            }
            if let old = each.old { change.old = block.entry(old) }
            changes[index] = change
        }
        event.count = list.count
        event.changes = UnsafePointer(changes)
    }
}
