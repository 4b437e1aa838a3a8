internal import SharedCoreConfiguration
internal import Testing

@testable internal import SharedCoreHost

@Suite("Paths in the configuration")
struct PathTests {
    private func resolution(
        flags: [String: String] = [:], environment: [String: String] = [:], file: String = "",
        at path: String = "c.yaml"
    ) throws -> Resolution {
        Resolution(
            flags: flags, environment: environment,
            file: try ConfigurationFile(path: path, content: Array(file.utf8)), workingDirectory: "/place")
    }

    @Test("Groups lie in XDG_STATE_HOME, else in the home's .local/state")
    func defaultDirectory() throws {
        #expect(
            try resolution(environment: ["XDG_STATE_HOME": "/state", "HOME": "/home/u"]).groupDirectory()
                == "/state/sharedcore/default")
        #expect(
            try resolution(environment: ["HOME": "/home/u"]).groupDirectory()
                == "/home/u/.local/state/sharedcore/default")
        #expect(
            try resolution(environment: ["XDG_STATE_HOME": "relative", "HOME": "/home/u"]).stateDirectory()
                == "/home/u/.local/state/sharedcore")
        #expect(throws: ConfigurationFailure.self) { try resolution().groupDirectory() }
    }

    @Test("A relative path starts from the working directory, in a file from the file's directory")
    func relative() throws {
        #expect(try resolution(flags: ["stateDirectory": "a/../b"]).stateDirectory() == "/place/b")
        #expect(
            try resolution(file: "stateDirectory: groups", at: "/etc/app/c.yaml").stateDirectory() == "/etc/app/groups")
        #expect(
            try resolution(file: "stateDirectory: groups", at: "sub/c.yaml").stateDirectory() == "/place/sub/groups")
        #expect(
            try resolution(environment: ["HOME": "/home/u"], file: "stateDirectory: ~/g").stateDirectory()
                == "/home/u/g")
    }

    @Test("The core's Maildir is in the group's directory unless configured")
    func maildir() throws {
        #expect(try resolution(flags: ["stateDirectory": "/groups", "group": "a"]).maildir() == "/groups/a/Maildir")
        #expect(try resolution(file: "core: {maildir: /mail}").maildir() == "/mail")
    }

    @Test(
        "A group's name never leaves the directory of groups",
        arguments: ["", ".", "..", "../a", "a/b", "/a", "a\u{0}b", "-a", ".a", "ä", String(repeating: "a", count: 65)])
    func badNames(name: String) throws {
        let failure = #expect(throws: ConfigurationFailure.self) {
            try resolution(flags: ["group": name, "stateDirectory": "/g"]).groupDirectory()
        }
        #expect(failure?.description.contains("--group: group is “\(name)”") == true)
    }

    @Test("Plain names are valid for groups", arguments: ["a", "chat.v2", "A_b-c", String(repeating: "a", count: 64)])
    func goodNames(name: String) throws {
        #expect(try resolution(flags: ["group": name, "stateDirectory": "/g"]).groupDirectory() == "/g/" + name)
    }
}
