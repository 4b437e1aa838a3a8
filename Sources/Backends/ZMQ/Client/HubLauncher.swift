internal import CoreAPI
internal import Platform

/// Starts a hub when none is running, so that users need not start one by hand.
public struct HubLauncher: Hashable, Sendable {
    /// The absolute path of the program that starts a hub, such as `sharedcore`.
    public var program: String
    /// The program's arguments, such as `hub` and `--detach`.
    ///
    /// The program must end with status 0 when a hub answers. The hub must not be a child of the caller, and must hold
    /// none of the caller's descriptors. Otherwise the program ends with another status, as programs of this package use
    /// them, and a message on standard error. A program that has not ended after 45 s is killed, and counts as failed.
    public var arguments: [String]
    /// Environment variables that are added to the caller's, or replace them.
    public var variables: [String: String]
    /// The names of the caller's environment variables that the program inherits; nil for all of them.
    public var inherited: Set<String>?

    public init(
        program: String, arguments: [String], variables: [String: String] = [:], inherited: Set<String>? = nil
    ) {
        self.program = program
        self.arguments = arguments
        self.variables = variables
        self.inherited = inherited
    }

    /// The interval at which a joining client checks that its hub still exists.
    private static let watchPause = Duration.milliseconds(250)
    /// The time between two checks while another process starts a hub.
    private static let pause = Duration.milliseconds(20)
    /// The longest time between two attempts to replace a killed hub.
    private static let longestReplacementPause = Duration.seconds(5)

    /// Starts the program when no hub has the endpoint, and returns when a hub answers. A replacement also returns
    /// without a hub if the last hub was told to end. Only hubs at sockets of this machine are started: for an endpoint
    /// with a host this does nothing.
    ///
    /// - Parameter isReplacement: Starts a hub only if the last one was killed.
    /// - Throws: The error that kept the hub from starting, ``SharedCoreError/Code/unavailable`` at the timeout.
    func launch(
        at endpoint: HubEndpoint, timeout: Duration?, asReplacement isReplacement: Bool = false
    ) async throws(SharedCoreError) {
        guard case .ipc(let path) = endpoint else { return }
        let clock = SystemClock()
        let began = clock.now()
        let start = HubStart(path: path, launcher: self, isReplacement: isReplacement, since: began)
        // The steps block, so they run on a thread of their own. A caller that gives up does not wait for it.
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
        // No step begins after the caller has stopped waiting.
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

    /// Starts another hub whenever there is none, until cancelled. A joining client uses it, because its hub may end
    /// before it has answered. A hub that was just killed, for example, still has its lock for a moment.
    func keepLaunched(at endpoint: HubEndpoint) async {
        while (try? await Task.sleep(for: Self.watchPause)) != nil {
            // An error that keeps the hub from starting is reported to the clients that join later.
            try? await launch(at: endpoint, timeout: nil)
        }
    }

    /// Replaces a hub that was killed, until cancelled: for a client that has lost its hub. A hub that was told to end
    /// stays ended.
    ///
    /// - Parameter report: Called with each error that keeps the new hub from starting.
    func replaceKilledHub(at endpoint: HubEndpoint, report: (SharedCoreError) async -> Void) async {
        guard case .ipc(let path) = endpoint else { return }
        let thread = SerialThread(name: "sc-hub-look")
        var pause = Self.pause
        while (try? await Task.sleep(for: pause)) != nil {
            pause = min(pause * 2, Self.longestReplacementPause)
            guard await thread.run({ (try? HubEndpointState.ofSocket(path)) == .abandoned }) else { continue }
            do throws(SharedCoreError) {
                try await launch(at: endpoint, timeout: nil, asReplacement: true)
            } catch {
                await report(error)
            }
        }
    }
}
