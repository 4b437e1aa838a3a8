internal import Coordination
internal import CoreAPI

/// The server, which keeps a message until a core has acknowledged it, and the network in front of it.
extension Simulation {
    mutating func arrive(_ message: Int) {
        say("“\(messages[message].callID)” comes to the server")
        messages[message].arrivedAt = clock
        messages[message].isHeld = true
        offer(message)
    }

    /// Sends a message to every connected core: the server does not know which ones were superseded.
    private mutating func offer(_ message: Int) {
        for core in cores.indices where cores[core].phase == .running && !cores[core].isEnding {
            send(message, to: core)
        }
    }

    mutating func send(_ message: Int, to core: Int) {
        schedule(.core(core, .receive(message)), after: members[cores[core].member].random.time(1..<60))
    }

    /// Makes a core store a received message, and then acknowledge it to the server.
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
        cores[core].unacknowledged.insert(message)
        schedule(.core(core, .acknowledge(message)), after: members[number].random.number(50..<3000))
    }

    mutating func acknowledge(_ message: Int, by core: Int) {
        cores[core].unacknowledged.remove(message)
        guard messages[message].isHeld else { return }
        let number = cores[core].member
        judgeServerAcknowledgement(of: message)
        say("\(members[number].name)'s core tells the server that it has “\(messages[message].callID)”")
        if goesWrong(schedule.faultProfile.doubledDeliveries, for: number, .doubledDeliveries) {
            // The network loses the answer, and the server sends the message again.
            return offer(message)
        }
        messages[message].isHeld = false
    }
}

/// A message, with what its server, the store and the checks of the simulation know of it.
struct ServerMessage {
    let callID: CallID
    let content: InboxMessage.Content
    var arrivedAt: UInt64?
    /// True while the server has the message and no core has acknowledged it.
    var isHeld = false
    /// When it last became available for a take.
    var availableSince: UInt64?
    /// When it was first stored.
    var storedAt: UInt64?
    /// The last commit that changed it in the inbox.
    var lastChange: UInt64 = 0
    /// How many times a call that has shown it acknowledged it.
    var acknowledgements = 0
    /// True if it has expired in the inbox.
    var hasExpired = false
}
