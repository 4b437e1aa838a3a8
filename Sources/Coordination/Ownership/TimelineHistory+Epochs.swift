package import CoreAPI

extension TimelineHistory {
    /// The epochs that were taken over from, or whose core was given up: their cores may run on.
    package var supersededEpochs: Set<Revision> {
        var epochs = Set(checkpoint?.ledger.superseded ?? [])
        for record in records {
            switch record.entry.kind {
            case .tookOver: if let epoch = record.entry.previous?.epoch { epochs.insert(epoch) }
            case .coreGivenUp: if let epoch = record.entry.epoch { epochs.insert(epoch) }
            default: break
            }
        }
        return epochs
    }

    /// The process that acquired an epoch, without its start time; nil for one that the timeline does not know.
    package func process(of epoch: Revision) -> ProcessIdentity? {
        let told = records.first { $0.entry.epoch == epoch }
        return told?.entry.process ?? checkpoint?.ledger.cores[epoch]?.process
    }
}
