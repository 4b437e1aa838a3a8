internal import CoreAPI

extension CaseContext {
    /// Plays a story of Mains and Executors in a fresh group, and judges it at its end by the timeline and the witness.
    ///
    /// - Parameter superseded: How many cores at least run beside a newer one that has superseded them; nil when none may.
    package func withTroupe(
        _ settings: GroupSettings = GroupSettings(), superseded: Int? = nil,
        _ body: (Troupe) async throws -> Void
    ) async throws {
        try await withGroup(settings) { group in
            let server = try SharedServer.make()
            defer { server.remove() }
            let troupe = try await Troupe(in: group, at: server, by: harness, clock: settings.clock)
            try await body(troupe)
            try await troupe.judge(superseded: superseded)
        }
    }
}
