/// How soon news follows news. A frame wakes every client, which takes the machine time that the clients of a burst have
/// better use for: so the more there are, the more is told at once. What comes after a rest is told without delay, and
/// whoever asks is answered without delay.
struct NewsPace {
    /// What a frame costs for each client.
    var forEach = Duration.microseconds(30)
    /// Less is not worth waiting for.
    var least = Duration.milliseconds(1)
    var most = Duration.milliseconds(5)

    /// How long after a frame the next one follows, for so many clients.
    func pause(forClients count: Int) -> Duration {
        let pause = forEach * count
        return pause < least ? .zero : min(pause, most)
    }
}
