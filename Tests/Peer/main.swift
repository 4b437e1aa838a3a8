internal import BundledHarnesses
internal import FileCases

// The second process of a test over files. Where it is stopped or killed in the middle of a write, the command `arm` or
// the environment says (see `FailPoint`), and the environment also says what is wrong with it (see `Defect`). With
// arguments it is a case of its own (see `FileTrial`).
if let trial = FileTrial(CommandLine.arguments) {
    await trial.run()
} else {
    await FileHarness.servePeer()
}
