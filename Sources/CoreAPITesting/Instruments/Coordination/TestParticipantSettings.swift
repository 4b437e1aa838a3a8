package import Coordination

/// The options of a test process, and the further actions of its core, as one word that can be sent to another process.
///
/// `handover=500,answer=500,fence,hold-stop=gate`: milliseconds, and names of gates of the ``SharedServer``.
package struct TestParticipantSettings: Hashable, Sendable {
    /// Time limits that no test reaches unless it is about them, and a core that lingers briefly.
    package var options = TestParticipantSettings.patient
    /// The gates at which the core waits: before its start returns, before it fetches, between storing and
    /// acknowledging a message, before its stop returns, before it applies a baton.
    var gates: [Gate: String] = [:]
    /// A critical section that the core enters after its start, and leaves at the gate `section`.
    var section: Duration?
    /// True if the core cannot start.
    var fails = false

    enum Gate: String, CaseIterable {
        case start, fetch, acknowledge, stop, apply
    }

    /// Reads the settings from one word: values as `name=value` and names alone, with commas between them.
    ///
    /// - Throws: ``PeerRefusal`` for an unknown word.
    package init(_ text: String) throws(PeerRefusal) {
        for word in text.split(separator: ",") {
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            let value = parts.count > 1 ? parts[1] : ""
            let time = Duration.milliseconds(Int(value) ?? 0)
            switch parts[0] {
            case "handover": options.handoverTimeout = time
            case "maximum": options.handoverMaximumTimeout = time
            case "answer": options.answerBound = time
            case "wake": options.wakeBound = time
            case "look": options.lookInterval = time
            case "budget": options.executorBudget = time
            case "linger": options.coreLinger = time
            case "bound": options.stopTimeout = time
            case "entries": options.timelineCapacity = Int(value) ?? 0
            case "takes": options.takesBatons = [ServedCore.batonKind]
            case "baton": options.batonLifetime = time
            case "fence": options.onHandoverTimeout = .fence
            case "section": section = time
            case "fails": fails = true
            default:
                guard parts[0].hasPrefix("hold-"), let gate = Gate(rawValue: String(parts[0].dropFirst(5))) else {
                    throw PeerRefusal("no setting: \(word)")
                }
                gates[gate] = value
            }
        }
    }

    private static var patient: CoordinationOptions {
        var options = CoordinationOptions(
            handoverTimeout: .seconds(60), handoverMaximumTimeout: .seconds(120), executorBudget: .seconds(300),
            coreLinger: .milliseconds(50), stopTimeout: .seconds(60))
        options.answerBound = .seconds(60)
        options.wakeBound = .seconds(60)
        options.batonLifetime = .seconds(60)
        return options
    }
}
