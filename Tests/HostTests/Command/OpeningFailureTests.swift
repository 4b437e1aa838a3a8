internal import CoreAPI
internal import Platform
internal import ProgramOutput
internal import SharedCoreConfiguration
internal import TestSupport
internal import Testing

@testable internal import SharedCoreHost

@Suite("The message of a command about a group that cannot be opened")
struct OpeningFailureTests {
    private static let resolution = Resolution(flags: [:], environment: [:], file: nil, workingDirectory: "/place")

    @Test("An opening that was interrupted is no fault of a setting")
    func interrupted() throws {
        let failure = try CommandFailure.opening(
            SharedCoreError(.cancelled, "It was cancelled.", at: "groups"), with: Self.resolution)
        #expect(failure == CommandFailure(.no, "interrupted"))
    }

    @Test("A setting that nothing gives is named as such")
    func byDefault() throws {
        let failure = try CommandFailure.opening(
            SharedCoreError(.unavailable, "It is away.", at: "groups"), with: Self.resolution)
        let sentence = "stateDirectory is not set, so it has its default: the group “default” cannot be opened there: "
        #expect(try #require(failure.message).hasPrefix(sentence))
    }

    @Test("A refusal of the system names the owner and the mode of the nearest directory, and this user")
    func permissions() throws {
        let directory = try TemporaryDirectory()
        let refusal = SystemCallError(
            "mkdir", number: SystemCallError.Number.accessDenied, at: directory.path + "/absent/group")
        let error = SharedCoreError(refusal)
        let status = try FileStatus(behindPath: directory.path)
        #expect(
            error.message.hasPrefix(
                "\(directory.path) has owner \(status.owner), group \(status.group) and mode 700, and this is user "),
            "\(error)")
    }

    @Test("The failure to create a directory repeats neither the path of the group nor the text of the system")
    func absentParent() throws {
        let resolution = Resolution(
            flags: ["stateDirectory": "/proc/x"], environment: [:], file: nil, workingDirectory: "/place")
        let refusal = SystemCallError("mkdir", number: 2, at: "/proc/x/default")
        let message = try #require(try CommandFailure.opening(SharedCoreError(refusal), with: resolution).message)
        #expect(message.ranges(of: "/proc/x").count == 1, "\(message)")
        #expect(message.ranges(of: "o such file").count == 1, "\(message)")
    }

    @Test("The failure for a bundled backend that the build does not have names its trait")
    func withoutTrait() {
        let resolution = Resolution(
            flags: ["backend": "etcd"], environment: [:], file: nil, workingDirectory: "/place")
        let failure = #expect(throws: ConfigurationFailure.self) {
            try resolution.checkBackend(among: ["file", "memory"])
        }
        #expect(failure?.code == .unsupported)
        #expect(
            failure?.sentence
                == "There is no backend “etcd” here; there is file, memory. The trait “Etcd” of the package SharedCore "
                + "brings it: enable the trait, and build again.")
    }
}
