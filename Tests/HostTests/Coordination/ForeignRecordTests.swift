internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Mailboxes
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import Coordination
@testable internal import SharedCoreHost

/// Each participant can write each record. No content of a record may end a program that reads it, or keep a host from
/// serving.
@Suite("Records that any participant can have written (contract E2)")
struct ForeignRecordTests {
    private static let numbers = [UInt64(Int.max), .max, 0, 1, UInt64(Int.max) - 1, UInt64(Int.max) + 1]
    private static let signed = ["\(Int.min)", "\(UInt64.max)", "1e400", "-1", "\(Int.max)", "\(Int.max - 1)", "0"]

    private func group(of program: HostProgram) async throws -> FileGroup {
        #expect(try await program.run("store", "put", "key", "value").status == 0)
        return try await FileGroup.open(
            directory: program.directory.path(of: "state/sharedcore/default"), as: SessionDescription(name: "stranger"))
    }

    /// Expects that the commands that read the records report or refuse them, and do not end by a signal.
    private func expectReading(_ program: HostProgram) async throws {
        for arguments in [["status"], ["status", "--json"], ["timeline"], ["timeline", "--json"], ["check"]] {
            let ended = try await program.run(arguments)
            #expect([0, 1].contains(ended.status), "\(arguments): \(ended)")
        }
    }

