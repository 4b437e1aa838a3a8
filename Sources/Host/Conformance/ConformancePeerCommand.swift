internal import ArgumentParser
internal import BundledHarnesses

/// The second process of a conformance case. Started by `conformance`, not by people.
struct ConformancePeerCommand: AsyncParsableCommand {
    static let name = "conformance-peer"
    static let configuration = CommandConfiguration(commandName: name, shouldDisplay: false)

    func run() async {
        await FileHarness.servePeer()
    }
}
