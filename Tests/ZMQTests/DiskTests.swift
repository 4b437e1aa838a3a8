#if FAIL_POINTS
    internal import CoreAPI
    internal import CoreAPITesting
    internal import FileNotifyBackend
    internal import Platform
    internal import TestSupport
    internal import Testing
    internal import ZMQBackend

    extension ZMQTests {
        @Suite("A disk behind a hub")
        struct DiskTests {
            @Test(
                "S10: an answer through a hub waits for the disk as well: of a commit, and of a refusal that rests on it"
            )
            func failedSync() async throws {
                let stage = try HubStage()
                let hub = try await stage.hub(
                    files: FileGroupOptions(durability: .disk, historyByteCount: 1 << 20))
                let client = try await stage.client()
                #expect(client.capabilities.durability == .disk)
                func put(_ text: String) async -> SharedCoreError.Code? {
                    do throws(SharedCoreError) {
                        _ = try await client.put("key", Array(text.utf8), if: .absent("key"))
                        return nil
                    } catch {
                        return error.code
                    }
                }
                let armed = FailPoint.arm("fdatasync/\(stage.files)/journal-:fail*")
                defer { armed.disarm() }
                #expect(await put("first") == .outcomeUnknown)
                // The guard fails because of a write that the disk has not confirmed. To report the failure would be to
                // report that the write is stored.
                let second = await put("second")
                #expect(second == .unavailable || second == .outcomeUnknown)
                let revision = try #require(try await client.get("key")).revision
                await #expect(throws: SharedCoreError.self) { try await client.waitUntilDurable(through: revision) }
                armed.disarm()
                try await eventually("the group is written anew") { await put("third") == .guardFailed }
                try await client.waitUntilDurable(through: revision)
                #expect(try await client.text("key") == "first")
                await client.close()
                await hub.stop()
            }
        }
    }
#endif
