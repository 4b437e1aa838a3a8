internal import Coordination
internal import CoreAPI

/// The server, which holds a message until a core has acknowledged it, and the network before it.
extension Simulation {
    mutating func arrive(_ message: Int) {
        say("“\(messages[message].callID)” comes to the server")
        messages[message].arrivedAt = clock
        messages[message].isHeld = true
        offer(message)
    }

    /// Sends a message to every core that is connected: of those that were superseded, the server knows nothing.
    private mutating func offer(_ message: Int) {
        for core in cores.indices where cores[core].phase == .running && !cores[core].isEnding {
            send(message, to: core)
        }
    }

    mutating func send(_ message: Int, to core: Int) {
        schedule(.core(core, .receive(message)), after: members[cores[core].member].random.time(1..<60))
    }

    /// A core stores what it received, and then says so to the server.
    mutating func receive(_ message: Int, in core: Int) {
        let number = cores[core].member
        guard cores[core].phase == .running, !cores[core].isEnding else { return }
        if mutant?.acknowledgesFirst == true { acknowledge(message, by: core) }
        let epoch = cores[core].epoch
        var transaction = Transaction()
        do throws(SharedCoreError) {
            try inbox.storeOperations(
                for: InboxMessage(callID: messages[message].callID, content: messages[message].content),
                into: &transaction)
        } catch {
            return broke("the inbox takes no message: \(error)")
        }
        let before = inboxState(of: message)
        let verdict = commit(
            transaction.guarded(by: epoch), of: number, for: .storing(message: message, epoch: epoch))
        guard members[number].isAlive else { return }
        took(.inbox, before.rawValue, InboxMove.stored(verdict).rawValue, by: number)
        switch verdict {
        case .committed:
            say("\(members[number].name)'s core stores “\(messages[message].callID)”")
        case .refused(let failure):
            let isDuplicate = failure.condition.key != OwnershipKey.owner
            guard isDuplicate else { return fenced(core) }
        case .failed, .unknown:
            return fail(core, because: "the store failed")
        }
        schedule(.core(core, .acknowledge(message)), after: members[number].random.number(50..<3000))
    }

    mutating func acknowledge(_ message: Int, by core: Int) {
        guard messages[message].isHeld else { return }
        let number = cores[core].member
        judgeServerAcknowledgement(of: message)
        say("\(members[number].name)'s core tells the server that it has “\(messages[message].callID)”")
        if goesWrong(schedule.weather.doubledDeliveries, for: number, .doubledDeliveries) {
            // The network loses the answer, and the server sends it again.
            return offer(message)
        }
        messages[message].isHeld = false
    }
}

/// A message as its server, the store and the judge know it.
struct ServerMessage {
    let callID: CallID
    let content: InboxMessage.Content
    var arrivedAt: UInt64?
    /// Whether the server has it and no core has acknowledged it.
    var isHeld = false
    /// When it was last there to be taken.
    var availableSince: UInt64?
    /// When it was stored first.
    var storedAt: UInt64?
    /// The commit that changed it in the inbox last.
    var lastChange: UInt64 = 0
    /// How many times it was acknowledged by whoever showed it.
    var acknowledgements = 0
    /// Whether its time in the inbox was over once.
    var hasExpired = false
}
