internal import CoreAPI
internal import FileNotifyBackend
internal import Platform

/// One client's part in starting a hub. Whoever has the lock of the start starts one; the others look on.
///
/// That lock is never a hub's: a hub that lives would keep it, and a starter that is killed gives it back.
struct HubStart: Sendable {
    enum Step: Hashable {
        /// There is a hub, and it answers.
        case answers
        /// Somebody starts one, or one is about to end.
        case looksOn
        /// The last one was told to end, and this client only replaces one that was killed.
        case isUnwanted
    }

    /// The socket's path.
    let path: String
    let launcher: HubLauncher
    /// Whether a hub is only started in the place of one that was killed.
    let isReplacement: Bool
    /// When this client began to wish for a hub.
    let since: BootInstant
    /// How long the program may take: longer than a hub in the background has to listen, so that the program itself says
    /// what became of that.
    var timeout = Duration.seconds(45)

    private static let lockedByte = 0
    /// The most of a program's message that is passed on.
    private static let messageByteCount = 4 << 10

    /// Looks whether a hub answers, and starts one when nobody does. Blocks as long as that takes.
    func step() throws(SharedCoreError) -> Step {
        if let step = try look() { return step }
        guard let lock = try takeLock() else { return .looksOn }
        // It may have been another's until now, whose hub answers, or who failed and says why.
        if let step = try look() { return step }
        if let failure = HubStartFailure(try content(of: lock)), failure.at >= since { throw failure.error(at: path) }
        guard let failure = try start() else { return .looksOn }
        // Another hub was quicker, started by hand; or the program's status is not known.
        if let step = try look() { return step }
        // The others need not try what has just failed. Where this cannot be written, they do.
        try? lock.truncate(to: 0)
        try? lock.write(Array(failure.text.utf8), at: 0)
        throw failure.error(at: path)
    }

    /// What the hub's own lock says; nil when there is no hub.
    private func look() throws(SharedCoreError) -> Step? {
        switch try HubSeat.ofSocket(path) {
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

    /// Runs the program that starts a hub; tells how it failed. One that does not end is killed, so that it does not keep the
    /// lock of the start from all others.
    private func start() throws(SharedCoreError) -> HubStartFailure? {
        try SharedCoreError.wrapping { () throws(SystemCallError) in
            let (program, errors) = try begin()
            let handle = try program.handle()
            let deadline = ContinuousClock.now.advanced(by: timeout)
            let said = handle.output(errors, keeping: Self.messageByteCount, until: deadline) ?? []
            guard let status = try program.waitForEnd(handle, until: deadline) else {
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

/// That a hub could not be started: what the one who tried leaves for all who waited for it, `bootID nanoseconds status
/// message`.
struct HubStartFailure: Hashable, Sendable {
    let at: BootInstant
    let status: Int32
    /// What the program said, in one line.
    let message: String

    /// The statuses that programs of this package end with (`EX_USAGE`, `EX_CONFIG`).
    private static let usage: Int32 = 64
    private static let configuration: Int32 = 78
    /// That of a program that SIGKILL has ended.
    static let killed: Int32 = 137

    /// What can be said of a program that has said nothing.
    private var end: String {
        status == StartedProgram.unknownStatus
            ? "its program ended, and no hub answers. Its status is unknown, because this process ignores SIGCHLD."
            : "its program ended with status \(status)."
    }

    /// The failure that has just happened.
    init(status: Int32, message: String) {
        at = SystemClock().now()
        self.status = status
        let lines = message.split(whereSeparator: \.isNewline).map { line in
            line.hasPrefix("sharedcore: ") ? line.dropFirst("sharedcore: ".count) : line
        }
        self.message = lines.joined(separator: " ")
    }

    /// Reads what another has left; nil when there is nothing, or it is of an earlier run of the machine.
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

    /// The error for whoever wanted a hub at a socket.
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
