/// Amounts of memory as people write them: a number with `KiB`, `MiB` or `GiB`; a bare number means bytes.
package enum ByteCountText {
    package static let expectation = "an amount such as 24MiB, 1MiB or more (a bare number means bytes), or “none”"

    /// The maximum value of a setting, so that a sum of a few values does not overflow 64 bits.
    package static let maximum: UInt64 = 1 << 60

    package static func parse(_ text: String) -> UInt64? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let count = UInt64(digits) else { return nil }
        let shift: UInt64
        switch text.dropFirst(digits.count) {
        case "": shift = 0
        case "KiB": shift = 10
        case "MiB": shift = 20
        case "GiB": shift = 30
        default: return nil
        }
        let (product, overflow) = count.multipliedReportingOverflow(by: 1 << shift)
        return overflow || product == 0 || product > maximum ? nil : product
    }
}
