internal import BundledHarnesses
internal import FileCases
internal import Glibc
internal import Platform

// The second process of a test: a participant that takes commands, a hub, or a case of its own (see `FileTrial`).
// The command `arm` or the environment says where it is stopped or killed in the middle of a write (see `FailPoint`),
// and the environment also names its defect (see `Defect`).
if CommandLine.arguments.dropFirst().first == "busError" {
    // An application with a handler of its own, which gets the bus errors that are not the package's.
    signal(SIGBUS) { _ in _exit(7) }
    try BusErrorHandler.install()
    let file = try OpenFile(path: CommandLine.arguments[2], .createNew)
    let page = mmap(nil, 4096, PROT_READ, MAP_SHARED, file.descriptor, 0)
    print(page?.load(as: UInt8.self) ?? 0)
} else if CommandLine.arguments.dropFirst().first == "hub" {
    await HubProgram.run(Array(CommandLine.arguments.dropFirst(2)))
} else if CommandLine.arguments.dropFirst().first == "busy" {
    await BusyExecutor.run(Array(CommandLine.arguments.dropFirst(2)))
} else if CommandLine.arguments.dropFirst().first == "loop" {
    await LoopProgram.run(Array(CommandLine.arguments.dropFirst(2)))
} else if CommandLine.arguments.dropFirst().first == "call" {
    await CallProgram.run(Array(CommandLine.arguments.dropFirst(2)))
} else if CommandLine.arguments.dropFirst().first == "rest" {
    await RestProgram.run(Array(CommandLine.arguments.dropFirst(2)))
} else if CommandLine.arguments.dropFirst().first == "batonHost" {
    await BatonHostProgram.run(Array(CommandLine.arguments.dropFirst(2)))
} else if CommandLine.arguments.dropFirst().first == "foreign" {
    await ForeignProgram.run(Array(CommandLine.arguments.dropFirst(2)))
} else if CommandLine.arguments.dropFirst().first == "routingNames" {
    var names = RoutingNames(Array(CommandLine.arguments.dropFirst(2)))
    names?.run()
} else if let trial = FileTrial(CommandLine.arguments) {
    await trial.run()
} else {
    await FileHarness.servePeer()
}
