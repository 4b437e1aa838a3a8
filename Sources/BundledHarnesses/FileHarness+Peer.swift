internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Glibc
internal import Platform

extension FileHarness {
    /// Plays the second process of a case over files, until the input ends. An address is a directory and how it is
    /// opened: `disk`, `silent` (as if the system said nothing of files), `trial` (of whether it does), `readOnly`. Besides
    /// the commands of the suite there is `compact`, which replaces the journal and answers whether this call did it,
    /// `backup <directory>`, `restore <backup> <directory>`, `actions <place>`, which answers how often a fail point has acted, and `program`, which starts a program that lives until it is killed
    /// and answers with its process id.
    package static func servePeer() async {
        try? BusErrorHandler.install()
        let peer = ConformancePeer(
            arm: { place throws(SharedCoreError) in
                #if FAIL_POINTS
                    FailPoint.arm(place)
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
                #if FAIL_POINTS
                    case "actions": return String(FailPoint.actionCount(of: arguments.first ?? ""))
                #endif
                case "occupy": return String(try occupyDisk(arguments.first ?? ""))
                case "program": return String(try startProgram())
                default: return nil
                }
            },
            open: { address, description throws(SharedCoreError) in
                let words = address.split(separator: " ").map(String.init)
                #if ZMQ
                    if words.first == "zmq" { return try await ZMQHarness.open(words.dropFirst(), as: description) }
                #endif
                #if Etcd
                    if words.first == "etcd" { return try await EtcdHarness.open(words.dropFirst(), as: description) }
                #endif
                var options = FileGroupOptions()
                for word in words.dropFirst() {
                    switch word {
                    case "disk": options.durability = .disk
                    case "silent": options.hearingTrial = .silent
                    case "trial": options.hearingTrial = .always
                    case "readOnly": options.access = .readOnly
                    default: throw SharedCoreError(.invalidArgument, "The peer knows no such option.", at: word)
                    }
                }
                let directory = words.first ?? ""
                return try await FileGroup.open(directory: directory, as: description, options: options)
            })
        await peer.serve()
    }

    /// Takes all the space of a disk that is left, with a file of its own.
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

    /// Starts a program that has no part in anything, and returns when it runs.
    ///
    /// The system ends posix_spawn() before it has closed the files that the program does not inherit: until it has, which
    /// on a busy machine takes a while, the program keeps alive what this process holds. It has when the program writes.
    private static func startProgram() throws(SharedCoreError) -> Int32 {
        try SharedCoreError.wrapping { () throws(SystemCallError) in
            let output = try Pipe()
            var actions = posix_spawn_file_actions_t()
            posix_spawn_file_actions_init(&actions)
            defer { posix_spawn_file_actions_destroy(&actions) }
            posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDWR, 0)
            posix_spawn_file_actions_adddup2(&actions, output.input.descriptor, STDOUT_FILENO)
            let words = ["sh", "-c", "echo && exec sleep 600"]
            var arguments = words.map { strdup($0) } + [nil]
            defer { for pointer in arguments { free(pointer) } }
            var process: Int32 = 0
            let code = posix_spawnp(&process, "sh", &actions, nil, &arguments, environ)
            guard code == 0 else { throw SystemCallError("posix_spawnp", number: code, at: "sh") }
            _ = try output.output.readPart(upTo: 1)
            return process
        }
    }
}
