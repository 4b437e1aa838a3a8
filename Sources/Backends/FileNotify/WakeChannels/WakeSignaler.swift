internal import Platform
internal import Synchronization

/// Signals the wake channels of a group, and sends futex signals to processes that cannot watch them.
///
/// Each channel is opened once and stays open. So a process that is killed between a commit and its signal still wakes
/// the listeners: the kernel closes the file, and a listener sees the close too.
final class WakeSignaler: Sendable {
    private let directory: Directory
    private let page: GroupPage
    private let files = Mutex<[Int: OpenFile]>([:])

    init(in directory: GroupDirectory) {
        self.directory = directory.directory
        self.page = directory.page
    }

    /// Wakes the listeners of any of the channels. `interest` is the interest that the journal has recorded.
    func announce(_ wakeChannels: WakeChannels, interest: WakeChannels) {
        page.signal(wakeChannels)
        signal(wakeChannels.intersection(interest))
    }

    static func fileName(_ index: Int) -> String {
        "bell-\(index)"
    }

    /// Opens the channels, so that a later signal only writes. A signal is a hint: a channel that cannot be opened is
    /// skipped.
    func prepare(_ wakeChannels: WakeChannels) {
        guard !wakeChannels.isEmpty else { return }
        files.withLock { files in
            for index in wakeChannels.indices where files[index] == nil {
                files[index] = try? OpenFile(Self.fileName(index), in: directory, .create, closing: .wakeChannel)
            }
        }
    }

    /// Signals the channels.
    ///
    /// - Returns: The channels that were signalled.
    @discardableResult
    func signal(_ wakeChannels: WakeChannels) -> WakeChannels {
        guard !wakeChannels.isEmpty else { return WakeChannels() }
        prepare(wakeChannels)
        let open = files.withLock { files in
            wakeChannels.indices.compactMap { index in files[index].map { (index, $0) } }
        }
        var signaled = WakeChannels()
        for (index, file) in open {
            FailPoint.hit("ring.before")
            // Always the byte at offset 0, so that the file never grows.
            if (try? file.write([0], at: 0)) != nil { signaled.formUnion(WakeChannels(index: index)) }
            FailPoint.hit("ring.after")
        }
        return signaled
    }
}
