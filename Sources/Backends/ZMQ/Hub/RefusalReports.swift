internal import CoreAPI

/// Chooses the refusals that the hub reports: the first of each connection, and at most ten in a second, so that a
/// flood of connections does not fill the log.
struct RefusalReports {
    /// Connections with a reported refusal.
    private var reported: Set<HubAddress> = []
    private var second = BootInstant(nanoseconds: 0)
    private var count = 0
    private var silentCount = 0

    /// More connections than can be open at once, unless the descriptor limit was raised.
    static let connectionLimit = 20_000
    static let limitPerSecond = 10

    /// Returns the report of a refusal, if there is one. It says how many others were not reported since the last
    /// report.
    mutating func report(_ error: SharedCoreError, to address: HubAddress, at now: BootInstant) -> SharedCoreError? {
        guard reported.insert(address).inserted else { return nil }
        // Ended connections cannot be distinguished from open ones, so all are removed together.
        if reported.count > Self.connectionLimit { reported = [address] }
        if second.duration(to: now) >= .seconds(1) { (second, count) = (now, 0) }
        count += 1
        guard count <= Self.limitPerSecond else {
            silentCount += 1
            return nil
        }
        guard silentCount > 0 else { return error }
        defer { silentCount = 0 }
        return SharedCoreError(
            error.code, "\(error.message) \(silentCount) other connections were refused before it.",
            at: error.location, cause: error.cause)
    }

    mutating func forget(_ address: HubAddress) { reported.remove(address) }
}
