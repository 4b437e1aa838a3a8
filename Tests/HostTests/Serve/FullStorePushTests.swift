internal import BackendRegistry
internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import TestSupport
internal import Testing

@Suite("Pushes while the group takes no content", .timeLimit(.minutes(10)))
struct FullStorePushTests {
    /// The full resource, and the way to free space again.
    enum Fault: String, CaseIterable, Sendable {
        case disk
        case store

        /// In a mount of its own; the store is filled from here. Both are filled by one process: one for each value
        /// takes a minute.
        var fill: String {
            switch self {
            case .disk:
                """
                dd if=/dev/zero of=state/sharedcore/filler bs=4k 2> /dev/null
                {
                    echo "open $PWD/state/sharedcore/default"
                    for size in $(seq 3000 -600 600) 200 50 10 1; do echo "fillUp $size"; done
                } | sharedcore-test-peer > filled
                """
            case .store: ": > filled; until [ -e full ]; do sleep 0.1; done"
            }
        }

        var end: String {
            switch self {
            case .disk: "rm state/sharedcore/filler"
            case .store: "{ sharedcore store delete fill1 && sharedcore store delete fill2; } > /dev/null"
            }
        }
    }

    /// The process that runs the core.
    enum Owner: String, CaseIterable, Sendable {
        case executor
        case main
    }

    private static func script(_ fault: Fault, _ owner: Owner) -> String {
        """
        mkdir -p state/sharedcore Maildir/new Maildir/cur Maildir/tmp run && chmod 700 run && export XDG_RUNTIME_DIR=$PWD/run
        \(fault == .disk ? "mount -t tmpfs -o size=4m,mode=700 none state/sharedcore || exit 9" : "chmod 700 state/sharedcore")
        distinct() { grep "\\"$1\\"" events 2> /dev/null | grep -o 'A.@x' | sort -u | wc -l; }
        sharedcore exclusive --role main -- true
        if [ \(owner) = main ]; then
            sharedcore main > main.out 2> main.err & main=$!
            until grep -q "owns the core" main.out; do sleep 0.1; done
        fi
        for id in A1@x A2@x A3@x; do sharedcore push $id > /dev/null; done
        \(fault.fill)
        for id in A1@x A2@x A3@x; do
            printf 'From: alice@x\\r\\nTo: c@d\\r\\nMessage-ID: <%s>\\r\\nSubject: s\\r\\n\\r\\nbody of %s\\r\\n' $id $id > Maildir/tmp/$id
            mv Maildir/tmp/$id Maildir/new/$id
        done
        sharedcore --json serve > events 2> errors & host=$!
        until [ $(distinct postponed) = 3 ] || [ $(distinct served) -gt 0 ]; do sleep 0.1; done
        echo "postponed $(distinct postponed), served $(distinct served), warnings $(grep -c 'waits and is tried again' errors)"
        \(fault.end)
        until [ $(distinct served) = 3 ]; do sleep 0.1; done
        echo "told $(grep -o 'body of A.' errors | sort -u | wc -l), in new $(ls Maildir/new | wc -l)"
        kill $host $main
        wait
        """
    }

    @Test(
        "P10, S10: a push whose message cannot be stored stays until there is room, and then its message is told",
        // The disk is filled under a Main, the store under an Executor, and in a check each under both.
        arguments: zip(Fault.allCases, Owner.allCases.reversed()).map { ($0, $1) }
            + (TestScope.isCheck ? zip(Fault.allCases, Owner.allCases).map { ($0, $1) } : []))
    func staysUntilRoom(fault: Fault, owner: Owner) async throws {
        let program = try HostProgram()
        try program.write(
            """
            alerts: log
            core:
              maildir: \(program.directory.path(of: "Maildir"))
            executor:
              budget: 24s
              warning: 20s
              retryDelay: 100ms
            """, to: "sharedcore.yaml")
        try program.write(Self.script(fault, owner), to: "script.sh")
        let unshare = geteuid() == 0 ? "unshare --mount" : "unshare --user --map-root-user --mount"
        async let running = program.shell("\(unshare) bash script.sh")
        if fault == .store { try await fill(program) }
        let ended = try await running
        #expect(
            ended.output == "postponed 3, served 0, warnings 1\ntold 3, in new 0\n", "\(ended.output) \(ended.errors)")
    }
    /// Fills the program's group up to its limit, when the script is ready for it.
    private func fill(_ program: HostProgram) async throws {
        let directory = program.directory
        try await eventually("the pushes wait", timeout: TestTimeout.long) {
            access(directory.path(of: "filled"), F_OK) == 0
        }
        let group = try await BackendRegistry.bundled().open(
            BackendConfiguration(
                backend: "file", group: "default", stateDirectory: directory.path(of: "state/sharedcore")))
        var count = 0
        for size in [1_048_576, 500_000, 100_000, 20_000, 4_000, 1_000, 200, 50, 10, 1] {
            do throws(SharedCoreError) {
                while true {
                    try await group.put(Key("fill\(count)"), [UInt8](repeating: 0, count: size))
                    count += 1
                }
            } catch {
                #expect(error.code == .limitExceeded)
            }
        }
        await group.close()
        try program.write("", to: "full")
    }
}
