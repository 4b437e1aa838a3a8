public import CoreAPI
internal import Glibc
internal import Platform
internal import Synchronization
internal import Wormholes

/// The second process of a case: a program of a few lines that calls ``serve()``.
///
/// ```swift
/// @main struct Peer {
///     static func main() async {
///         await ConformancePeer { address, description throws(SharedCoreError) in
///             try await MyGroup.open(address, as: description)
///         }.serve()
///     }
/// }
/// ```
public struct ConformancePeer: Sendable {
    public typealias Opening =
        @Sendable (_ address: String, SessionDescription) async throws(SharedCoreError) -> any SharedGroup
    /// Answers a command that the suite does not know; returns nil if the program does not know it either.
    public typealias Command =
        @Sendable (_ name: String, _ arguments: [String], any SharedGroup) async throws(SharedCoreError) -> String?

    let open: Opening
    let arm: @Sendable (String) throws(SharedCoreError) -> Void
    let run: Command

    /// Makes the second process of a backend's cases.
    ///
    /// - Parameters:
    ///   - arm: Called with the fail point at which the process must stop or die next, as `<place>:stop` or
    ///     `<place>:kill`.
    ///   - others: Commands of the program's own.
    ///   - open: Joins the group with an address of ``ConformanceGroup/address``.
    public init(
        arm: @escaping @Sendable (String) throws(SharedCoreError) -> Void = { place throws(SharedCoreError) in
            throw SharedCoreError(.unsupported, "This peer has no fault places.", at: place)
        },
        others: @escaping Command = { _, _, _ in nil }, open: @escaping Opening
    ) {
        self.arm = arm
        self.run = others
        self.open = open
    }

    /// Reads commands from standard input, one each line, and answers each with one line, until the input ends.
    public func serve() async {
        let session = PeerSession(self)
        guard Self.answer("ok \(OwnProcess.pid)") else { return }
        var input = InputLines()
        while let line = input.next() {
            let words = line.split(separator: " ").map(String.init)
            guard let command = words.first else { continue }
            if command == "exit" { return }
            let answer: String
            do throws(SharedCoreError) {
                answer = "ok " + (try await session.run(command, Array(words.dropFirst())))
            } catch {
                answer = "error \(error.code) \(error)"
            }
            guard Self.answer(answer) else { return }
        }
    }

    /// Writes one line at once.
    private static func answer(_ line: String) -> Bool {
        let bytes = Array((line + "\n").utf8)
        return write(STDOUT_FILENO, bytes, bytes.count) == bytes.count
    }
}

/// The commands of a second process for mailboxes of ``Parcel``.
enum PeerMailboxes {
    /// Sends parcels with rising numbers.
    static func produce(_ count: Int, by sender: Int, in group: any SharedGroup) async throws(WormholeError) {
        let wormhole = Wormhole(group)
        for number in 0..<count { try await wormhole.send(Parcel(sender: sender, number: number), to: .queue) }
    }

    /// Takes parcels until the process ends. The commit that acknowledges a parcel also writes it into the dictionary.
    static func consume(in group: any SharedGroup) async throws {
        for try await message in try await Wormhole(group).consume(.queue) {
            let parcel = try message.message
            let done = try Key("done/\(parcel.sender)/\(parcel.number)")
            var transaction = Transaction(guards: [.absent(done)])
            try message.addAcknowledgement(to: &transaction)
            transaction.put(done, [])
            do throws(SharedCoreError) {
                _ = try await group.commit(transaction)
            } catch {
                // It is no error if another consumer has taken the parcel meanwhile.
                if error.guardFailure?.condition == .absent(done) {
                    try await group.put(Key("twice/\(parcel.sender)/\(parcel.number)"), [])
                }
            }
        }
    }
}

/// Sends this process a signal every millisecond, so that its system calls are interrupted.
enum SignalStorm {
    private static let counter = Atomic(0)

    /// The number of times that the process was interrupted.
    static var count: Int { counter.load(ordering: .relaxed) }

    static func begin() {
        var action = sigaction()
        // Without SA_RESTART, so that system calls return EINTR.
        action.sa_flags = 0
        action.__sigaction_handler.sa_handler = { _ in SignalStorm.counter.wrappingAdd(1, ordering: .relaxed) }
        sigaction(SIGALRM, &action, nil)
        // The first signal after 1,000 µs, then one every 1,000 µs. `setitimer` cannot be used: in release builds Swift
        // 6.3 loses the members of its argument's type.
        ualarm(1_000, 1_000)
    }
}
