internal import Coordination
internal import CoreAPI
internal import FileNotifyBackend
internal import Platform
package import ProgramOutput
internal import SharedCoreConfiguration

/// Documents about all groups in the directory of the shown group, and about the memory of processes.
extension GroupReports {
    /// The maximum number of groups in a document. Each is opened for it.
    private static let groupCount = 100
    /// How long opening one of them may take.
    private static let timeout = Duration.seconds(2)

    /// Returns the groups in the directory of the shown one, by name: `groups[] more`. Each group has `name isShown
    /// journals{count,bytes,diskBytes} sessions error`, and `revision owner asked host pushes store` as `status --json`
    /// prints them. For a group that cannot be read, `error` has the reason, and the fields of `status` are left out.
    /// The list is empty if the shown group is not in files of this machine.
    package nonisolated func groups() async throws(Failure) -> JSONObject {
        do {
            guard let own = try context.presentDirectoryOfFiles() else {
                return ["groups": .array([]), "more": .flag(false)]
            }
            let (parent, ownName) = Directory.parts(of: own)
            let names = try Directory(path: parent).names().filter {
                !FileGroup.journals(in: parent + "/" + $0).isEmpty
            }
            .sorted()
            var rows: [JSONValue] = []
            for name in names.prefix(Self.groupCount) {
                rows.append(.object(await row(of: name, in: parent, isShown: name == ownName)))
            }
            return ["groups": .array(rows), "more": .flag(rows.count < names.count)]
        } catch let failure as CommandFailure {
            throw Failure(cause: failure, isInvalid: false)
        } catch let error as SharedCoreError {
            throw Failure(cause: CommandFailure(error), isInvalid: false)
        } catch {
            throw Failure(cause: CommandFailure(.unavailable, "\(error)"), isInvalid: false)
        }
    }

    private nonisolated func row(of name: String, in parent: String, isShown: Bool) async -> JSONObject {
        var row: JSONObject = [
            "name": .text(name), "isShown": .flag(isShown),
            "journals": .object(JournalTotal(of: parent + "/" + name).json),
        ]
        do {
            let overview = try await overview(of: name, isShown: isShown)
            row.append("sessions", .integer(Int64(overview.sessions.count)))
            row.append("error", .null)
            let shown: Set = ["revision", "owner", "asked", "host", "pushes", "store"]
            for (name, value) in overview.json.members where shown.contains(name) { row.append(name, value) }
        } catch {
            row.append("sessions", .null)
            row.append("error", .text(Self.sentence(of: error)))
        }
        return row
    }

    private static func sentence(of error: any Error) -> String {
        switch error {
        case let failure as Failure: failure.message
        case let error as SharedCoreError: error.sentence
        default: "\(error)"
        }
    }

    private nonisolated func overview(of name: String, isShown: Bool) async throws -> StatusOverview {
        if isShown { return try await overview() }
        // A hub serves only one group, so read the files of the other groups directly. This is possible while a hub
        // serves them.
        let context = context.with([Settings.group.name: name, Settings.backend.name: "file"])
        let group = try await context.openToRead(
            for: "web", until: CommandDeadline(after: Self.timeout, by: context.clock))
        return try await group.closing { try await StatusOverview(of: group, in: context) }
    }

    /// Returns the private memory of the hub of this machine, and of each process with a session, with its children:
    /// `hub{pid,bytes} processes[]{pid,bytes} more`. A process of another machine, or one that cannot be seen, is left
    /// out.
    package func memory() async throws(Failure) -> JSONObject {
        try await read { group, context in
            let hub = try context.servingHub()?.pid.flatMap { ProcessIdentity(of: $0) }
            var seen: Set<ProcessIdentity> = []
            let processes = try await group.sessions().map(\.process).filter { seen.insert($0).inserted }
            let listed = processes.prefix(Self.pageCount).compactMap { Self.memory(of: $0) }
            return [
                "hub": hub.flatMap { Self.memory(of: $0) } ?? .null, "processes": .array(Array(listed)),
                "more": .flag(processes.count > Self.pageCount),
            ]
        }
    }

    private static func memory(of process: ProcessIdentity) -> JSONValue? {
        guard process.liveness == .alive, let byteCount = ProcessMemory.ownByteCount(of: process) else { return nil }
        return .object(["pid": .integer(Int64(process.pid)), "bytes": .natural(byteCount)])
    }
}
