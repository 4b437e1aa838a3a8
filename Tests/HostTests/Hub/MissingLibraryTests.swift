#if ZMQ
    internal import TestSupport
    internal import Testing

    @Suite("Without libzmq")
    struct MissingLibraryTests {
        @Test("A group in files needs no libzmq, and what needs it says how to install it, with status 78")
        func missing() async throws {
            let program = try HostProgram()
            let ended = try await program.shell(
                """
                library=$(/sbin/ldconfig -p | sed -n 's/.*libzmq\\.so\\.5 .*=> //p' | head -n 1)
                [ -e "$library" ] || exit 9
                export library
                unshare --user --map-root-user --mount bash -c '
                    mount --bind /dev/null "$(readlink -f "$library")" || exit 8
                    sharedcore store put k v && sharedcore store get k && echo "$?"
                    sharedcore store put --backend zmq k v; echo "$?"
                    sharedcore hub --backend zmq; echo "$?"
                    sharedcore config keys; echo "$?"
                    sharedcore backends
                '
                """)
            #expect(ended.status == 0, "\(ended.errors)")
            let lines = ended.output.split(separator: "\n").map(String.init)
            #expect(lines == ["revision 2", "v0", "78", "78", "78", "file", "memory", "zmq"], "\(lines)")
            let told = ended.errors.split(separator: "\n").filter { $0.contains("install it (Debian: libzmq5)") }
            #expect(told.count == 3, "\(ended.errors)")
        }
    }
#endif
