public import Coordination
public import CoreAPI
public import Lifecycle
internal import NetworkMonitor
internal import SIPMessages

/// A telephone that follows the connectivity machine: it carries out the machine's actions, and reports events.
///
/// This is the type to read. Each action is a line or two. None of them asks whether the application is in front, in
/// the background or without a network: the machine knows.
public actor Telephone: ConnectivityDelegate {
    /// The events that it always subscribes to; presence of others is another matter.
    static let events = ["reg", "dialog", "message-summary"]
    /// The name of its registration at the keep-alive.
    static let registration = "registration"

    /// A call, as far as this example has one: signaling, and a flag in place of media.
    public struct Call: Hashable, Sendable {
        public var isReachable = true
        public var isHeld = false
        public var hasMedia = true

        public init(isReachable: Bool = true, isHeld: Bool = false, hasMedia: Bool = true) {
            self.isReachable = isReachable
            self.isHeld = isHeld
            self.hasMedia = hasMedia
        }
    }

    public nonisolated let client: TelephoneClient
    /// This process in the group of the application: the client connects only while it owns.
    public nonisolated let main: MainParticipant
    public nonisolated let web: WebRequests
    public nonisolated let keepAlive: KeepAlive
    /// The events for the machine. Read it from the start, by one reader.
    public nonisolated let happenings: AsyncStream<ConnectivityEvent>
    let happen: AsyncStream<ConnectivityEvent>.Continuation

    /// The lines that the user sees.
    public internal(set) var screen: [String] = []
    public internal(set) var call: Call?
    var network: NetworkState?
    let levels = ServiceLevelTable.standard
    var hasPresence = false
    var isInFront = true
    var isInWake = false
    var isAsleep = false
    var refreshing: Task<Void, any Error>?
    let clock: any TimeSource

    /// - Parameter group: A handle with the role `main` of the application's group.
    public init(
        user: String, server: ServerAddress, sharing group: any SharedStore, keepAlive: KeepAlive,
        clock: any TimeSource, patience: Duration = .seconds(5)
    ) throws {
        self.clock = clock
        let client = TelephoneClient(user: user, server: server, patience: patience)
        self.client = client
        main = try MainParticipant(of: group) { TelephoneCore(client: client) }
        web = WebRequests(server: server)
        self.keepAlive = keepAlive
        (happenings, happen) = AsyncStream.makeStream(of: ConnectivityEvent.self)
    }

    // MARK: What the machine wants

    public func carryOut(_ action: ConnectivityAction) async throws -> ConnectivityActionResult {
        switch action {
        case .tellServices(let connectivity): show("network: \(connectivity)")
        case .flagCallsUnavailable: call?.isReachable = false
        case .suspendSignaling: await client.disconnect()
        case .failPendingRequests: await web.failPending()
        case .applyLevels(let state): try await apply(levelsOf: state)

        case .reconnect: try await client.connect()
        case .openNewSocket: try await client.connectAnew()
        case .register, .refreshRegistration: try await register()
        case .subscribe, .refreshSubscriptions: try await subscribe()
        case .restorePresence: try await restorePresence()
        case .restoreHTTP: await web.rest(false)
        case .reportLastKnownState:
            call?.isReachable = true
            show("network: connected; \(await client.notice(of: "message-summary") ?? "nothing is known yet")")
        case .checkConnectivity:
            isAsleep = false
            await client.keepUnread(false)
            if network?.isConnected == false { return .connection(.noNetwork) }
            return .connection(await client.isAnswered() ? .stands : .networkOnly)

        case .giveUpLocks: show("gave up what others might wait for")
        case .rest: return .ownership(try await rest())
        case .giveUpOwnership: await main.stop()
        case .resume: return .ownership(try await resume())
        case .mayOwnAgain: try await main.start()
        case .prepareForBackground(let interval):
            return .preparation(await keepAlive.prepareForBackground(interval: interval))
        case .stayAwake(let obstacles): show("stays awake: \(obstacles.map(\.description).joined(separator: "; "))")
        case .warn(let obstacles): show("warning: \(obstacles.map(\.description).joined(separator: "; "))")
        case .relyOnKeepAlive: show("only the keep-alive will wake it")
        case .allowSuspension:
            isAsleep = true
            await client.keepUnread(true)

        case .beginBudget:
            (isInWake, isAsleep) = (true, false)
            await client.keepUnread(false)
        case .endBudget, .stopWork:
            isInWake = false
            // Texts that came between the answers of a keep-alive are no less new than the one that woke it.
            await showTexts()
        case .processSocketData: try await readWhatCame()
        case .alertUser: await showTexts()

        case .holdActiveCalls: try await hold()
        case .takeMediaAway: call?.hasMedia = false
        case .offerResume: if call != nil { show("resume the call?") }

        case .relaunchWithoutUserInterface:
            (isInFront, isAsleep) = (false, false)
            show("relaunched in the background, without a window")
        }
        return .done
    }
}
