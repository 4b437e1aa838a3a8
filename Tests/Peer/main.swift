internal import BundledHarnesses

// The second process of a test: a participant that is told what to do, or a hub. Where it is stopped or killed in the
// middle of a write, the command `arm` or the environment says (see `FailPoint`).
if CommandLine.arguments.dropFirst().first == "hub" {
    await HubProcess.run(Array(CommandLine.arguments.dropFirst(2)))
} else {
    await FileHarness.servePeer()
}
