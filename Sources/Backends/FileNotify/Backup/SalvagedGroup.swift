package import CoreAPI
internal import Platform
internal import StoreEngine

/// The newest state that can be read from a directory's files and proven by checksums, also after damage. Nothing in
/// the directory is changed, and other processes may write there meanwhile.
///
/// The files may be those of a group in use, of a backup, of a copy of either, or the remains on a damaged disk; also
/// those of an earlier version of the layout.
package struct SalvagedGroup: Sendable {
    let state: StoreState
    let incarnation: UInt64
    /// The directory that it was read from.
    let path: String
    /// The findings, a sentence each, about records that are missing or cannot be proved; empty for a group that is
    /// whole.
    package let findings: [String]

    package var summary: GroupSummary { GroupSummary(state) }

    /// Writes the state as a whole group in another directory, in the present layout. The group is on the disk when
    /// this returns. Blocks.
    package func write(to path: String) throws(SharedCoreError) -> GroupSummary {
        try GroupCopy.write(state, incarnation: incarnation, to: path)
    }

    /// Reads the files. Blocks.
    ///
    /// - Throws: `unavailable` for a directory that is not there, `corrupt` when no snapshot in its journals has a
    ///   whole record.
    package init(readingFrom path: String) throws(SharedCoreError) {
        try self.init(readingFrom: path, attemptCount: 10)
    }

    private init(readingFrom path: String, attemptCount: Int) throws(SharedCoreError) {
        let directory: Directory
        let generations: [UInt64]
        do throws(SystemCallError) {
            directory = try Directory(path: path)
            generations = try GroupDirectory.generations(in: directory)
        } catch {
            guard error.isAbsent else { throw SharedCoreError(error) }
            throw SharedCoreError(
                .unavailable, "There is no such directory. Give the directory of a backup or of a group.", at: path)
        }
        guard !generations.isEmpty else {
            throw SharedCoreError(
                .corrupt,
                "The directory holds no journal of a group. Give the directory of a backup or of a group.", at: path)
        }
        var reader = Reader(directory: directory)
        let floor = reader.floor()
        for generation in generations { reader.open(generation) }
        do throws(SharedCoreError) {
            let records = try reader.newestRecords(notBelow: floor)
            reader.findMissing(behind: records, of: generations)
            self.init(records, findings: reader.findings, path: path)
            guard
                findings.isEmpty || attemptCount <= 1
                    || !Self.hasMoved(from: floor, generations.last, in: directory)
            else {
                self = try Self(readingFrom: path, attemptCount: attemptCount - 1)
                return
            }
        } catch {
            guard error.code == .corrupt, attemptCount > 1,
                Self.hasMoved(from: floor, generations.last, in: directory)
            else { throw error }
            self = try Self(readingFrom: path, attemptCount: attemptCount - 1)
        }
    }

    /// Returns whether the group's processes have replaced a journal since the files were listed, or begun a new one,
    /// in which the missing records may be.
    private static func hasMoved(from floor: UInt64, _ newest: UInt64?, in directory: Directory) -> Bool {
        var reader = Reader(directory: directory)
        return reader.floor() > floor || (try? GroupDirectory.generations(in: directory))?.last != newest
    }

    private init(_ records: SurvivingRecords, findings: [String], path: String) {
        state = records.state
        incarnation = records.incarnation
        self.findings = findings
        self.path = path
    }

    private struct Reader {
        let directory: Directory
        var journals: [UInt64: Journal] = [:]
        var findings: [String] = []

        init(directory: Directory) { self.directory = directory }

        /// Returns the number of the journal from which the group is to be read; 0 if it is unknown.
        mutating func floor() -> UInt64 {
            do throws(SystemCallError) {
                let file = try OpenFile(GroupPage.fileName, in: directory, .read)
                if let floor = GroupPage.floor(ofPage: try file.read(count: MappedPage.byteCount, at: 0)) {
                    return floor
                }
                findings.append("The file \(GroupPage.fileName) is damaged.")
            } catch {
                findings.append("The file \(GroupPage.fileName) cannot be read: \(error.reason).")
            }
            return 0
        }

        mutating func open(_ generation: UInt64) {
            let name = GroupDirectory.journalName(generation)
            let file: OpenFile
            do throws(SystemCallError) {
                file = try OpenFile(name, in: directory, .read)
            } catch {
                // A missing file is no finding: a journal is removed when a newer one has replaced it.
                if !error.isAbsent { findings.append("\(name) cannot be opened: \(error.reason).") }
                return
            }
            do throws(SharedCoreError) {
                let journal = try Journal(file, isReadOnly: true, versions: JournalHeader.salvagedVersions)
                if journal.generation == generation {
                    journals[generation] = journal
                } else {
                    findings.append("\(name) holds journal \(journal.generation), not the one that it is named for.")
                }
            } catch {
                findings.append("\(name) cannot be read: \(error.message)")
            }
        }

        /// Returns the records from the newest journal with a whole snapshot on; if none is whole, the remains of the
        /// newest one.
        mutating func newestRecords(notBelow floor: UInt64) throws(SharedCoreError) -> SurvivingRecords {
            let journals = journals
            let others = findings
            for generation in journals.keys.sorted().reversed() {
                guard let journal = journals[generation], journal.header.hasSnapshot else { continue }
                do throws(SharedCoreError) {
                    let records = try SurvivingRecords(from: journal, limits: Limits(), endsAtUnreadable: true) {
                        journals[$0]
                    }
                    if generation < floor {
                        findings.append(
                            "\(GroupDirectory.journalName(floor)), from which the group is to be read, is not whole: "
                                + "\(GroupDirectory.journalName(generation)) has an older state.")
                    }
                    return records
                } catch {
                    guard error.code == .corrupt else { throw error }
                    findings.append("\(GroupDirectory.journalName(generation)) is not whole: \(error.message)")
                }
            }
            for generation in journals.keys.sorted().reversed() {
                guard let journal = journals[generation], journal.header.hasSnapshot else { continue }
                let records: SurvivingRecords
                do throws(SharedCoreError) {
                    records = try SurvivingRecords(fromDamaged: journal, limits: Limits()) { journals[$0] }
                } catch {
                    guard error.code == .corrupt else { throw error }
                    continue
                }
                // Replaces the findings about each snapshot.
                findings = others
                if records.damage.isEmpty {
                    findings.append(
                        "\(GroupDirectory.journalName(generation)) has no whole snapshot: keys and names may be missing."
                    )
                }
                for range in records.damage {
                    findings.append(
                        "\(GroupDirectory.journalName(generation)) is damaged from byte \(range.lowerBound) to "
                            + "\(range.upperBound), in its snapshot: keys and names may be missing, or older than they were."
                    )
                }
                return records
            }
            throw SharedCoreError(
                .corrupt,
                "No journal in the directory has a snapshot of which anything is whole. "
                    + findings.joined(separator: " "),
                at: directory.path)
        }

        /// Returns whether something may have been committed behind a sealed journal. If no process has moved to a next
        /// journal, then the process that sealed this one has ended before it named the next journal, or is about to
        /// name it.
        private func mayBeSucceeded(_ journal: Journal) -> Bool {
            // Earlier versions do not record it.
            journal.header.framing == .plain || journal.isSucceeded
        }

        /// Adds findings about content after the last of the records.
        mutating func findMissing(behind records: SurvivingRecords, of generations: [UInt64]) {
            let last = records.position.journal.generation
            let name = GroupDirectory.journalName(last)
            let tail = records.word.tail
            if tail > records.position.offset {
                findings.append(
                    "\(name) is damaged at byte \(records.position.offset), or was written by a later version: what was "
                        + "published behind it is missing.")
            } else if records.word.isSealed, !generations.contains(last + 1), mayBeSucceeded(records.position.journal) {
                findings.append(
                    "\(name) is ended, and its successor \(GroupDirectory.journalName(last + 1)) is not there: what it held, "
                        + "if anything, is missing.")
            }
            for generation in generations where generation > last {
                findings.append("\(GroupDirectory.journalName(generation)) does not continue the journal before it.")
            }
        }
    }
}
