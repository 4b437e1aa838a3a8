internal import CoreAPI

/// What the hub tells of refusals: the first of each connection, and no more in a second than a log can bear, however many
/// connections a stranger makes.
struct RefusalReports {
    /// Connections of which a refusal was reported.
    private var reported: Set<HubAddress> = []
    private var second = BootInstant(nanoseconds: 0)
    private var count = 0
    private var silentCount = 0

    /// More than can be open at once, unless the system was told to allow more.
    static let connectionLimit = 20_000
    static let limitPerSecond = 10

    /// The report of a refusal, if there is one. It says how many others were not reported since the last one.
    mutating func report(_ error: SharedCoreError, to address: HubAddress, at now: BootInstant) -> SharedCoreError? {
        guard reported.insert(address).inserted else { return nil }
        // Connections that are gone are not told from those that are there: they are forgotten all together.
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
