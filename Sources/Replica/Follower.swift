/// Is told that an order has gone on. Letting go of it ends it.
package final class Follower: Sendable {
    private let stop: @Sendable () -> Void

    init(stop: @escaping @Sendable () -> Void) {
        self.stop = stop
    }

    deinit {
        stop()
    }
}
