internal import ArgumentParser
internal import CoreAPI
internal import Wormholes

/// What every command about mailboxes is given.
struct MailboxOptions: ParsableArguments {
    @Option(help: "The wormhole's directory; each has mailboxes of its own.")
    var directory: String?

    func wormhole(in group: any SharedGroup) -> Wormhole {
        Wormhole(group, directory: directory)
    }
}
