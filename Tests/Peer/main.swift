internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Platform

// The second process of a test over files. An address is a directory; with "disk:" before it, commits survive the loss
// of power. Where the process is stopped or killed in the middle of a write, `arm` or the environment says (see
// `FailPoint`); `compact` replaces the journal and answers whether this call did it.

let peer = ConformancePeer(
    arm: { place throws(SharedCoreError) in
        #if FAIL_POINTS
            FailPoint.arm(place)
        #else
            throw SharedCoreError(.unsupported, "Fail points exist in debug builds only.", at: "peer")
        #endif
    },
    others: { command, _, group throws(SharedCoreError) in
        guard command == "compact", let group = group as? FileGroup else { return nil }
        return try await group.compactNow() ? "true" : "false"
    },
    open: { address, description throws(SharedCoreError) in
        var options = FileGroupOptions()
        var directory = address
        if directory.hasPrefix("disk:") {
            directory.removeFirst(5)
            options.durability = .disk
        }
        return try await FileGroup.open(directory: directory, as: description, options: options)
    })
await peer.serve()