    @Test(
        "The coordination's records with any number are read",
        arguments: TestScope.isCheck ? numbers : Array(numbers.prefix(2)))
    func coordination(number: UInt64) async throws {
        let program = try HostProgram()
        let group = try await group(of: program)
        let own = ProcessIdentity.current
        let process = ProcessIdentity(
            bootID: own.bootID, pid: Int32(truncatingIfNeeded: number), startTime: number)
        let (revision, instant) = (Revision(rawValue: number), BootInstant(nanoseconds: number))
        let duration = Duration.nanoseconds(Int64(clamping: number))
        let path = ".sharedcore/ownership/"
        let owner = OwnerRecord(
            role: .executor, state: .running, name: "n", process: process, since: instant, processNamespace: number)
        let epoch = try await group.put(Key(path + "owner"), owner.bytes).revision
        let handover = HandoverRecord(
            name: "n", askedAt: instant, deadline: duration, takesOverMain: true, isKilling: true, process: process)
        let activity = Activity(
            .custom("n", bound: .seconds(min(number, 3600))), id: "1", begun: instant, expectedEnd: instant)
        let participant = Session(
            id: group.session.id, process: process, role: .executor, name: "n", openedAt: instant)
        let timeline = Timeline(group)
        for kind in TimelineEntry.Kind.allCases {
            var transaction = Transaction()
            let entry = TimelineEntry(
                kind, by: participant, epoch: revision, other: revision, from: .running, to: .stopping,
                previous: PreviousOwnership(epoch: revision, end: .released), bound: duration, reason: "r", at: instant,
                bootID: own.bootID)
            try timeline.append(entry, to: &transaction)
            _ = try await group.commit(transaction)
        }
        for (key, bytes) in [
            (path + "handover", handover.bytes),
            (path + "critical", CriticalRecord(epoch: epoch, bound: duration).bytes),
            (path + "activities", ActivitiesRecord(epoch: epoch, activities: [activity]).bytes),
            (path + "challenge", ChallengeRecord(claim: revision, first: revision).bytes),
            (path + "answer", AnswerRecord(claim: revision, challenge: revision).bytes),
            (path + "refusal", RefusalRecord(epoch: revision, reason: .storageFull, text: "r").bytes),
            (
                MainPushQueue.path + "/x/m",
                MainPushRecord(push: try Push(#require(CallID("c"))), end: instant, bootID: own.bootID).bytes
            ),
            (".sharedcore/tenure", Tenure.encoded(released: revision)),
            (".sharedcore/expectations/x/\(number)", Expectation(bootID: own.bootID, deadline: instant).bytes),
            (".sharedcore/application-states/\(number)", Array("background".utf8)),
        ] {
            _ = try await group.put(Key(key), bytes)
        }
        for field in 0..<4 {
            var checkpoint = ByteWriter()
            checkpoint.byte(2)
            checkpoint.integer(field == 0 ? number : 1)
            checkpoint.integer(field == 1 ? number : 1)
            // No owner, no last epoch, and no cores, epochs, sessions, requests and challenges.
            for _ in 0..<7 { checkpoint.byte(0) }
            for other in 2...3 { checkpoint.integer(field == other ? number : 0) }
            _ = try await group.put(Timeline.checkpointKey, checkpoint.bytes)
            try await expectReading(program)
        }
        await group.close()
    }

    @Test(
        "A host's record with any number is read",
        arguments: TestScope.isCheck ? signed : Array(signed.prefix(3)))
    func hostRecord(number: String) async throws {
        let program = try HostProgram()
        let group = try await group(of: program)
        let fields = ["pid", "limit", "retrying", "warningMs", "budgetMs", "memoryBytes"]
        for field in fields {
            let values = fields.map { "\"\($0)\":\($0 == field ? number : "1")" }.joined(separator: ",")
            let json = "{\(values),\"executors\":[],\"memoryBy\":\"sampled\"}"
            _ = try await group.put(HostRecord.key, Array(json.utf8))
            for arguments in [["status"], ["status", "--json"]] {
                let ended = try await program.run(arguments)
                #expect(ended.status == 0, "\(json) \(ended)")
            }
        }
        await group.close()
    }

    @Test(
        "A keep-alive's record with any number is read",
        arguments: TestScope.isCheck ? signed : Array(signed.prefix(3)))
    func keepAlive(number: String) async throws {
        let program = try HostProgram()
        let group = try await group(of: program)
        let boot = ProcessIdentity.current.bootID
        for place in 0..<6 {
            let numbers = (0..<6).map { $0 == place ? number : "600000000000" }
            let record =
                "keep-alive 1 \(boot.high) \(boot.low)\nhandler \(numbers[0]) \(numbers[1]) \(numbers[2]) h\n"
                + "registration \(numbers[3]) \(numbers[4]) \(numbers[5]) r"
            _ = try await group.put(".sharedcore/keep-alives/main", Array(record.utf8))
            #expect(try await program.run("status").status == 0, "\(record)")
        }
        await group.close()
    }

    @Test(
        "A host serves on with any numbers in its pushes and in the record of a former host",
        arguments: TestScope.isCheck ? signed : Array(signed.prefix(3)))
    func serving(number: String) async throws {
        var program = try HostProgram()
        program.environment["SHAREDCORE_EXECUTOR_COMMAND"] = "/bin/false"
        program.environment["SHAREDCORE_EXECUTOR_ATTEMPTS"] = "1"
        let group = try await group(of: program)
        let record = "{\"pid\":1,\"limit\":\(number),\"executors\":[],\"retrying\":0,\"warningMs\":1,\"budgetMs\":1}"
        _ = try await group.put(HostRecord.key, Array(record.utf8))
        let queue = try QueueMailbox(group, path: ".sharedcore/pushes")
        let boot = ProcessIdentity.current.bootID
        for (failures, received) in [(number, "1"), ("0", number)] {
            let push =
                "{\"callID\":\"c\",\"receivedAt\":\(received),\"failures\":\(failures),\"bootID\":\"\(boot)\"}"
            _ = try await queue.send(Array(push.utf8))
        }
        // Then the record belongs to a session that is over.
        await group.close()
        let ended = try await ServingHost.serve(program) { try await $0.program.untilNoPushWaits() }
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(try await program.pushes()["givenUp"] == .number(2))
    }

    @Test("The record of a host that is over is taken over; that of a session that lives is a host's (status 69)")
    func former() async throws {
        let program = try HostProgram()
        let group = try await group(of: program)
        let record = #"{"pid":1,"limit":1,"executors":[],"retrying":0,"warningMs":1,"budgetMs":1}"#
        _ = try await group.put(HostRecord.key, Array(record.utf8))
        let refused = try await program.run("serve")
        #expect(refused.status == 69 && refused.errors.contains("has a host already: “stranger”"), "\(refused)")
        await group.close()
        try await ServingHost.serve(program) { [program] host in
            let status = try await program.run("status")
            #expect(status.output.contains("host      pid \(host.running.pid),"), "\(status.output)")
            // A record that it publishes later has its own epoch.
            #expect(try await program.run("push", "1@x").status == 0)
            try await host.until("started", of: "1@x")
            #expect(
                !host.running.errors.lines.contains { $0.contains("cannot be used") }, "\(host.running.errors.lines)")
        }
        #expect(try await program.run("status").output.contains("host      none"))
    }

    @Test("No text of a record begins a line of its own")
    func lines() async throws {
        let program = try HostProgram()
        let text = "x\nFORGED "
        let first = try await group(of: program)
        let group = try await FileGroup.open(
            directory: program.directory.path(of: "state/sharedcore/default"),
            as: SessionDescription(role: SessionRole(rawValue: text), name: text))
        let own = ProcessIdentity.current
        let now = SystemClock().now()
        let role = SessionRole(rawValue: text)
        let owner = OwnerRecord(role: role, state: .running, name: text, process: own, since: now)
        let epoch = try await group.put(OwnershipKey.owner, owner.bytes).revision
        let activity = Activity(.custom(text, bound: .seconds(60)), id: text, begun: now)
        _ = try await group.put(
            OwnershipKey.activities, ActivitiesRecord(epoch: epoch, activities: [activity]).bytes)
        let host = #"""
            {"pid":1,"limit":1,"executors":[{"callID":"x\nFORGED ","pid":1}],"retrying":0,"warningMs":1,"budgetMs":1,
            "memoryBytes":1048576,"memoryBy":"x\nFORGED "}
            """#
        _ = try await group.put(HostRecord.key, Array(host.utf8))
        _ = try await group.put(
            Key(".sharedcore/application-states/\(group.session.id)"), Array("background".utf8))
        let participant = Session(id: group.session.id, process: own, role: role, name: text, openedAt: now)
        for kind in TimelineEntry.Kind.allCases {
            var transaction = Transaction()
            try Timeline(group).append(
                TimelineEntry(
                    kind, by: participant, epoch: epoch, other: epoch, from: .running, to: .stopping, previous: nil,
                    bound: nil, reason: text, at: now, bootID: own.bootID), to: &transaction)
            _ = try await group.commit(transaction)
        }
        _ = try await group.put(Key("k" + text), Array(text.utf8))
        var configured = program
        configured.environment["SHAREDCORE_CORE_MAILDIR"] = "/tmp/" + text
        for arguments in [["status"], ["timeline"], ["check"], ["store", "list"], ["config", "show"]] {
            let ended = try await configured.run(arguments)
            #expect(ended.output.contains("FORGED") || arguments == ["check"], "\(arguments): \(ended)")
            let lines = (ended.output + ended.errors).split(separator: "\n")
            #expect(!lines.contains { $0.hasPrefix("FORGED") }, "\(arguments): \(lines)")
        }
        await group.close()
        await first.close()
    }
}

@Suite("How long a busy owner may go on (contract C17)")
struct BusyOwnerTests {
    private let process = ProcessIdentity.current
    private let now = BootInstant(nanoseconds: 1_000_000_000_000)

    private func activity(begun: BootInstant) -> Activity {
        Activity(.custom("work", bound: .seconds(10)), id: "1", begun: begun)
    }

    @Test("Of several bounds the last one counts, and only those of the owner")
    func bound() {
        var owner = BusyOwner()
        owner.note([activity(begun: now), Activity(.transfer, id: "2", begun: now)], of: process)
        #expect(owner.latestEnd(of: process) == now.advanced(by: .seconds(600)))
        #expect(owner.latestEnd(of: ProcessIdentity(bootID: process.bootID, pid: 1, startTime: 0)) == nil)
        owner.note([], of: process)
        #expect(owner.latestEnd(of: process) == nil)
    }

    @Test("Only an open call of the owner itself is one")
    func call() {
        var owner = BusyOwner()
        owner.note([Activity(.call, id: "1", begun: now)], of: process)
        #expect(owner.isInCall(process))
        #expect(!owner.isInCall(ProcessIdentity(bootID: process.bootID, pid: 1, startTime: 0)))
        owner.note([activity(begun: now)], of: process)
        #expect(!owner.isInCall(process))
        owner.note([], of: nil)
        #expect(!owner.isInCall(process) && owner.latestEnd(of: process) == nil)
    }
}
