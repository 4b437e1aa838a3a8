/// Reads the bytes of a ``ByteWriter``. The bytes may be damaged or hostile: a count larger than the number of bytes
/// left throws before any memory is allocated for it.
package struct ByteReader: Sendable {
    private let bytes: ArraySlice<UInt8>
    /// The index of the next byte to read.
    package private(set) var position: Int

    package init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        self.position = bytes.startIndex
    }

    package init(_ bytes: [UInt8]) {
        self.init(bytes[...])
    }

    /// The number of bytes left.
    package var remaining: Int { bytes.endIndex - position }

    package mutating func byte() throws(ByteCodingError) -> UInt8 {
        guard position < bytes.endIndex else { throw .truncated }
        defer { position += 1 }
        return bytes[position]
    }

    package mutating func flag() throws(ByteCodingError) -> Bool {
        switch try byte() {
        case 0: false
        case 1: true
        default: throw .malformed
        }
    }

    package mutating func integer() throws(ByteCodingError) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let next = try byte()
            let part = UInt64(next & 0x7f)
            guard shift < 63 || (shift == 63 && part <= 1) else { throw .malformed }
            value |= part << shift
            if next < 0x80 {
                guard part != 0 || shift == 0 else { throw .malformed }
                return value
            }
            shift += 7
        }
    }

    /// Reads a count of items that each take at least one byte, and refuses a count larger than the number of bytes
    /// left.
    package mutating func count() throws(ByteCodingError) -> Int {
        let value = try integer()
        guard value <= UInt64(remaining) else { throw .truncated }
        return Int(value)
    }

    package mutating func word() throws(ByteCodingError) -> UInt64 {
        guard remaining >= 8 else { throw .truncated }
        var value: UInt64 = 0
        for offset in 0..<8 { value |= UInt64(bytes[position + offset]) << UInt64(offset * 8) }
        position += 8
        return value
    }

    package mutating func halfWord() throws(ByteCodingError) -> UInt32 {
        guard remaining >= 4 else { throw .truncated }
        var value: UInt32 = 0
        for offset in 0..<4 { value |= UInt32(bytes[position + offset]) << UInt32(offset * 8) }
        position += 4
        return value
    }

    package mutating func bootID() throws(ByteCodingError) -> BootID {
        BootID(high: try word(), low: try word())
    }

    package mutating func identity() throws(ByteCodingError) -> ProcessIdentity {
        let bootID = try bootID()
        guard let pid = Int32(exactly: try integer()) else { throw .malformed }
        return ProcessIdentity(bootID: bootID, pid: pid, startTime: try integer())
    }

    package mutating func data() throws(ByteCodingError) -> [UInt8] {
        Array(try slice())
    }

    /// Returns the bytes of a counted value without a copy.
    package mutating func slice() throws(ByteCodingError) -> ArraySlice<UInt8> {
        let count = try count()
        defer { position += count }
        return bytes[position..<position + count]
    }

    package mutating func text() throws(ByteCodingError) -> String {
        let slice = try slice()
        guard let text = String(validating: slice, as: UTF8.self) else { throw .malformed }
        return text
    }

    package mutating func optional<Value>(
        _ read: (inout ByteReader) throws(ByteCodingError) -> Value
    ) throws(ByteCodingError) -> Value? {
        try flag() ? try read(&self) : nil
    }

    package mutating func array<Value>(
        _ read: (inout ByteReader) throws(ByteCodingError) -> Value
    ) throws(ByteCodingError) -> [Value] {
        let count = try count()
        var values: [Value] = []
        for _ in 0..<count { values.append(try read(&self)) }
        return values
    }

    /// Skips all bytes that are left.
    package mutating func skipRest() { position = bytes.endIndex }

    /// Refuses bytes after the end of the value.
    package func finish() throws(ByteCodingError) {
        guard remaining == 0 else { throw .malformed }
    }
}

/// The reason why bytes could not be read.
package enum ByteCodingError: Error, Hashable, Sendable {
    /// The bytes end before the announced length.
    case truncated
    /// The bytes were not written by a ``ByteWriter``.
    case malformed
}
