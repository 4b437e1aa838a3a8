/// Amounts of memory as people write them: a number with `KiB`, `MiB` or `GiB`; a bare number means bytes.
enum ByteCountText {
    static let expectation = "an amount such as 24MiB (a bare number means bytes), or “none”"

    static func parse(_ text: String) -> UInt64? {
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
        // No sum of a few leaves 64 bits.
        return overflow || product == 0 || product > 1 << 60 ? nil : product
    }
}
