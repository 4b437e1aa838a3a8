/// Numbers whose order as text is their order as numbers.
package enum FixedWidth {
    /// 16 hexadecimal digits.
    package static func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
