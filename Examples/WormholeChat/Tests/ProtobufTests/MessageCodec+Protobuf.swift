internal import SwiftProtobuf
internal import Wormholes

extension MessageCodec where Message: SwiftProtobuf.Message & Sendable {
    /// Protocol buffers, with the messages that SwiftProtobuf generates.
    static var protobuf: Self {
        MessageCodec(name: "protobuf") { message in
            try message.serializedBytes()
        } decode: { bytes in
            try Message(serializedBytes: bytes)
        }
    }
}
