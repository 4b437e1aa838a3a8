internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Platform

extension FileHarness {
    /// Plays the second process of a case over files, until the input ends. An address is a directory; with `disk:` before
    /// it, commits survive the loss of power. Besides the commands of the suite there is `compact`, which replaces the
    /// journal and answers whether this call did it.
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
                var options = FileGroupOptions()
                var directory = address
                if directory.hasPrefix(diskMark) {
                    directory.removeFirst(diskMark.count)
                    options.durability = .disk
                }
                return try await FileGroup.open(directory: directory, as: description, options: options)
            })
        await peer.serve()
    }

    /// What stands before the directory in the address of a group whose commits survive the loss of power.
    static let diskMark = "disk:"
}
