/// Which values a decoder leaves where they lie instead of keeping their bytes.
public struct ExternalValues: Sendable {
    /// Where the decoded bytes lie.
    let source: any ValueSource
    /// The place of the first decoded byte in the source.
    let offset: UInt64
    /// A value of more bytes is left there.
    let threshold: Int

    public init(source: any ValueSource, offset: UInt64, threshold: Int = 4 << 10) {
        self.source = source
        self.offset = offset
        self.threshold = threshold
    }
}
