package import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Glibc
internal import Platform

extension FileHarness {
    /// Acts as the second process of a case over files, until the input ends. An address is a directory and how it is
    /// opened: `disk`, `silent` (as if the system reported no file events), `trial` (tests whether it does),
    /// `readOnly`.
    ///
    /// Besides the commands of the suite there are:
    ///
    /// - `compact`: replaces the journal, and answers whether this call did it
    /// - `backup <directory>`, `restore <backup> <directory>`
    /// - `strikes <name>`: answers how often an armed fault has acted
    /// - `program`: starts a program that lives until it is killed, and answers with its process id
    /// - `unread`: sends a child more than a socket holds, and answers how much arrived
    /// - `inherited`: answers with the descriptors that a child has
    /// - `absent`: starts a program that does not exist
    /// - `reaped`: answers what the handle of a child reports after the kernel has reaped it, if this process ignores
    ///   SIGCHLD
    ///
    /// - Parameter openOther: Opens the group at an address of another backend, which begins with a word that this
    ///   harness does not know. Returns nil for an address of files.
    package static func servePeer(
        opening openOther:
            @escaping @Sendable (_ words: [String], SessionDescription) async throws(SharedCoreError) ->
            (any SharedGroup)? = { _, _ in nil }
    ) async {
        try? BusErrorHandler.install()
        let peer = ConformancePeer(
            arm: { place throws(SharedCoreError) in
                #if FAIL_POINTS
                    FailPoint.armOnly(place)
                #else
                    throw SharedCoreError(.unsupported, "Fail points exist in debug builds only.", at: place)
                #endif
            },
            others: { command, arguments, group throws(SharedCoreError) in
                switch command {
                case "compact":
                    guard let group = group as? FileGroup else { return nil }
                    return try await group.compactNow() ? "true" : "false"
                case "backup":
                    guard let group = group as? FileGroup else { return nil }
                    return try await group.backUp(to: arguments.first ?? "").revision.description
                case "restore":
                    let backup = try SalvagedGroup(readingFrom: arguments.first ?? "")
                    return try FileGroup.restore(backup, into: arguments.last ?? "").revision.description
                case "occupy": return String(try occupyDisk(arguments.first ?? ""))
                #if FAIL_POINTS
                    case "strikes": return String(FailPoint.strikeCount(of: arguments.first ?? ""))
                #endif
                case "program": return try startProgram()
                case "unread": return try await sendUnread()
                case "inherited": return try await inheritedDescriptors()
                case "absent": return try startAbsent()
                case "reaped": return try await handleOfReaped()
                default: return nil
                }
            },
            open: { address, description throws(SharedCoreError) in
                let words = address.split(separator: " ").map(String.init)
                #if ZMQ
                    if words.first == "zmq" { return try await ZMQHarness.open(words.dropFirst(), as: description) }
                #endif
                if words.first == "plugin" { return try await PluginHarness.open(words.dropFirst(), as: description) }
                #if Etcd
                    if words.first == "etcd" { return try await EtcdHarness.open(words.dropFirst(), as: description) }
                #endif
                if let group = try await openOther(words, description) { return group }
                var options = FileGroupOptions()
                for word in words.dropFirst() {
                    switch word {
                    case "disk": options.durability = .disk
                    case "silent": options.wakeUpTrial = .silent
                    case "trial": options.wakeUpTrial = .always
                    case "readOnly": options.access = .readOnly
                    default: throw SharedCoreError(.invalidArgument, "The peer knows no such option.", at: word)
                    }
                }
                let directory = words.first ?? ""
                return try await FileGroup.open(directory: directory, as: description, options: options)
            })
        await peer.serve()
    }

    /// Fills the rest of a disk with a file.
    private static func occupyDisk(_ path: String) throws(SharedCoreError) -> Int {
        try SharedCoreError.wrapping { () throws(SystemCallError) in
            let file = try OpenFile(path: path, .createNew)
            var end = 0
            var step = 1 << 20
            while step >= 4096 {
                do throws(SystemCallError) {
                    try file.allocate(end..<end + step)
                    end += step
                } catch {
                    guard error.isStorageFull else { throw error }
                    step /= 2
                }
            }
            return end
        }
    }

    /// Starts an unrelated program, and returns its process id when it runs.
    ///
    /// `popen` starts it: it passes on every descriptor that is not closed on exec, which ``StartedProgram`` does not.
    /// When the program writes its line, the kernel has closed all descriptors that are closed on exec.
    private static func startProgram() throws(SharedCoreError) -> String {
        // The output is not closed, because pclose(3) would wait for the end of the program.
        guard let output = popen("echo $$ && exec sleep 600 < /dev/null > /dev/null", "r") else {
            throw SharedCoreError(SystemCallError("popen", number: errno, at: "sh"))
        }
        var line = [CChar](repeating: 0, count: 32)
        fgets(&line, Int32(line.count), output)
        return String(decoding: line.prefix { $0 > 32 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func sendUnread() async throws(SharedCoreError) -> String {
        let child: ChildProcess
        do throws(SystemCallError) {
            child = try await ChildProcess.start("wc", ["-c"], input: true)
            for number in 0..<4 { try child.send(String(repeating: "\(number)", count: 1_000_000)) }
        } catch {
            throw SharedCoreError(error)
        }
        child.closeInput()
        _ = await child.end()
        return child.lines.joined(separator: " ")
    }

    private static func inheritedDescriptors() async throws(SharedCoreError) -> String {
        let child = try SharedCoreError.wrapping { () throws(SystemCallError) in
            // Without close-on-exec, as descriptors of other libraries may be.
            let open = [5, 100, 700].map { fcntl(STDIN_FILENO, F_DUPFD, Int32($0)) }
            defer { for descriptor in open { close(descriptor) } }
            return try ChildProcess("sh", ["-c", "echo $(ls /proc/self/fd)"])
        }
        _ = await child.end()
        return child.lines.joined(separator: " ")
    }

    private static func startAbsent() throws(SharedCoreError) -> String {
        try SharedCoreError.wrapping { () throws(SystemCallError) in
            String(try ChildProcess("/no/such/program", []).pid)
        }
    }

    /// Returns four words: `true` if the handle of a reaped child reports its end, `true` if a signal reaches the
    /// child, its status, and the start time of a handle with a number that belongs to another process.
    private static func handleOfReaped() async throws(SharedCoreError) -> String {
        let program = try SharedCoreError.wrapping { () throws(SystemCallError) in
            try StartedProgram("/bin/true", [], streams: [])
        }
        let deadline = ContinuousClock.now.advanced(by: .seconds(30))
        while kill(program.pid, 0) == 0, ContinuousClock.now < deadline {
            try? await Task.sleep(for: .milliseconds(5))
        }
        return try SharedCoreError.wrapping { () throws(SystemCallError) in
            let status = try program.waitForEnd(until: .now) ?? 0
            let file = try OpenFile(duplicating: program.handle.descriptor)
            let reused = try ProcessHandle(owning: try file.duplicate(), ofChild: getpid())
            return [
                "\(program.handle.hasEnded)", "\(try program.handle.signal(.kill))", "\(status)",
                "\(reused.identity.startTime)",
            ].joined(separator: " ")
        }
    }
}
