public import CoreAPI

/// Why a participant that wants the core does not run it yet: what ``MainParticipant/start(takingOver:reporting:)`` and
/// ``ExecutorParticipant/message(forCallID:deadline:insisting:reporting:)`` tell while they wait.
///
/// Source: contract C3, C6, C8, C14.
public enum OwnershipWait: Hashable, Sendable {
    /// The owner was asked to hand over, and has this long from the request.
    case handover(by: GroupOwner, within: Duration)
    /// The owner was asked and finishes a critical section first; this long from the request is granted to it.
    case criticalSection(of: GroupOwner, within: Duration)
    /// The owner did not let go in time and is killed; its session's end is awaited.
    case end(ofKilled: GroupOwner)
    /// The owner was challenged and has not answered yet.
    case answer(of: GroupOwner)
    /// Somebody else owns, whose core serves this participant too, or whose turn it is.
    case owner(GroupOwner)
    /// A Main of this name has asked for the core and comes first.
    case request(ofMain: String)
    /// The last core here had a problem, and the next one starts in a while.
    case rest
    /// This participant owns, and its core starts.
    case coreStart
    /// The group's store refuses what has to be written.
    case store(SharedCoreError)

    /// One sentence for people.
    public func describe() -> String {
        switch self {
        case .handover(let owner, let limit):
            "\(owner.title) was asked to hand over and has \(limit) from the request."
        case .criticalSection(let owner, let limit):
            "\(owner.title) finishes a critical section; it has \(limit) from the request."
        case .end(let owner): "\(owner.title) did not hand over in time and is killed."
        case .answer(let owner): "\(owner.title) owns the core and has not answered yet."
        case .owner(let owner): "\(owner.title) owns the core."
        case .request(let name): "The Main “\(name)” has asked for the core and comes first."
        case .rest: "The last core here had a problem; the next one starts in a while."
        case .coreStart: "The core starts."
        case .store(let error): "The group's store refuses it: \(error)"
        }
    }
}

extension GroupOwner {
    /// Who it is, for people.
    fileprivate var title: String {
        let role = role == .main ? "Main" : role == .executor ? "Executor" : "participant"
        return name.isEmpty ? "The \(role) with pid \(process.pid)" : "The \(role) “\(name)” (pid \(process.pid))"
    }
}
