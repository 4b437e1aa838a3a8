internal import FoundationEssentials
internal import Testing

@Suite("Completion of command lines")
struct CompletionTests {
    @Test(
        "completion prints the script of a shell, with the options of all commands", arguments: ["bash", "zsh", "fish"])
    func script(shell: String) async throws {
        var program = try HostProgram()
        // A program reads it, in each locale.
        program.environment["LC_ALL"] = "C"
        let ended = try await program.run("completion", shell)
        #expect(ended.status == 0 && ended.errors.isEmpty)
        // With the root and with each command.
        #expect(ended.output.components(separatedBy: "log-level").count > 20)
        for word in ["memory", "critical", "handover.timeout", "executor"] { #expect(ended.output.contains(word)) }
        #expect(shell == "bash" || ended.output.contains("“"), "bash shows no descriptions")
        #expect(try await program.run("--generate-completion-script", shell).output == ended.output)
        #expect(try await program.run("completion", "ksh").status == 64)
    }

    @Test(
        "A command is completed by its other name as well, with its arguments",
        arguments: [("set", "put"), ("del", "delete"), ("ls", "list")])
    func aliases(alias: String, name: String) async throws {
        let program = try HostProgram()
        for shell in ["bash", "zsh", "fish"] {
            let script = try await program.run("completion", shell).output
            for place in ["", "store "] {
                // The program completes the key. It gets the command.
                for word in [name, alias] {
                    #expect(script.contains("---completion \(place)\(word) -- positional@0"), "\(shell)")
                }
            }
        }
        func offered(_ words: String...) async throws -> [String] {
            let line = words.map { "'\($0)'" }.joined(separator: " ")
            let ended = try await program.shell(
                """
                . <(sharedcore completion bash); COMP_WORDS=(sharedcore \(line)); COMP_CWORD=\(words.count)
                COMP_LINE="${COMP_WORDS[*]}"; COMP_POINT=${#COMP_LINE}
                _sharedcore sharedcore "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"; printf '%s\\n' "${COMPREPLY[@]}"
                """)
            return ended.output.split(separator: "\n").map(String.init)
        }
        let beginning = String(alias.dropLast())
        #expect(try await offered(beginning).contains(alias))
        #expect(try await offered("store", beginning).contains(alias))
        #expect(try await offered(alias, "--g") == ["--group"])
        #expect(try await program.run("set", "mail/unread", "1").status == 0)
        #expect(try await offered(alias, "mail/") == ["mail/unread"])
        // The help does not list them as commands of their own.
        #expect(try await !program.run("--help").output.contains("\n  \(alias) "))
    }

    @Test("The script of bash is one that bash takes")
    func bash() async throws {
        let ended = try await HostProgram().shell(". <(sharedcore completion bash) && complete -p sharedcore")
        #expect(ended.status == 0 && ended.output.contains("sharedcore"), "\(ended)")
    }

    @Test("Keys and groups are completed by what is there, and nothing is made or said where there is nothing")
    func values() async throws {
        let program = try HostProgram()
        func completed(_ argument: String, _ words: [String], before command: String) async throws -> [String] {
            let last = words.last ?? ""
            let ended = try await program.run(
                ["---completion", command, "--", argument, String(words.count - 1), String(last.count)] + words)
            #expect(ended.status == 0 && ended.errors.isEmpty, "\(ended)")
            return ended.output.split(separator: "\n").map(String.init)
        }
        let key = ["sharedcore", "get", "--group", "chat", "mail/u"]
        #expect(try await completed("positional@0", key, before: "get") == [])
        #expect(try await program.shell("ls state").output.isEmpty)
        for name in ["mail/unread", "mail/user", "other"] {
            #expect(try await program.run("--group", "chat", "set", name, "1").status == 0)
        }
        #expect(try await completed("positional@0", key, before: "get") == ["mail/unread", "mail/user"])
        let group = ["sharedcore", "status", "--group", ""]
        #expect(try await completed("--group", group, before: "status") == ["chat"])

        // bash expands the completions that it is offered.
        for name in [
            "mail/u$(id)", "mail/u`id`", "mail/u v", "mail/u{a,b}", "mail/u\n$(id)", "mail/u;id", "mail/u\\", "mail/u'",
        ] {
            #expect(try await program.run("--group", "chat", "set", name, "1").status == 0)
        }
        _ = try await program.shell("cp -r state/chat 'state/x$(id)'")
        #expect(try await completed("positional@0", key, before: "get") == ["mail/unread", "mail/user"])
        #expect(try await completed("--group", group, before: "status") == ["chat"])
    }
}
