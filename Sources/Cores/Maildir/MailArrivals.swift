package import Coordination
package import CoreAPI
package import Platform
internal import Synchronization

/// What arrives in a Maildir, with the identifiers under which a core delivers it, for whoever announces messages and
/// does not take them.
///
/// A core that runs meanwhile takes messages away as soon as they arrive. So the folder `cur` is looked at as well:
/// what appears there, as a core keeps it, has arrived.
///
/// Every call blocks.
package final class MailArrivals: Sendable {
    /// A message that was not there before.
    package struct Arrival: Hashable, Sendable {
        /// The name of its file, byte for byte a character, without what Maildir keeps behind it.
        package let name: String
        /// Nil when it has none that can be read.
        package let callID: CallID?
        /// Why it has none, for people.
        package let problem: String?
    }

    /// What a look found.
    package struct Look: Sendable {
        package var arrivals: [Arrival] = []
        /// The names of all that stands in `new`, those among the arrivals too.
        package var standing: Set<String> = []
        /// Whether to look again soon: a file is still being written, or there is more.
        package var isUnfinished = false
        /// What stood in `cur`, but for what the next look has to take up.
        fileprivate var kept: Set<FileName> = []
    }

    private let source: MailSource
    /// What stood in `cur` at the last look whose arrivals were announced.
    private let kept: Mutex<Set<FileName>>

    /// The most messages of one look.
    private static let lookLimit = 1_000
    private static let folderLimit = 1_000_000

    /// Loads the library, opens the Maildir, which is made when it is missing, and begins to listen.
    package init(path: String) throws(SharedCoreError) {
        source = try MailSource(path: path, limits: MailLimits())
        do throws(SystemCallError) {
            kept = Mutex(Set(try Maildir(path: path).inCur.arrivals(limit: Self.folderLimit).messages))
        } catch {
            throw SharedCoreError(error)
        }
    }

    /// Looks for messages that have arrived.
    ///
    /// - Parameter isKnown: Whether a message of this name was among the arrivals before.
    package func look(isKnown: (String) -> Bool) throws(SystemCallError) -> Look {
        let maildir = try Maildir(path: source.path)
        try source.bell.listen(to: maildir.new)
        var look = Look()
        let new = try maildir.arrivals(limit: Self.folderLimit).messages
        // Looked at last: what a core moves in between is in the one or in the other.
        let keptNow = Set(try maildir.inCur.arrivals(limit: Self.folderLimit).messages)
        let keptBefore = kept.withLock { $0 }
        for name in new {
            look.standing.insert(name.withoutInformation.scalars)
            try add(name, in: maildir, to: &look, isKnown: isKnown)
        }
        var seen = keptNow
        for name in keptNow.subtracting(keptBefore) where name.isKept {
            if try !add(name, in: maildir.inCur, to: &look, isKnown: isKnown) { seen.remove(name) }
        }
        look.kept = seen
        return look
    }

    /// Takes note that the arrivals of a look were announced, but for some. Those come again, and all of a look of
    /// which this was not said.
    package func confirm(_ look: Look, except rest: some Sequence<Arrival> = []) {
        let names = Set(rest.map(\.name))
        kept.withLock { $0 = look.kept.filter { !names.contains($0.withoutInformation.scalars) } }
    }

    /// Why arrivals ring no bell now, for people, so that only looking again soon finds them; nil when they ring one.
    package var unwatchedReason: String? { source.bell.failure?.reason }

    /// Waits until something may have arrived, at most so long.
    package func wait(timeout: Duration) {
        source.bell.wait(timeout: timeout)
    }

    /// Ends every wait, those to come too.
    package func stop() {
        source.bell.stop()
    }

    /// - Returns: Whether the message has been dealt with; false when it is for the next look.
    @discardableResult
    private func add(
        _ name: FileName, in folder: Maildir, to look: inout Look, isKnown: (String) -> Bool
    ) throws(SystemCallError) -> Bool {
        let text = name.withoutInformation.scalars
        guard !isKnown(text), !look.arrivals.contains(where: { $0.name == text }) else { return true }
        guard look.arrivals.count < Self.lookLimit else {
            look.isUnfinished = true
            return false
        }
        switch try source.open(name, in: folder) {
        case .file(let file, let byteCount):
            do throws(MailRefusal) {
                let callID = try source.reader.identifier(of: file, byteCount: byteCount)
                look.arrivals.append(Arrival(name: text, callID: callID, problem: nil))
            } catch {
                look.arrivals.append(Arrival(name: text, callID: error.callID, problem: error.explanation))
            }
        case .refused(let refusal):
            look.arrivals.append(Arrival(name: text, callID: nil, problem: refusal.explanation))
        case .beingWritten:
            look.isUnfinished = true
            return false
        case .nothing:
            // A core was quicker: the next look finds it in the other folder.
            look.isUnfinished = true
        case .other: break
        }
        return true
    }
}

extension Maildir {
    /// The same Maildir, with `cur` in the place of `new`.
    fileprivate var inCur: Maildir { Maildir(path: path, new: cur, cur: cur, tmp: tmp) }
}

extension FileName {
    /// Whether it is the name that a core gives to what it has taken.
    fileprivate var isKept: Bool { withoutInformation != self }
}
