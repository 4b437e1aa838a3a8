/// The rule that names of handlers and registrations keep.
enum KeepAliveName {
    static let maximumByteCount = 128

    static func check(_ name: String, of kind: String) throws(LifecycleError) {
        let bytes = name.utf8
        guard (1...maximumByteCount).contains(bytes.count), !bytes.contains(where: { $0 < 0x20 || $0 == 0x7f }) else {
            throw LifecycleError(
                .invalidName,
                "The name of a \(kind) has 1 to \(maximumByteCount) bytes and no control characters; this one has"
                    + " \(bytes.count).", at: String(name.prefix(32)))
        }
    }
}
