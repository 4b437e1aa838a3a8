internal import CoreAPI
internal import ProgramOutput
internal import SharedCoreConfiguration
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
}
