#if ZMQ
    internal import Platform
    internal import Synchronization

    /// The single report of a background hub to the process that started it: that the hub listens, or why not.
    final class HubReport: Sendable {
        /// The words of a hub that listens.
        static let listening = "listens"

        private let pipe: Mutex<OpenFile?>

        /// Makes the report of a hub that starts.
        ///
        /// - Parameter descriptor: The descriptor to write to; nil if no process waits for the report.
        init(descriptor: Int32?) {
            pipe = Mutex(descriptor.map { OpenFile(owning: $0, path: "report") })
        }

        func listens() { tell(Self.listening) }

        func failed(_ sentence: String) { tell(sentence) }

        private func tell(_ text: String) {
            // The pipe is closed with its last reference. A failed write is ignored: the starter no longer reads.
            let pipe = pipe.withLock { $0.take() }
            try? pipe?.writeStream(Array((text + "\n").utf8))
        }
    }
#endif
