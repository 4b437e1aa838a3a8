internal import CBackendPlugin
internal import CoreAPI
internal import LogBackend

/// One call of a plugin's `read`: it takes the snapshot and the records as the plugin passes them.
final class PluginReading {
    /// The maximum size of a record, in bytes.
    static let maximumByteCount = 64 << 20

    private let position: UInt64
    private let limit: Int
    private let knownEnd: UInt64
    private var start: UInt64?
    private(set) var end: UInt64 = 0
    private var snapshot: [[UInt8]]?
    private var records: [[UInt8]] = []
    /// An error found in the slice; nil if there is none.
    private var problem: String?

    /// Makes a reading that has received nothing yet.
    ///
    /// - Parameter knownEnd: The largest end of the log that an earlier call has shown.
    init(from position: UInt64, limit: Int, knownEnd: UInt64 = 0) {
        self.position = position
        self.limit = limit
        self.knownEnd = knownEnd
    }

    /// Calls a function with a structure that passes the plugin's results to this object.
    func take(_ body: (UnsafeMutablePointer<sb_slice>) -> Int32) -> Int32 {
        var slice = sb_slice(
            size: MemoryLayout<sb_slice>.size, host: Unmanaged.passUnretained(self).toOpaque(),
            begin: { slice, snapshot, end in PluginReading.of(slice)?.begin(at: snapshot, end: end) },
            snapshot: { slice, bytes, count in PluginReading.of(slice)?.setSnapshot(bytes, count) },
            record: { slice, bytes, count in PluginReading.of(slice)?.addRecord(bytes, count) })
        return withExtendedLifetime(self) { body(&slice) }
    }

    /// Returns the slice that the plugin has delivered.
    ///
    /// - Throws: `corrupt` for an invalid slice.
    func result(at path: String) throws(SharedCoreError) -> LogSlice {
        let start = start ?? 0
        var problem = problem
        if self.start == nil { problem = problem ?? "does not say where the log begins" }
        let least = max(position, start, knownEnd)
        if end < least { problem = problem ?? "ends at \(end), before position \(least): it has lost records" }
        if records.isEmpty, limit > 0, end > max(position, start) { problem = problem ?? "has no record" }
        if UInt64(records.count) > end - min(end, max(position, start)) { problem = problem ?? "goes beyond its end" }
        if snapshot != nil, start <= position { problem = problem ?? "has a snapshot that is not needed" }
        if let problem {
            throw SharedCoreError(.corrupt, "What the plugin's function “read” returns \(problem).", at: path)
        }
        return LogSlice(start: start, snapshot: start > position ? snapshot ?? [] : nil, records: records)
    }

    private static func of(_ slice: UnsafeMutablePointer<sb_slice>?) -> PluginReading? {
        slice?.pointee.host.map { Unmanaged<PluginReading>.fromOpaque($0).takeUnretainedValue() }
    }

    private func begin(at snapshot: UInt64, end: UInt64) {
        if start != nil { problem = problem ?? "begins twice" }
        (start, self.end) = (snapshot, end)
    }

    private func setSnapshot(_ bytes: UnsafePointer<UInt8>?, _ count: Int) {
        guard problem == nil else { return }
        guard start != nil, snapshot == nil, records.isEmpty else {
            return problem = "has its snapshot in another order"
        }
        guard bytes != nil || count == 0, count >= 0 else { return problem = "has a snapshot of \(count) bytes" }
        snapshot = PluginSnapshot.parts(of: UnsafeRawBufferPointer(start: bytes, count: count))
        if snapshot == nil { problem = "has a damaged snapshot" }
    }

    private func addRecord(_ bytes: UnsafePointer<UInt8>?, _ count: Int) {
        guard problem == nil else { return }
        guard start != nil else { return problem = "has a record before its beginning" }
        guard bytes != nil || count == 0, (0...Self.maximumByteCount).contains(count) else {
            return problem = "has a record of \(count) bytes"
        }
        guard records.count < limit else { return problem = "has more than \(limit) records" }
        records.append(Array(UnsafeBufferPointer(start: bytes, count: count)))
    }
}

/// The parts of a snapshot as the one piece of bytes that a plugin keeps: each behind its length, a little-endian number
/// of 8 bytes.
enum PluginSnapshot {
    private static let lengthByteCount = MemoryLayout<UInt64>.size

    static func bytes(of parts: [[UInt8]]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(parts.reduce(0) { $0 + lengthByteCount + $1.count })
        for part in parts {
            withUnsafeBytes(of: UInt64(part.count).littleEndian) { bytes += $0 }
            bytes += part
        }
        return bytes
    }

    /// Returns nil for bytes that are not those of parts. The bytes are untrusted.
    static func parts(of bytes: UnsafeRawBufferPointer) -> [[UInt8]]? {
        var parts: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            guard rest.count >= lengthByteCount else { return nil }
            let length = UInt64(
                littleEndian: UnsafeRawBufferPointer(rebasing: rest).loadUnaligned(as: UInt64.self))
            rest = rest.dropFirst(lengthByteCount)
            guard length <= UInt64(rest.count) else { return nil }
            parts.append(Array(rest.prefix(Int(length))))
            rest = rest.dropFirst(Int(length))
        }
        return parts
    }
}
