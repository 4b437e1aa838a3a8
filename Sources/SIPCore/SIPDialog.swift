#if SIP
    internal import CSIPStack
    internal import Coordination
    internal import CoreAPI

    /// An answered call as the bytes of a baton: the dialog and the stream. Its socket goes along as a descriptor.
    ///
    /// Source: contract C25, RFC 3261 (12).
    struct SIPDialog: Hashable, Sendable {
        /// The longest text, in bytes.
        static let maximumTextByteCount = 4_096

        /// The texts of `sip_dialog`: Call-ID, local and remote address, target, routes, and the address of the peer's stream.
        private var texts: [String]
        private var numbers: [UInt64]

        var callID: String { texts[0] }
        var isHeld: Bool { numbers[4] == 1 }
        var isHolding: Bool { numbers[5] == 1 }

        init(_ dialog: sip_dialog) {
            texts = [dialog.call_id, dialog.local, dialog.remote, dialog.target, dialog.routes, dialog.peer].map {
                SIPText.of($0)
            }
            numbers = [
                UInt64(dialog.local_cseq), UInt64(dialog.remote_cseq), UInt64(dialog.peer_port),
                UInt64(clamping: dialog.payload_type), dialog.is_held == 0 ? 0 : 1, dialog.is_holding == 0 ? 0 : 1,
                UInt64(dialog.session), UInt64(dialog.version), UInt64(dialog.described), UInt64(dialog.ssrc),
                UInt64(dialog.timestamp), UInt64(dialog.sequence), dialog.sent_at, dialog.sent, dialog.received,
                dialog.is_caller == 0 ? 0 : 1,
            ]
        }

        /// Makes a dialog with these texts, for tests.
        init(texts: [String]) {
            self.texts = texts
            numbers = [1, 2, 40_000, 0, 0, 0, 7, 1, 131, 7, 160, 1, 0, 10, 10, 0]
        }

        /// The maximum of each number, in their order.
        private static let limits: [UInt64] =
            [half, half, UInt64(UInt16.max), 127, 1, 1] + [half, half, half, half, half]
            + [UInt64(UInt16.max), .max, .max, .max, 1]
        private static let half = UInt64(UInt32.max)

        private init(from reader: inout ByteReader) throws(ByteCodingError) {
            texts = []
            for _ in 0..<6 {
                let text = try reader.text()
                // A control character would end a header.
                guard text.utf8.count <= Self.maximumTextByteCount, text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
                else { throw .malformed }
                texts.append(text)
            }
            numbers = []
            for limit in Self.limits {
                let number = try reader.integer()
                guard number <= limit else { throw .malformed }
                numbers.append(number)
            }
        }

        /// Returns the calls of a baton; nil for bytes that no core of this version has written.
        static func all(in bytes: [UInt8]) -> [SIPDialog]? {
            do throws(ByteCodingError) {
                var reader = ByteReader(bytes)
                let count = try reader.count()
                guard 1...Baton.maximumCallCount ~= count else { return nil }
                var dialogs: [SIPDialog] = []
                for _ in 0..<count { dialogs.append(try SIPDialog(from: &reader)) }
                try reader.finish()
                return dialogs
            } catch {
                return nil
            }
        }

        static func bytes(of dialogs: [SIPDialog]) -> [UInt8] {
            var writer = ByteWriter()
            writer.integer(dialogs.count)
            for dialog in dialogs {
                for text in dialog.texts { writer.text(text) }
                for number in dialog.numbers { writer.integer(number) }
            }
            return writer.bytes
        }

        /// Makes the call of a stack, which takes the descriptor. Returns its number; nil for an invalid dialog.
        func adopt(into stack: OpaquePointer?, _ descriptor: Int32) -> UInt64? {
            let texts = SIPTexts(texts)
            defer { texts.free() }
            var dialog = sip_dialog()
            dialog.call_id = texts[0]
            dialog.local = texts[1]
            dialog.remote = texts[2]
            dialog.target = texts[3]
            dialog.routes = texts[4]
            dialog.peer = texts[5]
            dialog.local_cseq = UInt32(clamping: numbers[0])
            dialog.remote_cseq = UInt32(clamping: numbers[1])
            dialog.peer_port = UInt16(clamping: numbers[2])
            dialog.payload_type = Int32(clamping: numbers[3])
            dialog.is_held = Int32(clamping: numbers[4])
            dialog.is_holding = Int32(clamping: numbers[5])
            dialog.session = UInt32(clamping: numbers[6])
            dialog.version = UInt32(clamping: numbers[7])
            dialog.described = UInt32(clamping: numbers[8])
            dialog.ssrc = UInt32(clamping: numbers[9])
            dialog.timestamp = UInt32(clamping: numbers[10])
            dialog.sequence = UInt16(clamping: numbers[11])
            dialog.sent_at = numbers[12]
            dialog.sent = numbers[13]
            dialog.received = numbers[14]
            dialog.is_caller = Int32(clamping: numbers[15])
            dialog.descriptor = descriptor
            let number = sip_call_adopt(stack, &dialog)
            return number == 0 ? nil : number
        }
    }
#endif
