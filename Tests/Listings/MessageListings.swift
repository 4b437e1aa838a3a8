internal import Coordination
internal import CoreAPI

func deliverPoll(_ encodedPoll: [UInt8], as callID: CallID, in context: CoreContext) async throws {
    var content = InboxMessage.Content(
        kind: InboxMessage.Kind("poll") ?? .other, sender: "sip:ann@example.org", recipient: "sip:bob@example.org",
        text: "Tea or coffee?")
    (content.conversation, content.contentType) = ("kitchen", "application/json")
    content.body = encodedPoll
    try await context.deliver(InboxMessage(id: MessageID(callID, sequence: "2") ?? MessageID(callID), content: content))
}

func list(_ inbox: Inbox, show: ([ListedMessage]) -> Void) async throws {
    var page = try await inbox.messages(limit: 50)
    while let next = page.next {
        show(page.messages)
        page = try await inbox.messages(after: next, limit: 50)
    }
    show(page.messages)
}
