internal import CoreAPI
internal import Wormholes

struct Position: Codable, Sendable {
    var latitude: Double
    var longitude: Double
}

extension MailboxID where Message == Position {
    static let position = MailboxID("car/position")
}

struct Settings: Codable, Sendable {
    var isLoud = false
}

extension MailboxID where Message == Settings {
    static let settings = MailboxID("settings", codec: .propertyList)
}

func passPositions(in group: any SharedGroup, show: (Position) -> Void) async throws {
    let wormhole = Wormhole(group)
    try await wormhole.send(Position(latitude: 52.5, longitude: 13.4), to: .position)
    let last = try await wormhole.read(.position)?.value

    for try await event in try await wormhole.listen(to: .position, replay: .latest) {
        if case .message(let message) = event { show(message.value) }
    }
    _ = last
}
