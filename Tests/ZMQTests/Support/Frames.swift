@testable import ZMQBackend

extension OutgoingFrame {
    /// The bytes as they are sent.
    var bytes: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
            write(to: UnsafeMutableRawBufferPointer(buffer))
            count = byteCount
        }
    }
}

extension Answer.Records {
    func all() throws -> [[UInt8]] {
        var all: [[UInt8]] = []
        try forEach { all.append($0) }
        return all
    }
}
