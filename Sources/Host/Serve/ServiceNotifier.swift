internal import Logging
internal import Platform

/// Reports the state of this service to the service manager.
///
/// Source: sd_notify(3) and the protocol that it describes. Without `NOTIFY_SOCKET` nothing is sent.
struct ServiceNotifier: Sendable {
    /// The variables by which a manager addresses only this process.
    static let variables: Set<String> = [
        "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES",
    ]

    /// How many seconds a message may wait until the manager has read others.
    private static let timeout: Int32 = 10

    private let address: String?
    private let thread = SerialThread(name: "notify")
    /// The interval at which the service reports to the manager that it is alive; nil if the manager does not ask for
    /// it.
    let watchdogInterval: Duration?

    /// Reads the manager's socket and its watchdog from the environment.
    ///
    /// - Parameter process: This process's id, which the manager may name as the one with the watchdog.
    init(environment: [String: String], process: Int32) {
        address = environment["NOTIFY_SOCKET"].flatMap { $0.isAbsolutePath || $0.startsWithBytes(of: "@") ? $0 : nil }
        let isMeant = environment["WATCHDOG_PID"].map { $0 == String(process) } ?? true
        let microseconds = environment["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
        // Twice in each interval, as the manual advises.
        watchdogInterval = isMeant && address != nil && microseconds > 0 ? .microseconds(max(1, microseconds / 2)) : nil
    }

    /// Reports that the service is ready.
    ///
    /// - Parameter status: A text for users; nil keeps the text of ``status(_:)``.
    func ready(_ status: String? = nil) { send("READY=1" + (status.map { "\nSTATUS=\($0)" } ?? "")) }

    /// Reports a text for users. The report is dropped, like one of ``alive()``, if the manager has many messages to
    /// read.
    func status(_ status: String) { sendAtOnce("STATUS=\(status)") }

    /// Reports that the service reloads its configuration.
    ///
    /// - Parameter microseconds: When the reload began, on the clock of the manager.
    func reloading(at microseconds: UInt64) { send("RELOADING=1\nMONOTONIC_USEC=\(microseconds)") }

    func stopping() { send("STOPPING=1\nSTATUS=stopping") }

    /// Waits until all messages are sent, or the manager has not read for ``timeout`` seconds. The end of the process
    /// would drop unsent messages.
    func finish() async { await thread.run {} }

    /// Reports that the service is alive. The report is dropped if the manager has many messages to read, because the
    /// next one follows soon.
    func alive() { sendAtOnce("WATCHDOG=1") }

    private func sendAtOnce(_ text: String) {
        guard let address else { return }
        try? Datagram.send(Array(text.utf8), to: address)
    }

    private func send(_ text: String) {
        guard let address else { return }
        // An error is ignored: the service continues even if the manager does not listen.
        thread.submit { try? Datagram.send(Array(text.utf8), to: address, waiting: Self.timeout) }
    }
}
