internal import Glibc

/// The text form of internet addresses.
package enum AddressText {
    /// Returns the bytes of an address in network order; nil if the text is no address of that length.
    ///
    /// - Parameter byteCount: 4 or 16.
    package static func bytes(of text: String, byteCount: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: byteCount)
        return inet_pton(family(byteCount), text, &bytes) == 1 ? bytes : nil
    }

    /// Returns the text of the 4 or 16 bytes of an address.
    package static func text(of bytes: [UInt8]) -> String? {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(family(bytes.count), bytes, &text, socklen_t(text.count)) != nil else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private static func family(_ byteCount: Int) -> Int32 { byteCount == 4 ? AF_INET : AF_INET6 }
}
