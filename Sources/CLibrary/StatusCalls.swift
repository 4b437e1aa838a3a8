// The names of functions are those of the header.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import CSharedCore
internal import Coordination
internal import CoreAPI
internal import Platform

extension Block {
    fileprivate mutating func process(_ process: ProcessIdentity) -> sc_process {
        sc_process(
            boot_id: text(process.bootID.description), start_time: process.startTime, pid: process.pid, reserved: 0)
    }

    /// The bytes of a boot id, which has 32 digits.
    fileprivate static let bootIDByteCount = 33
}

/// Returns the bytes of texts in a block.
private func byteCount(_ texts: String...) -> Int { texts.reduce(0) { $0 + $1.utf8.count + 1 } }

private func group(_ handle: UInt64) throws(Failure) -> any SharedStore {
    try Handles.find(handle, as: GroupObject.self).store
}

// MARK: - Status

@c @implementation public func sc_status(
    _ group: UInt64, _ status: UnsafeMutablePointer<UnsafePointer<sc_group_status>?>?,
    _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let result = try required(status, "status")
        result.pointee = nil
        let store = try CLibrary.group(group)
        let status = try wait { () async throws(SharedCoreError) in
            let sessions = try await store.sessions().sorted { $0.id < $1.id }
            return GroupStatus(
                sessions: sessions, ownership: try await OwnershipStatus.current(in: store),
                calls: try await Calls(store).list(), pushes: try await PushCount.current(in: store))
        }
        result.pointee = status.placed()
        return Answer.ok
    }
}

@c @implementation public func sc_status_free(_ status: UnsafeMutablePointer<UnsafePointer<sc_group_status>?>?) {
    guard !ForkedChild.isCurrent else { return }
    Block.free(at: status)
}

/// The sessions and the ownership of a group, its calls and its pushes.
private struct GroupStatus: Sendable {
    let sessions: [Session]
    let ownership: OwnershipStatus
    let calls: [Call]
    let pushes: PushCount

    private var size: Int {
        var size = MemoryLayout<sc_group_status>.stride
        for session in sessions {
            size += MemoryLayout<sc_session_info>.stride + MemoryLayout<Int>.stride + Block.bootIDByteCount
            size += byteCount(session.role.rawValue, session.name)
        }
        if let owner = ownership.owner {
            size += MemoryLayout<sc_owner>.stride + Block.bootIDByteCount + byteCount(owner.role.rawValue, owner.name)
        }
        if let request = ownership.request {
            size += MemoryLayout<sc_asked>.stride + Block.bootIDByteCount + byteCount(request.name)
        }
        if let rest = ownership.resting {
            size += MemoryLayout<sc_rest_info>.stride + 2 * Block.bootIDByteCount + byteCount(rest.name)
            size += rest.wake.map { byteCount($0.description) } ?? 0
        }
        for activity in ownership.activities {
            size += MemoryLayout<sc_activity_info>.stride + MemoryLayout<Int>.stride
            size += byteCount(activity.kind.name, activity.id)
        }
        return size
    }

    /// Returns the status as the C structure `sc_group_status`, at the start of one allocated block, which
    /// `sc_status_free` frees.
    func placed() -> UnsafePointer<sc_group_status> {
        let activities = ownership.activities
        var block = Block(size: size)
        let status = block.array(of: sc_group_status.self, count: 1)
        let (sessionPlaces, sessionPointers) = block.pointed(sc_session_info.self, count: sessions.count)
        let (activityPlaces, activityPointers) = block.pointed(sc_activity_info.self, count: activities.count)
        let ownerPlace = ownership.owner.map { _ in block.array(of: sc_owner.self, count: 1) }
        let askedPlace = ownership.request.map { _ in block.array(of: sc_asked.self, count: 1) }
        let restPlace = ownership.resting.map { _ in block.array(of: sc_rest_info.self, count: 1) }
        for (index, session) in sessions.enumerated() {
            sessionPlaces[index] = sc_session_info(
                size: MemoryLayout<sc_session_info>.size, session: session.id.rawValue,
                role: block.text(session.role.rawValue), name: block.text(session.name),
                process: block.process(session.process), since: session.openedAt.milliseconds)
        }
        for (index, activity) in activities.enumerated() {
            activityPlaces[index] = sc_activity_info(
                size: MemoryLayout<sc_activity_info>.size, kind: block.text(activity.kind.name),
                id: block.text(activity.id), begun: activity.begun.milliseconds,
                expected_end: activity.expectedEnd?.milliseconds ?? -1, latest_end: activity.latestEnd.milliseconds)
        }
        if let owner = ownership.owner {
            ownerPlace?.pointee = sc_owner(
                size: MemoryLayout<sc_owner>.size, session: owner.session.rawValue, epoch: owner.epoch.rawValue,
                role: block.text(owner.role.rawValue), name: block.text(owner.name),
                process: block.process(owner.process), since: owner.since.milliseconds, state: owner.state.number,
                reserved: 0)
        }
        if let request = ownership.request {
            askedPlace?.pointee = sc_asked(
                size: MemoryLayout<sc_asked>.size, session: request.session.rawValue, name: block.text(request.name),
                process: block.process(request.process), since: request.askedAt.milliseconds,
                takes_over: request.takesOver ? 1 : 0, insists: request.insists ? 1 : 0)
        }
        if let rest = ownership.resting {
            restPlace?.pointee = sc_rest_info(
                size: MemoryLayout<sc_rest_info>.size, session: rest.session.rawValue, epoch: rest.epoch.rawValue,
                name: block.text(rest.name), process: block.process(rest.process), holder: block.process(rest.holder),
                wake: rest.wake.map { block.text($0.description) })
        }
        let openCallCount = calls.count(where: \.isOpen)
        status.pointee = sc_group_status(
            size: MemoryLayout<sc_group_status>.size, sessions: sessionPointers, session_count: sessions.count,
            revision: ownership.revision.rawValue, owner: UnsafePointer(ownerPlace),
            asked: UnsafePointer(askedPlace), activities: activityPointers, activity_count: activities.count,
            rest: UnsafePointer(restPlace), open_call_count: UInt64(openCallCount),
            moving_call_count: UInt64(calls.count(where: \.isMoving)),
            ended_call_count: UInt64(calls.count - openCallCount), waiting_push_count: UInt64(pushes.waiting),
            taken_push_count: UInt64(pushes.taken), given_up_push_count: UInt64(pushes.givenUp),
            main_push_count: UInt64(pushes.forMain))
        return UnsafePointer(status)
    }
}

