internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine

/// Tells the clients of every recorded change.
extension HubService {
    /// How many effects are sent together when requests arrive faster than they are answered. Answers carry as many.
    static let updatesLimit = 16
    /// How long a recorded change may wait for others, when requests arrive without a pause.
    static let updatesDelay = Duration.milliseconds(50)

    /// Sends recorded changes; a little later when more requests wait.
    func publishNewsSoon() {
        if !intake.isEmpty, !FailPoint.fails("hub.batch") {
            let recorded = order.replica.read { $0.revision }
            guard recorded > published else { return }
            if recorded.rawValue &- published.rawValue < UInt64(Self.updatesLimit) {
                return publishUpdates(by: runningClock.now().advanced(by: Self.updatesDelay))
            }
        }
        publishUpdates()
    }

    /// Sends all subscribers the changes recorded since the last time, now or as soon as the pace allows.
    func publishUpdates() {
        guard !isStopped else { return }
        let earliest = lastNews.advanced(by: pace.pause(forClients: clients.count))
        if runningClock.now() >= earliest {
            tellNews()
        } else if order.replica.read({ $0.revision }) > published {
            publishUpdates(by: earliest)
        }
    }

    private func publishUpdates(by time: BootInstant) {
        nextUpdates = min(nextUpdates ?? time, time)
    }

    func publishDueNews() {
        guard let due = nextUpdates, due <= runningClock.now() else { return }
        tellNews()
    }

    private func tellNews() {
        nextUpdates = nil
        while true {
            let updates: Updates?
            do throws(SharedCoreError) {
                updates = try order.replica.read { state throws(SharedCoreError) -> Updates? in
                    guard state.revision > published else { return nil }
                    return try state.updates(after: published, upTo: Self.streamByteLimit)
                        ?? Updates(after: state.revision)
                }
            } catch {
                // These effects cannot be read now. The clients request them later.
                published = order.replica.read { $0.revision }
                return publishGap()
            }
            guard let updates else { return }
            guard let last = updates.last else {
                // There are too many changes to send, so every client must request them.
                published = updates.after
                return publishGap()
            }
            beaconPause = Self.beaconInterval
            published = last
            lastNews = runningClock.now()
            // Only the revision of a large update is sent: the library would keep each such message for a subscriber
            // that does not read.
            guard updates.effects.reduce(0, { $0 + $1.count }) <= Self.streamByteLimit else {
                publishGap()
                continue
            }
            publish(updates)
            nextBeacon = lastNews.advanced(by: Self.beaconDelay)
        }
    }

    /// Announces changes without sending them: each client requests them.
    private func publishGap() {
        publish(Updates(after: published))
        nextBeacon = runningClock.now().advanced(by: Self.beaconDelay)
    }

    private func publish(_ updates: Updates) {
        if !FailPoint.fails("hub.publish") { publish(.updates(updates, incarnation: incarnation)) }
    }

    /// The largest update that is sent whole.
    static let streamByteLimit = 64 << 10

    private func publish(_ message: StreamMessage) {
        let bytes = message.bytes
        heap.use(bytes.count, at: runningClock.now())
        for hubListener in hubListeners { _ = hubListener.stream.send([bytes]) }
    }

    func sendBeacon() {
        guard let due = nextBeacon, due <= runningClock.now() else { return }
        if !FailPoint.fails("hub.beacon") { publish(.beacon(published, incarnation: incarnation)) }
        nextBeacon = clients.isEmpty ? nil : runningClock.now().advanced(by: beaconPause)
        beaconPause = min(beaconPause * 2, Self.longestBeaconInterval)
    }

    /// Handles a subscription: echoes the client's own mark; the client receives everything that is published after it.
    func answerSubscription(_ message: IncomingMessage, at hubListener: HubEndpointListener) {
        guard let frame = message.frames.first, frame.count == 2 + StreamMessage.armedByteCount, frame[0] == 1,
            frame[1] == StreamMessage.armedTopic
        else { return }
        if FailPoint.fails("hub.echo") { return }
        _ = hubListener.stream.send([StreamMessage.armed(Array(frame.dropFirst(2))).bytes])
    }
}

/// The pace at which updates follow each other. A frame wakes every client, and the clients of a burst need that
/// processor time themselves: so the more clients there are, the more changes are sent together. The first update after
/// a pause, and answers, are sent without delay.
struct UpdatePace {
    /// The cost of a frame for each client.
    var forEach = Duration.microseconds(30)
    /// Shorter pauses are not worth waiting for.
    var least = Duration.milliseconds(1)
    var most = Duration.milliseconds(5)

    /// Returns the time from a frame to the next one, for a number of clients.
    func pause(forClients count: Int) -> Duration {
        let pause = forEach * count
        return pause < least ? .zero : min(pause, most)
    }
}
