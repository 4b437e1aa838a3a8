/// Which values a decoder leaves where they lie instead of keeping their bytes.
public struct ExternalValues: Sendable {
    /// A value of more bytes than this is left where it lies unless something else is said.
    public static let defaultThreshold = 4 << 10

    /// Where the decoded bytes lie.
    let source: any ValueSource
    /// The place of the first decoded byte in the source.
    let offset: UInt64
    /// A value of more bytes is left there.
    let threshold: Int

    public init(source: any ValueSource, offset: UInt64, threshold: Int = ExternalValues.defaultThreshold) {
        self.source = source
        self.offset = offset
        self.threshold = threshold
    }
}
