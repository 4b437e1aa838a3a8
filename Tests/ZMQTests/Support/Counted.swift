/// A number as the value of a key.
enum Counted {
    static func bytes(_ number: UInt64) -> [UInt8] {
        Array(String(number).utf8)
    }

    static func value(_ bytes: [UInt8]) -> UInt64 {
        UInt64(String(decoding: bytes, as: UTF8.self)) ?? 0
    }
}
