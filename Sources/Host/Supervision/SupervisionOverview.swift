internal import CoreAPI
internal import KeptSockets
internal import Platform
internal import ProgramOutput
internal import SharedCoreConfiguration

/// The supervision of Main and its kept sockets, as `status` shows them.
struct SupervisionOverview: Sendable {
    private let status: KeeperStatus?

    /// Asks the keeper of a group's runtime directory, if there is one.
    init(at directory: String) async {
        let client = KeeperClient(place: KeeperPlace(directory: directory))
        status = await SerialThread(name: "keeper-status").run { () -> KeeperStatus? in client.status() }
    }

    init(_ status: KeeperStatus?) {
        self.status = status
    }

    /// `keeper state main presence calls failures starts restartInMs budgetLeftMs lastEnd keptSockets[]`; null if
    /// there is no keeper.
    var json: JSONValue { status == nil ? .null : .object(object) }

    /// The same; without fields where there is no keeper.
    var object: JSONObject {
        guard let status else { return [:] }
        return [
            "keeper": .integer(Int64(status.keeper)), "state": .text(status.state),
            "main": status.main.map { .integer(Int64($0)) } ?? .null, "presence": .optional(status.presence),
            "calls": .integer(Int64(status.calls)), "failures": .integer(Int64(status.failures)),
            "starts": .integer(Int64(status.starts)),
            "restartInMs": status.restartIn.map { .natural($0.wholeMilliseconds) } ?? .null,
            "budgetLeftMs": status.budgetLeft.map { .natural($0.wholeMilliseconds) } ?? .null,
            "lastEnd": .optional(status.lastEnd), "keptSockets": .array(status.kept.map { .text($0) }),
        ]
    }

    /// The same for people.
    var lines: [String] {
        guard let status else { return [] }
        var words = ["keeper \(status.keeper)", status.state]
        if let main = status.main { words.append("pid \(main)") }
        if let presence = status.presence { words.append(presence == "silent" ? "reports nothing" : presence) }
        if status.calls > 0 { words.append(status.calls.counting("call")) }
        if let left = status.budgetLeft { words.append("budget \(DurationText.write(left))") }
        if let restart = status.restartIn { words.append("starts in \(DurationText.write(restart))") }
        if status.failures > 0 { words.append(status.failures.counting("failure") + " in a row") }
        if let end = status.lastEnd { words.append("last end: \(end)") }
        return ["main      " + words.joined(separator: ", ")]
            + (status.kept.isEmpty ? [] : ["kept      " + status.kept.joined(separator: ", ")])
    }
}
