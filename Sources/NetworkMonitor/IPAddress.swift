internal import Platform

/// An address of the internet protocol, of version 4 or 6.
public struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    /// The protocol's version.
    public enum Family: Hashable, Sendable, Comparable {
        case version4
        case version6

        /// The bytes of an address.
        var length: Int { self == .version4 ? 4 : 16 }
    }

    public let family: Family
    /// 4 or 16 bytes, in the order of the network.
    public let bytes: [UInt8]

    /// Makes an address from its bytes in network order.
    ///
    /// - Returns: nil unless the number of bytes is that of the family.
    public init?(_ family: Family, bytes: some Sequence<UInt8>) {
        self.family = family
        self.bytes = Array(bytes)
        guard self.bytes.count == family.length else { return nil }
    }

    /// Parses a text such as `192.0.2.7` or `2001:db8::7`.
    ///
    /// - Returns: nil if it is not an address.
    public init?(_ text: String) {
        for family in [Family.version4, .version6] {
            if let bytes = AddressText.bytes(of: text, byteCount: family.length) {
                self.init(family, bytes: bytes)
                return
            }
        }
        return nil
    }

    public var description: String {
        AddressText.text(of: bytes) ?? "\(bytes)"
    }
}
