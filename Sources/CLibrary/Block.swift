internal import CSharedCore
internal import CoreAPI
internal import Platform

/// The memory of a result and of everything that the result points to. The caller frees the first address.
struct Block {
    private let start: UnsafeMutableRawPointer
    private let size: Int
    private var used = 0

    /// Allocates a block.
    ///
    /// - Parameter size: The sum of the bytes of all values that are placed. Arrays are placed first, for their alignment.
    init(size: Int) {
        self.size = size + 1
        start = .allocate(byteCount: size + 1, alignment: 16)
    }

    /// Places an array of uninitialized elements.
    mutating func array<Element>(of type: Element.Type, count: Int) -> UnsafeMutablePointer<Element> {
        start.advanced(by: take(count * MemoryLayout<Element>.stride)).bindMemory(to: type, capacity: count)
    }

    /// Places an array of uninitialized elements, and an array of pointers to them. Through the pointers, a program
    /// that was built with a shorter structure finds each element.
    mutating func pointed<Element>(
        _ type: Element.Type, count: Int
    ) -> (UnsafeMutablePointer<Element>, UnsafePointer<UnsafePointer<Element>?>) {
        let elements = array(of: type, count: count)
        let pointers = array(of: UnsafePointer<Element>?.self, count: count)
        for index in 0..<count { pointers[index] = UnsafePointer(elements + index) }
        return (elements, UnsafePointer(pointers))
    }

    /// Places UTF-8 text and a terminating NUL.
    mutating func text(_ text: String) -> UnsafePointer<CChar> {
        let count = text.utf8.count
        let place = start.advanced(by: take(count + 1))
        UnsafeMutableRawBufferPointer(start: place, count: count).copyBytes(from: text.utf8)
        place.storeBytes(of: 0, toByteOffset: count, as: UInt8.self)
        return UnsafePointer(place.bindMemory(to: CChar.self, capacity: count + 1))
    }

    /// Places an array of pointers to texts, and the texts. Other arrays are placed before it.
    mutating func texts(_ texts: [String]) -> UnsafePointer<UnsafePointer<CChar>?> {
        let pointers = array(of: UnsafePointer<CChar>?.self, count: texts.count)
        for (index, each) in texts.enumerated() { pointers[index] = text(each) }
        return UnsafePointer(pointers)
    }

    /// Places bytes.
    mutating func bytes(_ bytes: [UInt8]) -> UnsafePointer<UInt8> {
        let place = start.advanced(by: take(bytes.count))
        UnsafeMutableRawBufferPointer(start: place, count: bytes.count).copyBytes(from: bytes)
        return UnsafePointer(place.bindMemory(to: UInt8.self, capacity: bytes.count))
    }

    /// Places the key and the value of an entry, and returns the structure that points to them.
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
            result.lifetime = Int64(clamping: duration.wholeMilliseconds)
        }
        return result
    }

    private mutating func take(_ count: Int) -> Int {
        precondition(used + count <= size, "A block was measured as \(size) bytes, and \(used + count) are needed.")
        defer { used += count }
        return used
    }

    /// Frees the block that a caller's pointer points to, and sets the pointer to nil. Does nothing for nil.
    ///
    /// Call it only after a check of ``ForkedChild/isCurrent``: a generic function may need a lock of Swift's
    /// runtime, which nothing frees in a forked child.
    static func free<Value>(at place: UnsafeMutablePointer<UnsafePointer<Value>?>?) {
        guard let place else { return }
        free(place.pointee)
        place.pointee = nil
    }

    /// Frees the block that begins at an address. Does nothing for nil.
    static func free(_ start: UnsafeRawPointer?) {
        guard let start else { return }
        UnsafeMutableRawPointer(mutating: start).deallocate()
    }
}

extension Entry {
    /// The bytes of the key and the value in a block, without the structure.
    var blockByteCount: Int { key.text.utf8.count + 1 + value.count }
}

extension WatchEvent {
    /// The event as the structure of the header, in a block of its own.
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
