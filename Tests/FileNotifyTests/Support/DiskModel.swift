internal import CoreAPI
internal import CoreAPITesting
internal import Platform

/// A disk that surely keeps only synced data. It replays the changes of a directory, and returns the content that may
/// be left when the power fails.
///
/// It writes pages out in any order, each whole, and names in the order in which they were given, as a file system with a
/// journal of its own does.
struct DiskModel {
    private struct Unsynced {
        let number: Int
        let change: DiskImage.Change
    }

    private var present = DiskImage()
    private var durable = DiskImage()
    private var unsynced: [Unsynced] = []
    /// The last change before the sync of each file began.
    private var syncs: [UInt64: Int] = [:]
    private var lastNumber = 0

    /// The content without any change that was not synced.
    var lost: DiskImage { durable }

    /// All of it.
    var kept: DiskImage { present }

    /// Any part of it, however long ago it was done.
    func torn(_ random: inout SeededRandom) -> DiskImage {
        image(of: unsynced, over: durable) { _ in !random.once(in: 3) }
    }

    /// Every image that a disk may leave which holds all but the last `window` changes, and any of these.
    func reorderings(within window: Int) -> some Sequence<DiskImage> {
        let last = Array(unsynced.suffix(window))
        let before = image(of: unsynced.dropLast(window), over: durable) { _ in true }
        return (0..<UInt64(1) << last.count).lazy.map { choice in
            image(of: last, over: before) { choice >> $0 & 1 == 1 }
        }
    }

    /// - Parameter isThere: Returns true if the change at a place of the list reached the disk.
    private func image(
        of changes: some Sequence<Unsynced>, over base: DiskImage, where isThere: (Int) -> Bool
    ) -> DiskImage {
        var image = base
        var isNameLost = false
        for (place, unsynced) in changes.enumerated() {
            let isLost = !isThere(place)
            if unsynced.change.file == nil { isNameLost = isNameLost || isLost }
            if isLost || unsynced.change.file == nil && isNameLost { continue }
            image.apply(unsynced.change)
        }
        return image
    }

    // MARK: - Playing

    mutating func apply(_ event: FileTrace.Event) {
        switch event {
        case .created(let name, let file):
            guard present.names[name] != file else { return }
            // A number that was used before means another file now.
            present.forget(file)
            durable.forget(file)
            unsynced.removeAll { $0.change.file == file }
            note(.named(name, file: file))
        case .madeUnnamed(let file):
            present.forget(file)
            durable.forget(file)
            unsynced.removeAll { $0.change.file == file }
        case .linked(let name, let file): note(.named(name, file: file))
        case .wrote(let file, let offset, let bytes):
            for page in present.pages(of: file, writing: bytes, at: offset) { note(.page(page)) }
        case .extended(let file, let byteCount): note(.extended(file: file, byteCount: byteCount))
        case .syncBegan(let file): syncs[file] = lastNumber
        case .syncEnded(let file):
            guard let last = syncs.removeValue(forKey: file) else { return }
            settle { $0.change.file == file && $0.number <= last }
        case .renamed(let old, let new): note(.renamed(old, to: new))
        case .removed(let name): note(.removed(name))
        case .namesSynced: settle { $0.change.file == nil }
        case .mark: break
        }
    }

    private mutating func note(_ change: DiskImage.Change) {
        lastNumber += 1
        present.apply(change)
        unsynced.append(Unsynced(number: lastNumber, change: change))
    }

    private mutating func settle(_ isSettled: (Unsynced) -> Bool) {
        for unsynced in unsynced where isSettled(unsynced) { durable.apply(unsynced.change) }
        unsynced.removeAll(where: isSettled)
    }
}
