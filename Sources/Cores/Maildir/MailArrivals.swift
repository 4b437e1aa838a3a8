package import Coordination
package import CoreAPI
package import Platform
internal import Synchronization

/// The arrivals of a Maildir, with the identifiers under which a core delivers them, for a caller that announces
/// messages but does not take them.
///
/// A running core takes messages as soon as they arrive. So the folder `cur` is read as well: a message that a core has
/// moved there has arrived.
///
/// Every call blocks.
package final class MailArrivals: Sendable {
    /// A message that was not there before.
    package struct Arrival: Hashable, Sendable {
        /// The name of its file, each byte as a character, without the information that Maildir adds after it.
        package let name: String
        /// The identifier; nil if it has none that can be read.
        package let callID: CallID?
        /// The reason why it has no identifier, as text for users.
        package let problem: String?
    }

    /// The result of reading the folder.
    package struct Look: Sendable {
        package var arrivals: [Arrival] = []
        /// The names in `new` of known messages and of the arrivals.
        package var standing: Set<String> = []
        /// True if the folder must be read again soon: a file is still being written, or has gone meanwhile.
        package var isUnfinished = false
        /// True if there are more arrivals than were requested.
        package var isPartial = false
        /// How many of the arrivals have an identifier.
        fileprivate var pushCount = 0
        /// The files in `cur`, except those that the next read must handle.
        fileprivate var kept: Set<Int> = []
        /// The files in `new` that are no pushes.
        fileprivate var silent: Set<Int> = []
        /// The files there that were already known.
        fileprivate var known: Set<Int> = []
    }

    /// The results of earlier reads, each file by its ``FileName/mark``: a folder may have very many.
    private struct Past {
        /// The files in `cur` at the last read whose arrivals were announced.
        var kept: Set<Int>
        /// The files in `new` that are no pushes.
        var silent: Set<Int> = []
        /// The files that were known at the last read, or were announced after it. Nil before the first read. Only
        /// these can have been announced before.
        var known: Set<Int>?
    }

    private let source: MailSource
    private let past: Mutex<Past>

    /// The most files that one call reads.
    private static let listLimit = 1_000

    /// Loads the library, opens the Maildir, which is created if it is missing, and begins to listen.
    package init(path: String) throws(SharedCoreError) {
        source = try MailSource(path: path, limits: MailLimits())
        do throws(SystemCallError) {
            var kept: Set<Int> = []
            _ = try Maildir(path: path).inCur.arrivals(limit: 0) { name in
                if name.isKept { kept.insert(name.mark) }
                return false
            }
            past = Mutex(Past(kept: kept))
        } catch {
            throw SharedCoreError(error)
        }
    }

    /// Reads the messages that have arrived, the first ones by their names.
    ///
    /// - Parameters:
    ///   - room: The maximum number of messages with an identifier. Messages without one are not counted.
    ///   - isKnown: Returns true if a message of this name was among earlier arrivals.
    package func look(room: Int, isKnown: (String) -> Bool) throws(SystemCallError) -> Look {
        let maildir = try Maildir(path: source.path)
        try source.arrivalSignal.listen(to: maildir.new)
        var look = Look()
        let past = past.withLock { $0 }
        let new = try maildir.arrivals(limit: Self.listLimit) { name in
            let mark = name.mark
            if past.silent.contains(mark) {
                look.silent.insert(mark)
                return false
            }
            guard past.known?.contains(mark) ?? true else { return true }
            let text = name.withoutInformation.scalars
            guard isKnown(text) else { return true }
            look.standing.insert(text)
            look.known.insert(mark)
            return false
        }
        // Read `cur` after `new`, so that a message that a core moves in between is found in one of them.
        let cur = try maildir.inCur.arrivals(limit: Self.listLimit) { name in
            guard name.isKept else { return false }
            let mark = name.mark
            let isOld =
                past.kept.contains(mark) || past.silent.contains(mark)
                || (past.known?.contains(mark) ?? true && isKnown(name.withoutInformation.scalars))
            if isOld { look.kept.insert(mark) }
            return !isOld
        }
        look.isPartial = new.isPartial || cur.isPartial
        var found: Set<Int> = []
        for (folder, names) in [(maildir, new.messages), (maildir.inCur, cur.messages)] {
            for name in names {
                let count = look.arrivals.count
                let isDone = found.contains(name.mark) ? true : try add(name, in: folder, to: &look, room: room)
                // A message that has left `new` meanwhile is read in `cur`.
                if look.arrivals.count > count { found.insert(name.mark) }
                if isDone, folder.new.path == maildir.cur.path { look.kept.insert(name.mark) }
            }
        }
        return look
    }

    /// Records that the arrivals of a read were announced, with some exceptions. The exceptions are reported again, and
    /// so are all arrivals of a read that is not confirmed.
    ///
    /// - Parameter silent: The arrivals for which no push was created: they are skipped while their files are there.
    package func confirm(
        _ look: Look, except rest: some Sequence<Arrival> = [], silent: some Sequence<Arrival> = []
    ) {
        let rest = Set(rest.map(\.mark))
        past.withLock { past in
            past.kept = look.kept.subtracting(rest)
            past.silent = look.silent.union(silent.map(\.mark)).subtracting(rest)
            past.known = look.known.union(look.arrivals.map(\.mark)).subtracting(rest)
        }
    }

    /// The reason, as text for users, why arrivals are not reported now, so that only polling finds them; nil when they
    /// are reported.
    package var unwatchedReason: String? { source.arrivalSignal.failure?.reason }

    /// Waits until something may have arrived, or until the timeout.
    package func wait(timeout: Duration) {
        source.arrivalSignal.wait(timeout: timeout)
    }

    /// Ends all present and later waits.
    package func stop() {
        source.arrivalSignal.stop()
    }

    /// Adds a file to the result of a read, if it is a new message.
    ///
    /// - Returns: True if the message was handled; false if the next read must handle it.
    private func add(
        _ name: FileName, in folder: Maildir, to look: inout Look, room: Int
    ) throws(SystemCallError) -> Bool {
        let text = name.withoutInformation.scalars
        guard look.pushCount < room else {
            look.isPartial = true
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
            // A core has moved the message meanwhile. The next read finds it in the other folder.
            look.isUnfinished = true
            return true
        case .other: return true
        }
        look.standing.insert(text)
        if look.arrivals.last?.callID != nil { look.pushCount += 1 }
        return true
    }
}

extension Maildir {
    /// The same Maildir, with `cur` in the place of `new`.
    fileprivate var inCur: Maildir { Maildir(path: path, new: cur, cur: cur, tmp: tmp) }
}

extension FileName {
    /// True for a name that a core gives to a message that it has taken.
    fileprivate var isKept: Bool { withoutInformation != self }

    /// A hash of the file's name without the information that Maildir adds after it. Two files have the same hash with
    /// a probability of 2^-64.
    fileprivate var mark: Int { withoutInformation.bytes.hashValue }
}

extension MailArrivals.Arrival {
    fileprivate var mark: Int { FileName(name.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }).mark }
}
