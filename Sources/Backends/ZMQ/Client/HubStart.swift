internal import CoreAPI
internal import FileNotifyBackend
internal import Platform

/// One client's part in starting a hub. The client that holds the start lock starts one; the others wait.
///
/// The start lock is separate from the hub's lock, which a running hub keeps. The kernel releases the start lock of a
/// killed starter.
struct HubStart: Sendable {
    enum Step: Hashable {
        /// A hub exists and answers.
        case answers
        /// Another process is starting a hub, or a hub is about to end.
        case looksOn
        /// The last hub was told to end, and this client only replaces one that was killed.
        case isUnwanted
    }

    /// The socket's path.
    let path: String
    let launcher: HubLauncher
    /// True if this client starts a hub only to replace one that was killed.
    let isReplacement: Bool
    /// When this client began to wait for a hub.
    let since: BootInstant
    /// How long the program may take. The program waits less for the hub that it starts in the background, so that it
    /// can report that hub's failure itself.
    var timeout = Duration.seconds(45)

    private static let lockedByte = 0
    /// The longest message of a program that is passed on, in bytes.
    private static let messageByteCount = 4 << 10

    /// Checks whether a hub answers, and starts one if there is none. Blocks for as long as that takes.
    func step() throws(SharedCoreError) -> Step {
        if let step = try look() { return step }
        guard let lock = try takeLock() else { return .looksOn }
        // Another client may have had the lock before. Its hub may answer now, or the file holds the reason of its
        // failure.
        if let step = try look() { return step }
        if let failure = HubStartFailure(try content(of: lock)), failure.at >= since { throw failure.error(at: path) }
        guard let failure = try start() else { return .looksOn }
        // A hub was started by hand meanwhile, or the program's status is not known.
        if let step = try look() { return step }
        // Tells the other clients not to repeat the failed attempt. If this cannot be written, they repeat it.
        try? lock.truncate(to: 0)
        try? lock.write(Array(failure.text.utf8), at: 0)
        throw failure.error(at: path)
    }

    /// Reads the hub's own lock; nil when there is no hub.
    private func look() throws(SharedCoreError) -> Step? {
        switch try HubEndpointState.ofSocket(path) {
        case .free: isReplacement ? .isUnwanted : nil
        case .abandoned: nil
        case .taken: .looksOn
        case .serving: .answers
        }
    }

    private func takeLock() throws(SharedCoreError) -> OpenFile? {
        let (directory, name) = try HubLock.place(ofSocket: path)
        return try SharedCoreError.wrapping { () throws(SystemCallError) in
            let file = try OpenFile(name + ".start", in: directory, .create)
            return try file.tryLock(byteAt: Self.lockedByte) ? file : nil
        }
    }

    private func content(of file: OpenFile) throws(SharedCoreError) -> String {
        let bytes = try SharedCoreError.wrapping { () throws(SystemCallError) in
            try file.read(count: Self.messageByteCount * 2, at: 0)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Runs the program that starts a hub; returns how it failed. Kills a program that does not end, because this
    /// client keeps the start lock meanwhile.
    private func start() throws(SharedCoreError) -> HubStartFailure? {
        try SharedCoreError.wrapping { () throws(SystemCallError) in
            let (program, errors) = try begin()
            let deadline = ContinuousClock.now.advanced(by: timeout)
            let said = program.handle.output(errors, keeping: Self.messageByteCount, until: deadline) ?? []
            guard let status = try program.waitForEnd(until: deadline) else {
                return HubStartFailure(
                    status: HubStartFailure.killed,
                    message: "its program, “\(launcher.program)” (pid \(program.pid)), did not end within "
                        + "\(timeout.components.seconds) s and was killed. Run it by hand to see what holds it up.")
            }
            return status == 0 ? nil : HubStartFailure(status: status, message: String(decoding: said, as: UTF8.self))
        }
    }

    /// Starts the program.
    private func begin() throws(SystemCallError) -> (StartedProgram, OpenFile) {
        let pipe = try Pipe()
        let nothing = try OpenFile(path: "/dev/null", .write)
        let program = try StartedProgram(
            launcher.program, launcher.arguments, variables: launcher.variables,
            streams: [nothing, nothing, pipe.input], inheriting: launcher.inherited)
        return (program, pipe.output)
    }
}

/// The failure to start a hub. The client that tried writes it to the lock's file for the clients that wait: `bootID
/// nanoseconds status message`.
struct HubStartFailure: Hashable, Sendable {
    let at: BootInstant
    let status: Int32
    /// The program's message, in one line.
    let message: String

    /// The statuses that programs of this package end with (`EX_USAGE`, `EX_CONFIG`).
    private static let usage: Int32 = 64
    private static let configuration: Int32 = 78
    /// The status of a program that SIGKILL has ended.
    static let killed: Int32 = 137

    /// The message for a program that wrote none.
    private var end: String {
        status == StartedProgram.unknownStatus
            ? "its program ended, and no hub answers. Its status is unknown, because this process ignores SIGCHLD."
            : "its program ended with status \(status)."
    }

    /// Creates the failure of an attempt that has just ended.
    init(status: Int32, message: String) {
        at = SystemClock().now()
        self.status = status
        let lines = message.split(whereSeparator: \.isNewline).map { line in
            line.hasPrefix("sharedcore: ") ? line.dropFirst("sharedcore: ".count) : line
        }
        self.message = lines.joined(separator: " ")
    }

    /// Reads the failure that another client left; nil if there is none, or if it is of an earlier boot.
    init?(_ text: String) {
        let words = text.split(separator: " ", maxSplits: 3)
        guard words.count >= 3, words[0] == ProcessIdentity.current.bootID.description,
            let nanoseconds = UInt64(words[1]), let status = Int32(words[2])
        else { return nil }
        at = BootInstant(nanoseconds: nanoseconds)
        self.status = status
        message = words.count == 4 ? String(words[3]) : ""
    }

    var text: String { "\(ProcessIdentity.current.bootID) \(at.nanoseconds) \(status) \(message)" }

    /// Returns the error for a caller that needs a hub at a socket.
    func error(at path: String) -> SharedCoreError {
        let code: SharedCoreError.Code =
            switch status {
            case Self.configuration: .forbidden
            case Self.usage: .invalidArgument
            default: .unavailable
            }
        return SharedCoreError(
            code,
            "The hub could not be started: "
                + (message.isEmpty ? end : message), at: path)
    }
}
