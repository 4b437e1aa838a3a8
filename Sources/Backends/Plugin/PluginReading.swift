internal import CBackendPlugin
internal import CoreAPI
internal import LogBackend

/// One call of a plugin's `read`: it takes the snapshot and the records as the plugin passes them.
final class PluginReading {
    /// The maximum size of a record or of a part of a snapshot, in bytes.
    static let maximumByteCount = 64 << 20

    private let position: UInt64
    private let limit: Int
    private var start: UInt64?
    private(set) var end: UInt64 = 0
    private var parts: [[UInt8]] = []
    private var records: [[UInt8]] = []
    /// An error found in the slice; nil if there is none.
    private var problem: String?

    init(from position: UInt64, limit: Int) {
        self.position = position
        self.limit = limit
    }

    /// Calls a function with a structure that passes the plugin's results to this object.
    func take(_ body: (UnsafeMutablePointer<sb_slice>) -> Int32) -> Int32 {
        var slice = sb_slice(
            size: MemoryLayout<sb_slice>.size, host: Unmanaged.passUnretained(self).toOpaque(),
            begin: { slice, snapshot, end in PluginReading.of(slice)?.begin(at: snapshot, end: end) },
            part: { slice, bytes, count in PluginReading.of(slice)?.add(bytes, count, to: \.parts) },
            record: { slice, bytes, count in PluginReading.of(slice)?.add(bytes, count, to: \.records) })
        return withExtendedLifetime(self) { body(&slice) }
    }

    /// - Throws: `corrupt` for an invalid slice.
    func result(at path: String) throws(SharedCoreError) -> LogSlice {
        let start = start ?? 0
        var problem = problem
        if self.start == nil { problem = problem ?? "does not say where the log begins" }
        if end < max(position, start) {
            problem = problem ?? "ends at \(end), before position \(max(position, start)): it has lost records"
        }
        if records.isEmpty, limit > 0, end > max(position, start) { problem = problem ?? "has no record" }
        if UInt64(records.count) > end - min(end, max(position, start)) { problem = problem ?? "goes beyond its end" }
        if !parts.isEmpty, start <= position { problem = problem ?? "has a snapshot that is not needed" }
        if let problem {
            throw SharedCoreError(.corrupt, "What the plugin's function “read” returns \(problem).", at: path)
        }
        return LogSlice(start: start, snapshot: start > position ? parts : nil, records: records)
    }

    private static func of(_ slice: UnsafeMutablePointer<sb_slice>?) -> PluginReading? {
        slice?.pointee.host.map { Unmanaged<PluginReading>.fromOpaque($0).takeUnretainedValue() }
    }

    private func begin(at snapshot: UInt64, end: UInt64) {
        if start != nil { problem = problem ?? "begins twice" }
        (start, self.end) = (snapshot, end)
    }

    private func add(
        _ bytes: UnsafePointer<UInt8>?, _ count: Int, to list: ReferenceWritableKeyPath<PluginReading, [[UInt8]]>
    ) {
        guard problem == nil else { return }
        guard start != nil, records.isEmpty || list == \.records else {
            return problem = "has its parts in another order"
        }
        guard bytes != nil || count == 0, (0...Self.maximumByteCount).contains(count) else {
            return problem = "has a piece of \(count) bytes"
        }
        guard records.count < limit || list == \.parts else { return problem = "has more than \(limit) records" }
        self[keyPath: list].append(Array(UnsafeBufferPointer(start: bytes, count: count)))
    }
}
