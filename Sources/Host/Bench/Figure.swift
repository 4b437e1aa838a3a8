/// One thing that is measured, and what it is compared with.
struct Figure: Sendable {
    /// Takes one sample.
    typealias Measurement = @Sendable () async throws -> Double

    /// What the figure is compared with.
    struct Rival: Sendable {
        let name: String
        /// How many samples are taken at most.
        var rounds = Int.max
        /// Whether one takes so long, and waits so much, that it is taken beside the others.
        var isSlow = false
        let measure: Measurement
    }

    let name: String
    let unit: String
    let rounds: Int
    let own: Measurement
    var limit: Rival?
    var peers: [Rival] = []
}
