internal import Subprocess
internal import TestSupport
internal import Testing

/// Arguments, variables and directories that are not UTF-8. The shell makes them: `$'\xff'` is the byte 0xff.
@Suite("Arguments at the shell that are not UTF-8 (contract S2)")
struct ArgumentBytesTests {
    @Test(
        "S2: a key, a name, an id or an option that is not UTF-8 is refused with status 64 and shown escaped",
        arguments: [
            #"store put $'k\xff' one"#, #"store get $'k\xff'"#, #"store delete $'k\xff'"#, #"store list $'k\xff'"#,
            #"store put --ttl $'k\xff' k v"#, #"notify post $'k\xff'"#, #"notify state $'k\xff'"#,
            #"mailbox send $'k\xff' 1"#, #"mailbox read a --directory $'k\xff'"#, #"push $'k\xff'"#,
            #"--state-directory $'k\xff' store get k"#, #"--state-directory=$'k\xff' store get k"#,
            #"--group=$'k\xff' status"#,
            #"--config $'k\xff' config show"#, #"check $'k\xff'"#, #"$'k\xff'"#, #"store get k $'--k\xff'"#,
            #"executor --call-id $'k\xff'"#,
        ])
    func refused(arguments: String) async throws {
        let program = try HostProgram()
        let ended = try await program.shell("sharedcore " + arguments)
        #expect(ended.status == 64, "\(ended)")
        #expect(ended.output.isEmpty)
        #expect(ended.errors.contains(#"k\xff"#), "\(ended.errors)")
        #expect(!ended.errors.contains("\u{fffd}") && !ended.errors.contains("\u{0}"))
    }

    @Test("S2: two keys that differ in a byte that is no text are not one")
    func twoKeys() async throws {
        let program = try HostProgram()
        _ = try await program.shell(#"sharedcore store put $'k\xff' one; sharedcore store put $'k\xfe' two"#)
        #expect(try await program.run("store", "put", "k", "v").status == 0)
        #expect(try await program.run("store", "list").output == "k\tv\n")
    }

    @Test("S2: a value is taken byte by byte, and a message that is no text is no JSON")
    func value() async throws {
        let program = try HostProgram()
        let put = try await program.shell(
            #"sharedcore store put k $'\xff\xfe\n' && sharedcore store get k | od -An -tx1"#)
        #expect(put.output.split(separator: "\n").last == " ff fe 0a", "\(put)")
        let dashed = try await program.shell(
            #"sharedcore store put k -- $'-\xff' && sharedcore store get k | od -An -tx1"#)
        #expect(dashed.output.split(separator: "\n").last == " 2d ff", "\(dashed)")
        let sent = try await program.shell(#"sharedcore mailbox send a $'"\xff"'"#)
        #expect(sent.status == 64 && sent.errors.contains("JSON"), "\(sent)")
        #expect(try await program.run("mailbox", "read", "a").status == 1)
    }

    @Test("A command of `exclusive` gets its arguments and its environment byte by byte")
    func command() async throws {
        let program = try HostProgram()
        let ended = try await program.shell(
            #"export OTHER=$'o\xfe'; sharedcore exclusive --role main -- sh -c 'printf %s "$1$OTHER"' sh $'a\xff' "#
                + "| od -An -tx1")
        #expect(ended.output == " 61 ff 6f fe\n", "\(ended)")
        let found = try await program.shell(
            #"printf '#!/bin/sh\necho found\n' > $'c\xff'; chmod +x $'c\xff'; "#
                + #"sharedcore exclusive --role main -- $'./c\xff'"#)
        #expect(found.status == 0 && found.output == "found\n", "\(found)")
        let refused = try await program.shell(#"sharedcore exclusive --role main --name $'k\xff' -- true"#)
        #expect(refused.status == 125 && refused.errors.contains(#"k\xff"#), "\(refused)")
    }

    @Test(
        "A variable that the program reads and that is not UTF-8 is refused with status 78",
        arguments: ["SHAREDCORE_GROUP", "SHAREDCORE_STATE_DIRECTORY", "XDG_STATE_HOME", "HOME"])
    func variable(name: String) async throws {
        let program = try HostProgram()
        let ended = try await program.shell(#"export \#(name)="$PWD/"$'k\xff'; sharedcore store put k v"#)
        #expect(ended.status == 78 && ended.errors.contains(name), "\(ended)")
        #expect(ended.errors.contains(#"k\xff"#))
        #expect(try await program.shell("ls").output.isEmpty)
    }

    @Test("Another variable may have any bytes")
    func otherVariable() async throws {
        let ended = try await HostProgram().shell(#"export OTHER=$'\xff'; sharedcore store put k v"#)
        #expect(ended.status == 0, "\(ended)")
    }

    @Test("A relative path in a directory whose path is not UTF-8 is refused; what needs none works there")
    func directory() async throws {
        let program = try HostProgram()
        let ended = try await program.shell(
            #"mkdir $'d\xff' && cd $'d\xff' && { sharedcore store put k v; sharedcore --state-directory . store put k v; }"#
        )
        #expect(ended.status == 78 && ended.output.hasPrefix("revision "), "\(ended)")
        #expect(ended.errors.contains(#"d\xff"#), "\(ended)")
    }

    @Test(
        "The slim Executor and the keeper refuse arguments that are not UTF-8",
        arguments: [
            #"sharedcore-executor --directory "$PWD/g" --call-id $'k\xff' --timeout-ms 1 --maildir "$PWD/m""#,
            #"sharedcore-executor --directory "$PWD/"$'k\xff' --call-id 1 --timeout-ms 1 --maildir "$PWD/m""#,
            #"sharedcore-keeper --directory "$PWD/"$'k\xff' -- true"#,
            #"sharedcore-keeper --directory "$PWD/g" -- true $'k\xff'"#,
        ])
    func otherPrograms(line: String) async throws {
        let program = try HostProgram()
        let ended = try await program.shell(line)
        #expect(ended.status == 64 && ended.errors.contains(#"k\xff"#), "\(ended)")
        #expect(try await program.shell("ls").output.isEmpty)
    }
}
