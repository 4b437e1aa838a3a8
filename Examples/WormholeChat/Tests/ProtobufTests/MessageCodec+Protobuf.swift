internal import SwiftProtobuf
internal import Wormholes

/// Protocol buffers, with the messages that SwiftProtobuf generates.
extension MessageCodec where Message: SwiftProtobuf.Message & Sendable {
    static var protobuf: Self {
        MessageCodec(name: "protobuf") { message in
            try message.serializedBytes()
        } decode: { bytes in
            try Message(serializedBytes: bytes)
        }
    }
}
