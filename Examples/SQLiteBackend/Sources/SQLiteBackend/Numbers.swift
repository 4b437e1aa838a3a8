internal import CoreAPI
internal import GRDB

/// SQLite's numbers are signed, those of the contract are not.
extension UInt64 {
    init(stored number: Int64) {
        self.init(bitPattern: number)
    }

    var stored: Int64 { Int64(bitPattern: self) }
}

extension BootID {
    var bytes: [UInt8] {
        [high, low].flatMap { word in withUnsafeBytes(of: word.bigEndian) { Array($0) } }
    }

    init(bytes: [UInt8]) {
        let words = [bytes.prefix(8), bytes.dropFirst(8)].map { $0.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
        self.init(high: words[0], low: words[1])
    }
}

extension Duration {
    /// The duration in nanoseconds, rounded up so that nothing ends early; one that is too long is the longest.
    var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflows) = whole.addingReportingOverflow((attoseconds + 999_999_999) / 1_000_000_000)
        return isTooLong || overflows ? .max : sum
    }
}
