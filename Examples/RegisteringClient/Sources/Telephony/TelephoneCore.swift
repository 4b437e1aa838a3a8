internal import Coordination
internal import CoreAPI

/// The core of the group: the client, with which one process of the application at a time may connect.
///
/// The connectivity machine tells the client when to connect and what to ask. The core tells it whether this process
/// may: it opens the client while it runs, and makes it quiet for a rest. The inbox keeps each message before the
/// client acknowledges it to the server.
struct TelephoneCore: Core {
    let client: TelephoneClient

    func start(in context: CoreContext) async throws {
        await client.open { text in
            let content = InboxMessage.Content.text(from: text.sender, to: "", text: text.body)
            return try await context.deliver(InboxMessage(id: text.id, content: content)) == .duplicate
        }
    }

    /// Nothing comes here: the client's connection has a thread that reads it.
    func iterate(in context: CoreContext) async throws {
        let (nothing, end) = AsyncStream.makeStream(of: Never.self)
        defer { end.finish() }
        for await _ in nothing {}
    }

    func stop() async {
        await client.close()
    }

    func rest(in context: CoreContext) async throws {
        await client.keepUnread(true)
    }

    func resume(in context: CoreContext, for wake: Wake) async throws {
        await client.keepUnread(false)
        // Another process needs this one, of which the machine does not know.
        if wake != .user { await client.tellNeed() }
    }
}
