internal import NetworkMonitor

/// Writes messages as the kernel does.
struct KernelMessage {
    var type: UInt16
    var flags: UInt16 = 0
    var sequence: UInt32 = 0
    var body: [UInt8] = []

    /// The message with its header, up to the place where the next one begins.
    var bytes: [UInt8] {
        Self.padded(
            Self.word(UInt32(16 + body.count)) + Self.word(type) + Self.word(flags) + Self.word(sequence)
                + Self.word(UInt32(0)) + body)
    }

    static func link(
        _ index: UInt32, _ name: String, flags: UInt32 = 0x1_0043, family: UInt8 = 0, type: UInt16 = 16
    ) -> KernelMessage {
        KernelMessage(
            type: type,
            body: [family, 0, 1, 0] + word(index) + word(flags) + word(UInt32(0)) + attribute(3, Array(name.utf8) + [0])
        )
    }

    static func address(
        _ link: UInt32, _ address: String, flags: UInt8 = 0, scope: UInt8 = 0, attributes: [UInt8] = [],
        type: UInt16 = 20
    ) -> KernelMessage {
        let address = IPAddress(address)
        return KernelMessage(
            type: type,
            body: [address?.family == .version4 ? 2 : 10, 24, flags, scope] + word(link)
                + attribute(1, address?.bytes ?? []) + attributes)
    }

    static func defaultRoute(
        _ link: UInt32?, family: UInt8 = 2, length: UInt8 = 0, table: UInt8 = 254, kind: UInt8 = 1, flags: UInt32 = 0,
        attributes: [UInt8] = [], type: UInt16 = 24
    ) -> KernelMessage {
        KernelMessage(
            type: type,
            body: [family, length, 0, 0, table, 3, 0, kind] + word(flags)
                + (link.map { attribute(4, word($0)) } ?? []) + attributes)
    }

    static func attribute(_ kind: UInt16, _ content: [UInt8]) -> [UInt8] {
        padded(word(UInt16(4 + content.count)) + word(kind) + content)
    }

    static func word(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number) { Array($0) }
    }

    private static func padded(_ bytes: [UInt8]) -> [UInt8] {
        bytes + [UInt8](repeating: 0, count: -bytes.count & 3)
    }
}
