internal import ArgumentParser
internal import BundledHarnesses
internal import Glibc

/// The second process of a conformance case. Started by `conformance`, not by people.
struct ConformancePeerCommand: AsyncParsableCommand {
    static let name = "conformance-peer"
    static let configuration = CommandConfiguration(commandName: name, shouldDisplay: false)

    func run() async {
        // What the terminal sends to the whole foreground is for `conformance`, which ends its peers.
        signal(SIGINT, SIG_IGN)
        await FileHarness.servePeer()
    }
}
