package import CoreAPI
internal import CoreAPITesting
internal import Foundation
internal import Platform

extension ProcessIdentity {
    /// The children of a process, those of all its threads.
    package static func children(of pid: Int32) -> [ProcessIdentity] {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? []
        return threads.flatMap { thread -> [ProcessIdentity] in
            // A thread may have ended.
            guard let file = try? OpenFile(path: "/proc/\(pid)/task/\(thread)/children", .read),
                let bytes = try? file.read(count: 4 << 10, at: 0)
            else { return [] }
            return String(decoding: bytes, as: UTF8.self).split(separator: " ")
                .compactMap { Int32($0).flatMap { ProcessIdentity(of: $0) } }
        }
    }

    /// Waits until a process has a child that is stopped.
    package static func stoppedChild(of pid: Int32) async throws -> ProcessIdentity {
        var child: ProcessIdentity?
        try await eventually("process \(pid) has a child that is stopped", timeout: TestTimeout.long) {
            child = children(of: pid).first { $0.isStopped == true }
            return child != nil
        }
        guard let child else { throw ProcessUnreachable.dead }
        return child
    }
}
