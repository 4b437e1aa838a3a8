internal import BundledHarnesses
internal import FileCases

// The second process of a test: a participant that is told what to do, a hub, or a case of its own (see `FileTrial`).
// Where it is stopped or killed in the middle of a write, the command `arm` or the environment says (see `FailPoint`),
// and the environment also says what is wrong with it (see `Defect`).
if CommandLine.arguments.dropFirst().first == "hub" {
    await HubProgram.run(Array(CommandLine.arguments.dropFirst(2)))
} else if let trial = FileTrial(CommandLine.arguments) {
    await trial.run()
} else {
    await FileHarness.servePeer()
}
