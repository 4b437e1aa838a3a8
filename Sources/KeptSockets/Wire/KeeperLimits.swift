/// What a keeper takes.
package enum KeeperLimits {
    /// The bytes of a message.
    package static let messageByteCount = 32 << 10
    /// The sockets that are kept.
    package static let socketCount = 64
    /// The connections, that of Main among them.
    package static let visitorCount = 32

    /// Whether a socket may have the name: 1 to 64 letters, digits and `.`, `_`, `-`, `:`.
    package static func isName(_ name: some StringProtocol) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"),
                    UInt8(ascii: ":"):
                    true
                default: false
                }
            }
    }
}
