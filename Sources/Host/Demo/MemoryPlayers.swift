internal import Coordination
internal import CoreAPI
internal import ExecutorRun
internal import InMemoryBackend
internal import MaildirCore

/// The participants of a play, of the demo or of a soak, in one process: a group in memory, and what its Mains and Executors
/// are made with.
struct MemoryPlayers: Sendable {
    /// The play's own handle, which only looks.
    let group: MemoryGroup

    private let name: String
    private let space = MemorySpace()
    private let witness = MemoryWitness()
    private let maildir: String
    private let startDuration: Duration
    private let options: CoordinationOptions

    init(of name: String, maildir: String, startDuration: Duration, options: CoordinationOptions) async throws {
        self.name = name
        self.maildir = maildir
        self.startDuration = startDuration
        self.options = options
        group = try await space.open(name, as: SessionDescription(role: .tool, name: name))
    }

    func enter(_ role: SessionRole, as name: String) async throws -> MemoryGroup {
        try await space.open(self.name, as: SessionDescription(role: role, name: name))
    }

    /// The witness for one that may die.
    func mortalWitness() -> MortalWitness { MortalWitness(witness) }

    func request(for callID: CallID, seenBy witness: (any Witness)? = nil) -> ExecutorRequest {
        ExecutorRequest(
            callID: callID, deadline: DemoPlay.deadline, maildir: maildir, startDuration: startDuration,
            options: options, witness: witness ?? self.witness)
    }

    func main(in handle: MemoryGroup, seenBy witness: MortalWitness) throws -> MainParticipant {
        try MainParticipant(
            of: handle, options: options, environment: CoordinationEnvironment(witness: witness)
        ) { [maildir, startDuration] in
            MaildirCore(directory: maildir, startDuration: startDuration)
        }
    }
}
