/// The bytes of a text in which each character stands for the byte of its number, so that a test can write any bytes.
func latin1(_ text: String) -> [UInt8] {
    text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
}