extension OwnerState {
    fileprivate var number: Int32 {
        switch self {
        case .starting: Int32(SC_OWNER_STARTING)
        case .running: Int32(SC_OWNER_RUNNING)
        case .stopping: Int32(SC_OWNER_STOPPING)
        }
    }
}

// MARK: - The timeline

@c @implementation public func sc_timeline(
    _ group: UInt64, _ after: UInt64, _ limit: Int, _ page: UnsafeMutablePointer<UnsafePointer<sc_timeline_page>?>?,
    _ error: UnsafeMutablePointer<sc_error>?
) -> Int32 {
    boundary(error) { () throws(Failure) in
        let result = try required(page, "page")
        result.pointee = nil
        let timeline = Timeline(try CLibrary.group(group))
        let limit = try pageLimit(limit)
        let page = try wait { () async throws(SharedCoreError) in
            try await timeline.page(after: Revision(rawValue: after), limit: limit)
        }
        result.pointee = page.placed()
        return Answer.ok
    }
}

@c @implementation public func sc_timeline_page_free(
    _ page: UnsafeMutablePointer<UnsafePointer<sc_timeline_page>?>?
) {
    guard !ForkedChild.isCurrent else { return }
    Block.free(at: page)
}

extension TimelinePage {
    /// Returns the page as the structure of the header, at the beginning of a block of its own.
    fileprivate func placed() -> UnsafePointer<sc_timeline_page> {
        let texts = records.map { EntryTexts($0.entry) }
        let stride = MemoryLayout<sc_timeline_entry>.stride + MemoryLayout<Int>.stride
        var block = Block(
            size: texts.reduce(MemoryLayout<sc_timeline_page>.stride) { $0 + stride + $1.byteCount })
        let page = block.array(of: sc_timeline_page.self, count: 1)
        let (entries, pointers) = block.pointed(sc_timeline_entry.self, count: records.count)
        for (index, (record, texts)) in zip(records, texts).enumerated() {
            entries[index] = block.entry(record, texts)
        }
        page.pointee = sc_timeline_page(
            size: MemoryLayout<sc_timeline_page>.size, entries: pointers, count: records.count,
            next: next?.rawValue ?? 0, dropped_count: UInt64(clamping: history.checkpoint?.droppedCount ?? 0),
            dropped_through: history.checkpoint?.through.rawValue ?? 0,
            damaged_count: UInt64(clamping: history.damages.count))
        return UnsafePointer(page)
    }
}

/// The texts of an entry of the timeline.
private struct EntryTexts {
    let event: String
    let sentence: String
    let role: String
    let name: String
    let reason: String
    let previousEnd: String?

    init(_ entry: TimelineEntry) {
        event = "\(entry.kind)"
        sentence = entry.describe()
        role = entry.role.rawValue
        name = entry.name
        reason = entry.reason
        previousEnd = entry.previous.map { "\($0.end)" }
    }

    var byteCount: Int {
        Block.bootIDByteCount + CLibrary.byteCount(event, sentence, role, name, reason)
            + (previousEnd.map { $0.utf8.count + 1 } ?? 0)
    }
}

extension Block {
    fileprivate mutating func entry(_ record: TimelineRecord, _ texts: EntryTexts) -> sc_timeline_entry {
        let entry = record.entry
        return sc_timeline_entry(
            size: MemoryLayout<sc_timeline_entry>.size, revision: record.revision.rawValue, event: text(texts.event),
            sentence: text(texts.sentence), session: entry.participant.rawValue, role: text(texts.role),
            name: text(texts.name),
            process: process(ProcessIdentity(bootID: entry.bootID, pid: entry.pid, startTime: 0)),
            at: entry.at.milliseconds, epoch: entry.epoch?.rawValue ?? 0, other: entry.other?.rawValue ?? 0,
            previous_epoch: entry.previous?.epoch.rawValue ?? 0, previous_end: texts.previousEnd.map { text($0) },
            reason: text(texts.reason), bound: entry.bound.map { Int64(clamping: $0.wholeMilliseconds) } ?? -1,
            from: entry.from?.number ?? 0, to: entry.to?.number ?? 0)
    }
}
