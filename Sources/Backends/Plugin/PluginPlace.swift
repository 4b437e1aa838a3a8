internal import CBackendPlugin
package import CoreAPI

/// The arguments with which a plugin opens the log of a group.
struct PluginPlace: Sendable {
    let group: String
    let stateDirectory: String
    let durability: Durability?
    let readsOnly: Bool
    /// The values of the plugin's settings, in their order.
    let values: [String?]
    /// The values of secret settings, which no error message may contain.
    let secrets: [String]
    let timeout: Duration

    /// Calls the plugin's `open`. Blocks.
    ///
    /// - Returns: The log, as a word, and its promises.
    func open(_ table: PluginTable) throws(SharedCoreError) -> (log: UInt, promises: PluginPromises) {
        var log: OpaquePointer?
        var promises = table.promises.raw
        _ = try table.call("open") { error in
            group.withCString { group in
                stateDirectory.withCString { stateDirectory in
                    values.withCStrings { values in
                        var place = sb_place(
                            size: MemoryLayout<sb_place>.size, group: group, state_directory: stateDirectory,
                            values: values,
                            largest_record: UInt64(PluginReading.maximumByteCount),
                            open_timeout: max(1, timeout.inMilliseconds), durability: Int32(wanted),
                            reads_only: readsOnly ? 1 : 0)
                        return table.functions.open(&place, &log, &promises, error)
                    }
                }
            }
        }
        guard let log else {
            throw SharedCoreError(.system, "The plugin's function “open” returned no log.", at: table.path)
        }
        guard let promises = PluginPromises(promises) else {
            table.functions.close(log)
            throw SharedCoreError(.system, "The plugin's function “open” promises no durability.", at: table.path)
        }
        return (UInt(bitPattern: log), promises)
    }

    private var wanted: Int {
        switch durability {
        case nil: SB_DURABILITY_UNSPECIFIED
        case .memory: SB_DURABILITY_MEMORY
        case .process: SB_DURABILITY_PROCESS
        case .disk: SB_DURABILITY_DISK
        }
    }
}

extension [String?] {
    /// Calls a function with the texts as C has them.
    fileprivate func withCStrings<Result>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result
    ) -> Result {
        let texts = map { text -> UnsafeMutableBufferPointer<CChar>? in
            guard let text else { return nil }
            let bytes = text.utf8CString
            let buffer = UnsafeMutableBufferPointer<CChar>.allocate(capacity: bytes.count)
            _ = buffer.initialize(from: bytes)
            return buffer
        }
        defer { for case let text? in texts { text.deallocate() } }
        return texts.map { $0?.baseAddress.map { UnsafePointer($0) } }.withUnsafeBufferPointer { body($0.baseAddress) }
    }
}

extension SharedCoreError {
    /// Returns the same error with `(secret)` in place of each of some values.
    package func hiding(_ secrets: [String]) -> SharedCoreError {
        // A longer one may contain a shorter one.
        let longestFirst = secrets.filter { !$0.isEmpty }.sorted { $0.utf8.count > $1.utf8.count }
        func hide(_ text: String) -> String {
            longestFirst.reduce(text) { text, secret in
                let text = text.replacing(secret, with: "(secret)")
                // The text may have been cut within the secret, so also hide a beginning of the secret at the end of
                // the text.
                let cut = (4..<max(4, secret.utf8.count)).last { count in
                    text.utf8.suffix(count).elementsEqual(secret.utf8.prefix(count))
                }
                return cut.map { String(decoding: text.utf8.dropLast($0), as: UTF8.self) + "(secret)" } ?? text
            }
        }
        return SharedCoreError(
            code, hide(message), at: hide(location), cause: cause.map(hide), guardFailure: guardFailure)
    }
}
