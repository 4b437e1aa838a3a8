internal import CoreAPI
internal import CoreAPITesting
internal import Platform
internal import TestSupport
internal import Testing
internal import ZMQBackend

extension ZMQTests {
    @Suite("Damage in the files behind a hub")
    struct DamagedFilesTests {
        @Test("S9: a client that joins is refused as corrupt, as over files, and those that are there go on")
        func damagedValue() async throws {
            let stage = try HubStage()
            let hub = try await stage.hub()
            let client = try await stage.client()
            let value = Array("<mark>".utf8) + [UInt8](repeating: 7, count: 9000)
            try await client.put("large", value)

            let file = try OpenFile(path: stage.files + "/journal-1", .write)
            let content = try file.read(count: file.status().byteCount, at: 0)
            let start = try #require(content.indices.first { content[$0...].starts(with: value.prefix(100)) })
            try file.write([8], at: start + 5000)

            try await expect(.corrupt, from: "a join that takes the damaged value") {
                _ = try await stage.client()
            }
            try await client.put("small", [1])
            #expect(try await client.get("small")?.value == [1])
            #expect(try await client.get("large")?.value == value)
            // The session of the refused client has ended.
            #expect(try await client.sessions().map(\.id) == [client.session.id])
            await client.close()
            await hub.stop()
        }
    }
}
