package import CoreAPI

extension TimelineHistory {
    /// The epochs that were taken over from, or whose core was given up: their cores may run on.
    package var supersededEpochs: Set<Revision> {
        var epochs: Set<Revision> = []
        for record in records {
            switch record.entry.kind {
            case .tookOver: if let epoch = record.entry.previous?.epoch { epochs.insert(epoch) }
            case .coreGivenUp: if let epoch = record.entry.epoch { epochs.insert(epoch) }
            default: break
            }
        }
        return epochs
    }

    /// The process that acquired an epoch, without its start time; nil when the timeline has forgotten.
    package func process(of epoch: Revision) -> ProcessIdentity? {
        let acquisition = records.first { record in
            record.entry.epoch == epoch && [.acquired, .tookOver].contains(record.entry.kind)
        }
        return acquisition.map { ProcessIdentity(bootID: $0.entry.bootID, pid: $0.entry.pid, startTime: 0) }
    }
}
