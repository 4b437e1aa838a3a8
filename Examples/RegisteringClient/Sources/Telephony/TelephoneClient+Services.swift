internal import SIPMessages

/// The requests of the client to the server.
extension TelephoneClient {
    /// Registers, or refreshes the registration, and returns how long the server keeps it.
    public func register() async throws -> Duration {
        let response = try await ask(
            "REGISTER", headers: [("Contact", "<sip:\(user)@\(localHost ?? "")>"), ("Expires", "3600")])
        return .seconds(response["Expires"].flatMap { Int($0) } ?? 0)
    }

    /// Subscribes to an event, or refreshes the subscription; the server answers with the event's present state as well.
    public func subscribe(to event: String) async throws {
        try await ask("SUBSCRIBE", headers: [("Event", event), ("Expires", "3600")])
    }

    public func unsubscribe(from event: String) async throws {
        try await ask("SUBSCRIBE", headers: [("Event", event), ("Expires", "0")])
    }

    /// Tells others whether one is there.
    public func publish(_ presence: String) async throws {
        try await ask("PUBLISH", headers: [("Event", "presence"), ("Expires", "3600")], body: presence)
    }

    /// Begins a call, or changes the one there is: the direction in which media flows, as in a session description.
    public func call(media direction: String) async throws {
        try await ask("INVITE", headers: [("Content-Type", "application/sdp")], body: "a=\(direction)\r\n")
        try say("ACK")
    }

    public func hangUp() async throws {
        try await ask("BYE")
    }
}
