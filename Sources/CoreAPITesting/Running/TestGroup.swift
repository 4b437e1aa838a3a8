package import CoreAPI

/// One group of the backend under test, with the handles that a case has opened in it.
package final class TestGroup: Sendable {
    private let group: any ConformanceGroup
    unowned let context: CaseContext
    private let handles = Box<[any SharedGroup]>([])
    private let hasEnded = Box(false)

    init(_ group: any ConformanceGroup, in context: CaseContext) {
        self.group = group
        self.context = context
    }

    /// Opens one more handle: a participant with a session of its own.
    package func open(
        _ name: String = "case", role: SessionRole = .tool, requiring requirements: Requirements = .none
    ) async throws(SharedCoreError) -> any SharedGroup {
        let handle = try await group.open(SessionDescription(role: role, name: name), requiring: requirements)
        handles.update { $0.append(handle) }
        return handle
    }

    /// Opens a reader, which is no participant.
    package func openToRead(_ name: String = "reader") async throws -> any SharedGroup {
        let reader = try await group.openToRead(SessionDescription(role: .tool, name: name))
        handles.update { $0.append(reader) }
        return reader
    }

    /// Opens several handles.
    package func open(count: Int) async throws(SharedCoreError) -> [any SharedGroup] {
        var opened: [any SharedGroup] = []
        for number in 0..<count { opened.append(try await open("case \(number)")) }
        return opened
    }

    /// Closes every handle that was opened here.
    package func closeAll() async {
        let open = handles.update { handles in
            defer { handles = [] }
            return handles
        }
        for handle in open { await handle.close() }
    }

    /// Releases the references to the opened handles, so that only the case has references to them.
    package func letGo() {
        handles.update { $0 = [] }
    }

    /// Ends a handle as the death of its process would.
    package func kill(_ handle: any SharedGroup) async throws { try await group.simulateKill(of: handle) }

    /// Stops a handle as a stop of its process would.
    package func stop(_ handle: any SharedGroup) async throws { try await group.simulateStop(of: handle) }

    /// Continues a handle.
    package func `continue`(_ handle: any SharedGroup) async throws { try await group.simulateContinue(of: handle) }

    /// Holds back all data between a handle and the server.
    package func cut(_ handle: any SharedGroup) async throws { try await group.cut(handle) }

    /// Delivers the data that was held back.
    package func mend(_ handle: any SharedGroup) async throws { try await group.mend(handle) }

    /// Delays all data to a handle.
    package func delay(_ handle: any SharedGroup, by time: Duration) async throws {
        try await group.delay(handle, by: time)
    }

    /// Kills the server and starts it again.
    package func restartServer() async throws { try await group.restartServer() }

    /// Fills the server's storage.
    package func fillServer() async throws { try await group.fillServer() }

    /// Frees the server's storage.
    package func emptyServer() async throws { try await group.emptyServer() }

    /// Starts a second process, which joins the group.
    package func join(arming place: String? = nil) async throws -> Peer {
        let peer = try await Peer.start(by: context.harness, noting: { [weak context] in context?.note($0) })
        if let place { try await peer.tell("arm \(place)") }
        try await peer.tell("open \(group.address)")
        return peer
    }

    /// Starts several processes, which join the group.
    package func join(count: Int) async throws -> [Peer] {
        var peers: [Peer] = []
        for _ in 0..<count { peers.append(try await join()) }
        return peers
    }

    /// Starts a second process that has not joined yet.
    package func peer() async throws -> Peer {
        try await Peer.start(by: context.harness, noting: { [weak context] in context?.note($0) })
    }

    /// Starts several processes that have not joined yet.
    func peers(count: Int) async throws -> [Peer] {
        var peers: [Peer] = []
        for _ in 0..<count { peers.append(try await peer()) }
        return peers
    }

    /// The address by which a second process finds the group.
    package var address: String { group.address }

    /// Returns the files of the group.
    ///
    /// - Throws: ``HarnessLimitation`` for a group without files.
    func files() throws -> GroupFiles {
        guard let directory = group.directory else {
            throw HarnessLimitation("a group of this backend has no files, or the harness names no directory")
        }
        return GroupFiles(directory: directory)
    }

    /// Closes all handles and removes the group, once.
    func end() async {
        let isFirst = hasEnded.update { hasEnded in
            defer { hasEnded = true }
            return !hasEnded
        }
        guard isFirst else { return }
        await closeAll()
        await group.remove()
    }
}

extension TestGroup {
    /// Ends the case unless a new process, which only knows the address, finds a text under a key.
    package func expectNewcomer(finds text: String, under key: Key) async throws {
        let newcomer = try await join()
        try expect(try await newcomer.tell("get \(key)"), is: "value \(text)", "what a newcomer finds under \(key)")
    }
}

extension SharedStore {
    /// Returns the value under a key as text; nil if there is none.
    package func text(_ key: Key) async throws(SharedCoreError) -> String? {
        try await get(key).map { String(decoding: $0.value, as: UTF8.self) }
    }

    /// Sets the value of a key to a text.
    @discardableResult
    package func put(
        _ key: Key, text: String, lifetime: Lifetime = .persistent
    ) async throws(SharedCoreError) -> Revision {
        try await put(key, Array(text.utf8), lifetime: lifetime).revision
    }
}
