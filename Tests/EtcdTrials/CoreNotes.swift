#if Etcd
    internal import Coordination
    internal import CoreAPI
    internal import EtcdBackend
    internal import Glibc
    internal import Platform
    internal import Synchronization

    /// The start or the stop of a core by the boot clock, recorded outside of its group.
    struct CoreNote: Hashable {
        let name: String
        let at: BootInstant
        /// Why the core stops; nil where it starts.
        let reason: String?
        /// The time until which its session was known to exist.
        let leaseEnd: BootInstant

        init(_ name: String, _ reason: StopRequest.Reason?, in group: EtcdGroup) {
            self.name = name
            self.reason = reason?.description
            // The lease first: the note counts as later than it was, never as earlier.
            leaseEnd = group.lease?.end ?? BootInstant(nanoseconds: 0)
            at = SystemClock().now()
        }

        /// Reads a line that another process has printed; nil if it is no note.
        init?(_ line: String) {
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 5, words[0] == "note", let at = UInt64(words[2]), let end = UInt64(words[4]) else {
                return nil
            }
            name = words[1]
            self.at = BootInstant(nanoseconds: at)
            reason = words[3] == "-" ? nil : words[3]
            leaseEnd = BootInstant(nanoseconds: end)
        }

        var line: String { "note \(name) \(at.nanoseconds) \(reason ?? "-") \(leaseEnd.nanoseconds)" }
    }

    /// The notes of the cores of this process, and the ends of its Mains.
    final class CoreNotes: Sendable {
        private let notes = Mutex<[CoreNote]>([])
        private let ends = Mutex<[MainEndReason]>([])

        func write(_ note: CoreNote) { notes.withLock { $0.append(note) } }

        /// Notes why a Main ends.
        func awaitEnd(of main: MainParticipant) {
            Task {
                let end = await main.waitUntilEnded()
                ends.withLock { $0.append(end) }
            }
        }

        var all: [CoreNote] { notes.withLock { $0 } }
        var starts: [CoreNote] { all.filter { $0.reason == nil } }
        var stops: [CoreNote] { all.filter { $0.reason != nil } }
        var end: MainEndReason? { ends.withLock { $0.first } }
    }

    /// A core that writes without a pause, and records when it runs.
    struct NotedCore: Core {
        let group: EtcdGroup
        let write: @Sendable (CoreNote) -> Void

        private var name: String { group.session.name }

        func start(in context: CoreContext) async throws { write(CoreNote(name, nil, in: group)) }

        func iterate(in context: CoreContext) async throws {
            // A write that is under way when the line is cut must not hold up the stop.
            while !Task.isCancelled {
                _ = try? await context.store.put("beat", [1])
                try await Task.sleep(for: .milliseconds(20))
            }
        }

        func stop() async {}

        func stop(_ request: StopRequest) async { write(CoreNote(name, request.reason, in: group)) }
    }

    /// A participant in a process of its own: a Main that takes over, or an Executor with a call.
    ///
    /// Its core runs as soon as it owns. It prints the notes of its core, and continues until it is killed.
    struct Neighbour {
        let process: ChildProcess

        var notes: [CoreNote] { process.lines.compactMap(CoreNote.init) }

        /// - Parameter lease: In seconds.
        init(_ role: SessionRole, of group: String, lease: Int, at place: EtcdCluster) throws {
            process = try ChildProcess(
                OwnProgram.path,
                ["neighbour", role.rawValue, group, "\(lease)"] + place.endpoints.map(\.description))
        }

        /// Joins as the arguments say, and stays until it is killed.
        static func run(_ role: SessionRole, of group: String, lease: Int, at place: EtcdCluster) async throws {
            let handle = try await EtcdGroup.open(
                place, group: group, as: SessionDescription(role: role, name: "near"),
                options: EtcdGroupOptions(lease: .seconds(lease)))
            let core = NotedCore(group: handle) { note in
                print(note.line)
                fflush(nil)
            }
            if role == .main {
                let main = try MainParticipant(of: handle) { core }
                try await main.start(takingOver: true)
                _ = await main.waitUntilEnded()
            } else {
                let executor = try ExecutorParticipant(of: handle) { core }
                guard let callID = CallID("call") else { return }
                while true {
                    // The call may fail because the cluster does not answer, or because a Main owns.
                    _ = try? await executor.message(forCallID: callID, timeout: .seconds(3600))
                    try await Task.sleep(for: .milliseconds(50))
                }
            }
        }
    }
#endif
