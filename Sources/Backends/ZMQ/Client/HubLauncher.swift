internal import CoreAPI
internal import Platform

/// Starts a hub where none is, so that nobody has to think of it.
public struct HubLauncher: Hashable, Sendable {
    /// The absolute path of the program that starts a hub, such as `sharedcore`.
    public var program: String
    /// What it is given, such as `hub` and `--detach`.
    ///
    /// The program ends with status 0 when a hub answers that is no child of the caller's and has none of its descriptors;
    /// otherwise with another status, as programs of this package use them, and a message on standard error. It is killed
    /// when it has not ended after 45 s, and counts as one that failed.
    public var arguments: [String]
    /// What its environment has more or otherwise than the caller's.
    public var variables: [String: String]
    /// The variables of the caller's environment that it gets, by their names; nil for all of them.
    public var inherited: Set<String>?

    public init(
        program: String, arguments: [String], variables: [String: String] = [:], inherited: Set<String>? = nil
    ) {
        self.program = program
        self.arguments = arguments
        self.variables = variables
        self.inherited = inherited
    }

    /// How long a client that joins waits before it looks whether its hub is still there.
    private static let watchPause = Duration.milliseconds(250)
    /// How long whoever waits for another's start lets pass before it looks again.
    private static let pause = Duration.milliseconds(20)
    /// How long a client at most lets pass between two attempts to replace a hub that was killed.
    private static let longestReplacementPause = Duration.seconds(5)

    /// Starts the program when no hub has the endpoint, and returns when a hub answers. As a replacement, also returns when
    /// the last hub was told to end. Hubs are started for sockets of this machine only: an endpoint with a host names a
    /// hub that is there.
    ///
    /// - Parameter isReplacement: Starts a hub only where the last one was killed.
    /// - Throws: What kept the hub from starting, ``SharedCoreError/Code/unavailable`` at the timeout.
    func launch(
        at endpoint: HubEndpoint, timeout: Duration?, asReplacement isReplacement: Bool = false
    ) async throws(SharedCoreError) {
        guard case .ipc(let path) = endpoint else { return }
        let clock = SystemClock()
        let began = clock.now()
        let start = HubStart(path: path, launcher: self, isReplacement: isReplacement, since: began)
        // What blocks has a thread of its own. Whoever gives up leaves it to itself.
        let thread = SerialThread(name: "sc-hub-start")
        let (steps, sender) = AsyncStream.makeStream(of: Result<HubStart.Step, SharedCoreError>.self)
        let deadline = timeout.map { began.advanced(by: $0) }
        let timer = deadline.map { deadline in
            Task {
                try? await clock.sleep(until: deadline)
                sender.finish()
            }
        }
        defer { timer?.cancel() }
        var iterator = steps.makeAsyncIterator()
        // Nothing is begun for whoever does not wait any more.
        while !Task.isCancelled, deadline.map({ clock.now() < $0 }) ?? true {
            thread.submit {
                do throws(SharedCoreError) {
                    sender.yield(.success(try start.step()))
                } catch {
                    sender.yield(.failure(error))
                }
            }
            guard let step = await iterator.next() else { break }
            if try step.get() != .looksOn { return }
            guard (try? await Task.sleep(for: Self.pause)) != nil else { break }
        }
        if Task.isCancelled { throw .cancelled("open") }
        throw SharedCoreError(
            .unavailable, "The hub was not there in time. Its log is in \(path).log.", at: "\(endpoint)")
    }

    /// Starts another hub whenever there is none, until cancelled: for a client that joins, whose hub may end before it
    /// has answered, as one does that was just killed and still has its lock.
    func keepLaunched(at endpoint: HubEndpoint) async {
        while (try? await Task.sleep(for: Self.watchPause)) != nil {
            // What keeps it from starting is heard by those who come next.
            try? await launch(at: endpoint, timeout: nil)
        }
    }

    /// Starts another hub in the place of one that was killed, until cancelled: for a client that has lost its hub. A
    /// hub that was told to end stays ended.
    ///
    /// - Parameter report: Called with each error that keeps the new hub from starting.
    func replaceKilledHub(at endpoint: HubEndpoint, report: (SharedCoreError) async -> Void) async {
        guard case .ipc(let path) = endpoint else { return }
        let thread = SerialThread(name: "sc-hub-look")
        var pause = Self.pause
        while (try? await Task.sleep(for: pause)) != nil {
            pause = min(pause * 2, Self.longestReplacementPause)
            guard await thread.run({ (try? HubSeat.ofSocket(path)) == .abandoned }) else { continue }
            do throws(SharedCoreError) {
                try await launch(at: endpoint, timeout: nil, asReplacement: true)
            } catch {
                await report(error)
            }
        }
    }
}
