internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Platform

extension FileHarness {
    /// Plays the second process of a case over files, until the input ends. An address is a directory and how it is
    /// opened: `disk`, `silent` (as if the system said nothing of files), `trial` (of whether it does), `readOnly`. Besides
    /// the commands of the suite there is `compact`, which replaces the journal and answers whether this call did it.
    package static func servePeer() async {
        let peer = ConformancePeer(
            arm: { place throws(SharedCoreError) in
                #if FAIL_POINTS
                    FailPoint.arm(place)
                #else
                    throw SharedCoreError(.unsupported, "Fail points exist in debug builds only.", at: place)
                #endif
            },
            others: { command, _, group throws(SharedCoreError) in
                guard command == "compact", let group = group as? FileGroup else { return nil }
                return try await group.compactNow() ? "true" : "false"
            },
            open: { address, description throws(SharedCoreError) in
                let words = address.split(separator: " ").map(String.init)
                #if ZMQ
                    if words.first == "zmq" { return try await ZMQHarness.open(words.dropFirst(), as: description) }
                #endif
                var options = FileGroupOptions()
                for word in words.dropFirst() {
                    switch word {
                    case "disk": options.durability = .disk
                    case "silent": options.hearingTrial = .silent
                    case "trial": options.hearingTrial = .always
                    case "readOnly": options.access = .readOnly
                    default: throw SharedCoreError(.invalidArgument, "The peer knows no such option.", at: word)
                    }
                }
                let directory = words.first ?? ""
                return try await FileGroup.open(directory: directory, as: description, options: options)
            })
        await peer.serve()
    }
}
