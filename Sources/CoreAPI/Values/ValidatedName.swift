/// The one check that keys and notification names share.
enum ValidatedName {
    static func contiguous(_ text: String, of kind: String) throws(SharedCoreError) -> String {
        var contiguous = text
        contiguous.makeContiguousUTF8()
        let count = contiguous.utf8.count
        guard count > 0 else {
            throw SharedCoreError(.invalidArgument, "A \(kind) cannot be empty.", at: "\(kind)")
        }
        guard count <= Key.maximumByteCount else {
            throw SharedCoreError(
                .invalidArgument,
                "A \(kind) has at most \(Key.maximumByteCount) bytes of UTF-8, this one has \(count).",
                at: "\(kind) \(text.prefix(32))…")
        }
        return contiguous
    }
}
