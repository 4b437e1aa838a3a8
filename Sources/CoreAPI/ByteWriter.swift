/// Appends values to a byte array in the one form that ``ByteReader`` reads: integers as LEB128 varints or fixed
/// little-endian words, bytes and text with their count in front.
package struct ByteWriter: Sendable {
    /// The bytes written so far.
    package private(set) var bytes: [UInt8]

    package init(reserving count: Int = 0) {
        bytes = []
        bytes.reserveCapacity(count)
    }

    package mutating func byte(_ value: UInt8) {
        bytes.append(value)
    }

    package mutating func flag(_ value: Bool) {
        bytes.append(value ? 1 : 0)
    }

    package mutating func integer(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    package mutating func integer(_ value: Int) {
        integer(UInt64(value))
    }

    /// Returns the bytes that ``integer(_:)`` writes for a value.
    @inlinable
    package static func byteCount(of value: UInt64) -> Int {
        (UInt64.bitWidth - (value | 1).leadingZeroBitCount + 6) / 7
    }

    /// Returns the number of bytes that ``data(_:)`` and ``text(_:)`` write for `count` bytes.
    @inlinable
    package static func byteCount(ofCounted count: Int) -> Int {
        byteCount(of: UInt64(count)) + count
    }

    /// Appends a word of 8 bytes, little-endian.
    package mutating func word(_ value: UInt64) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// Appends a word of 4 bytes, little-endian.
    package mutating func halfWord(_ value: UInt32) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    package mutating func bootID(_ value: BootID) {
        word(value.high)
        word(value.low)
    }

    package mutating func identity(_ process: ProcessIdentity) {
        bootID(process.bootID)
        integer(UInt64(UInt32(bitPattern: process.pid)))
        integer(process.startTime)
    }

    package mutating func data(_ value: [UInt8]) {
        integer(value.count)
        bytes.append(contentsOf: value)
    }

    package mutating func text(_ value: String) {
        integer(value.utf8.count)
        bytes.append(contentsOf: value.utf8)
    }

    /// Appends a value that may be missing: a flag, then the value if there is one.
    package mutating func optional<Value>(_ value: Value?, _ write: (inout ByteWriter, Value) -> Void) {
        flag(value != nil)
        if let value { write(&self, value) }
    }

    /// Appends a count, then the values.
    package mutating func array<Values: Collection>(
        _ values: Values, _ write: (inout ByteWriter, Values.Element) -> Void
    ) {
        integer(values.count)
        for value in values { write(&self, value) }
    }
}
