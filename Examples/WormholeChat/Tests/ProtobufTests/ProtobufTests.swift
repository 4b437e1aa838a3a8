internal import CoreAPI
internal import InMemoryBackend
internal import SwiftProtobuf
internal import Testing
internal import Wormholes

/// A codec of an application's own: the one that the page about mailboxes shows.
@Suite("Messages as protocol buffers")
struct ProtobufTests {
    private let id = MailboxID<Google_Protobuf_Duration>("interval", codec: .protobuf)

    @Test("What is sent as a protocol buffer is read as one")
    func sendAndRead() async throws {
        let wormhole = try await Wormhole(MemorySpace().open("chat"))
        try await wormhole.send(Google_Protobuf_Duration(seconds: 600, nanos: 7), to: id)
        let found = try #require(try await wormhole.read(id))
        #expect(found.value.seconds == 600 && found.value.nanos == 7)
    }

    @Test("Bytes that are no protocol buffer, and messages of another codec, are said to be undecodable")
    func undecodable() async throws {
        let group = try await MemorySpace().open("chat")
        let wormhole = Wormhole(group)
        // A field of wire type 7, which there is not.
        try await wormhole.send(
            [0x0f, 0xff],
            to: MailboxID<[UInt8]>(
                "interval",
                codec: MessageCodec(name: "protobuf") {
                    $0
                } decode: {
                    $0
                }))
        let first = await #expect(throws: WormholeError.self) { try await wormhole.read(id) }
        #expect(first?.decodingFailure != nil)
        try await wormhole.send([600], to: MailboxID<[Int]>("interval", codec: .json))
        let second = await #expect(throws: WormholeError.self) { try await wormhole.read(id) }
        #expect(second?.decodingFailure != nil)
    }
}
