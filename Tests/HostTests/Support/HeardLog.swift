internal import Logging
internal import Synchronization

/// The logged messages.
final class HeardLog: LogHandler {
    private let heard = Mutex<[String]>([])

    var lines: [String] { heard.withLock { $0 } }

    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }
    var logLevel: Logger.Level {
        get { .trace }
        set {}
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }

    func log(event: LogEvent) {
        heard.withLock { $0.append("\(event.level): \(event.message)") }
    }
}
