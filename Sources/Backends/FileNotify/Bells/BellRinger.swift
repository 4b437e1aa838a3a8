internal import Platform
internal import Synchronization

/// The bells of a group as this process rings them, and the signals for those who cannot watch them. Each bell is opened once and stays open, so that a process that is
/// killed between a commit and the ring still wakes the listeners: the kernel closes the file, which they hear too.
final class BellRinger: Sendable {
    private let directory: Directory
    private let page: GroupPage
    private let files = Mutex<[Int: OpenFile]>([:])

    init(in directory: GroupDirectory) {
        self.directory = directory.directory
        self.page = directory.page
    }

    /// Tells what was published to whoever listens to any of the bells: `interest` is what the journal knows of.
    func announce(_ bells: Bells, interest: Bells) {
        page.signal(bells.intersection(page.signalInterest))
        ring(bells.intersection(interest))
    }

    static func fileName(_ index: Int) -> String {
        "bell-\(index)"
    }

    /// Opens the bells, so that ringing them later only writes. A bell is a hint: one that cannot be opened is not rung.
    func prepare(_ bells: Bells) {
        guard !bells.isEmpty else { return }
        files.withLock { files in
            for index in bells.indices where files[index] == nil {
                files[index] = try? OpenFile(Self.fileName(index), in: directory, .create, closing: .bell)
            }
        }
    }

    /// Rings the bells.
    ///
    /// - Returns: Those that did ring.
    @discardableResult
    func ring(_ bells: Bells) -> Bells {
        guard !bells.isEmpty else { return [] }
        prepare(bells)
        let open = files.withLock { files in bells.indices.compactMap { index in files[index].map { (index, $0) } } }
        var rung = Bells()
        for (index, file) in open {
            FailPoint.hit("ring.before")
            // One byte at the same place, so that a bell never grows.
            if (try? file.write([0], at: 0)) != nil { rung.formUnion(Bells(index: index)) }
            FailPoint.hit("ring.after")
        }
        return rung
    }
}
