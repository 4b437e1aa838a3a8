/// A measurement and its rivals.
struct Figure: Sendable {
    /// Takes the samples of one round.
    typealias Measurement = @Sendable () async throws -> [Double]

    /// A rival of the figure.
    struct Rival: Sendable {
        let name: String
        /// The most rounds that it takes part in.
        var rounds = Int.max
        /// True for a rival that takes long and mostly waits: it is measured while the other figures are.
        var isSlow = false
        let measure: Measurement
    }

    /// The error for a rival that is not installed here, so that there is nothing to measure.
    struct Absence: Error {
        let reason: String
    }

    let name: String
    let unit: String
    let rounds: Int
    let own: Measurement
    var limit: Rival?
    var peers: [Rival] = []
    /// Further measurements beside it, such as the same at other sizes: there a ratio tells how much it has grown.
    var beside: [Rival] = []
    /// Ends the processes that were started for the measurement.
    var end: @Sendable () async -> Void = {}
}
