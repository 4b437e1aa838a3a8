import CoreAPI
import Glibc
import LogBackend
import Synchronization

/// A place in an append at which this process stops or kills itself, once.
enum FaultPlace {
    private static let armed = Mutex("")

    static func arm(_ place: String) { armed.withLock { $0 = place } }

    static func pass(_ name: String) {
        let fault = armed.withLock { armed in
            defer { if armed.hasPrefix(name + ":") { armed = "" } }
            return armed
        }
        if fault == name + ":stop" { raise(SIGSTOP) }
        if fault == name + ":kill" { raise(SIGKILL) }
    }
}

/// Passes the calls on, and the places before and behind an append.
struct LogWithFaults: SharedLog {
    let log: any SharedLog

    init(_ log: any SharedLog) { self.log = log }

    var lease: SessionLease? { log.lease }

    func append(_ record: [UInt8], at position: UInt64) async throws(SharedCoreError) -> Bool {
        FaultPlace.pass("append")
        let isAppended = try await log.append(record, at: position)
        FaultPlace.pass("appended")
        return isAppended
    }

    func read(from position: UInt64, limit: Int) async throws(SharedCoreError) -> LogSlice {
        try await log.read(from: position, limit: limit)
    }

    func received(from position: UInt64) async -> [[UInt8]] { await log.received(from: position) }

    func wait(after position: UInt64) async throws(SharedCoreError) { try await log.wait(after: position) }

    func compact(_ snapshot: [[UInt8]], before position: UInt64) async throws(SharedCoreError) {
        try await log.compact(snapshot, before: position)
    }

    func hold(_ session: SessionID) async throws(SharedCoreError) { try await log.hold(session) }

    func ended(among sessions: [Session]) async throws(SharedCoreError) -> [SessionID]? {
        try await log.ended(among: sessions)
    }

    func close() async { await log.close() }
}
