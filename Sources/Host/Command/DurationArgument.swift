internal import ArgumentParser

/// A duration on the command line, such as `250ms`.
struct DurationArgument: ExpressibleByArgument, Hashable, Sendable {
    let duration: Duration

    init?(argument: String) {
        guard let duration = DurationText.parse(argument), duration > .zero else { return nil }
        self.duration = duration
    }
}
