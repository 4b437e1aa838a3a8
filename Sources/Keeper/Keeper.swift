internal import CoreAPI
internal import KeptSockets
internal import Lifecycle
internal import Platform
internal import ProgramOutput

/// Runs the supervision of one Main: waits for events, passes them to the machine, and carries out its directives.
final class Keeper {
    let seat: KeeperLock
    let memory: MainMemory
    let signals: EventCounter
    var configuration: KeeperConfiguration
    var clock = KeeperClock()
    var machine: SupervisionMachine
    var sockets: KeptSocketTable
    var main: MainProcess?
    /// The connection of Main.
    var mainVisitor: Visitor?
    var visitors: [Visitor] = []
    var starts = 0
    var lastEnd: String?
    var isFinished = false
    private var isWithoutPlace = false

    /// How many requests of one connection are handled before the others have their turn.
    static let turn = 64
    /// How many requests of a Main that has ended are handled: more than the socket's buffer can contain.
    static let lastWords = 4096
    /// The longest wait. It is bounded so that the keeper can distinguish the time that it ran from the time that it
    /// was stopped.
    private static let longestWait = Duration.seconds(60)

    init(_ configuration: KeeperConfiguration, at seat: KeeperLock, signals: EventCounter) throws {
        self.configuration = configuration
        self.seat = seat
        self.signals = signals
        memory = MainMemory(directory: seat.directory)
        machine = SupervisionMachine(configuration.options)
        sockets = try KeptSocketTable()
    }

    /// Returns when the keeper is to end.
    func run() throws {
        if !adopt() { happen(.begun(isClosed: memory.isClosed())) }
        while !isFinished {
            sockets.watch(machine.watchesSockets)
            try waitAndServe()
            endWithoutPlace()
            happen(.timePassed)
        }
    }

    /// Ends the keeper, and Main with it, if its directory was removed, because no process could then tell it to end.
    private func endWithoutPlace() {
        guard !isWithoutPlace, seat.isGone else { return }
        isWithoutPlace = true
        log("\(seat.place.directory) was removed; ending")
        happen(.quitWanted)
    }

    private func waitAndServe() throws {
        let now = clock.now()
        let timeout = min(machine.nextTime.map { now.duration(to: $0) } ?? Self.longestWait, Self.longestWait)
        let present = visitors
        let fixed = [seat.listener.descriptor, signals.descriptor, sockets.descriptor, main?.handle.descriptor ?? -1]
        let ready = clock.wait(timeout) {
            Poll.wait(for: fixed + present.map(\.socket.descriptor), timeout: timeout)
        }
        if ready[1] {
            signals.clear()
            happen(.quitWanted)
        }
        // Read messages before Main's end is handled, because a Main that has ended sent its messages before.
        for (visitor, isReady) in zip(present, ready.dropFirst(fixed.count)) where isReady { serve(visitor) }
        if ready[3] { mainEnded() }
        if ready[2], sockets.takeData(), machine.watchesSockets { happen(.dataCame) }
        forgetWhoIsGone()
        if ready[0] { accept() }
    }

    func serve(_ visitor: Visitor, upTo count: Int = turn) {
        for _ in 0..<count {
            guard let (request, file) = visitor.next() else { break }
            answer(request, with: file, to: visitor)
        }
    }

    /// Accepts new connections.
    ///
    /// More than there is room for wait for the next turn, in which those that have ended make room. They are refused
    /// only if there is no room even then.
    private func accept() {
        let room = KeeperLimits.visitorCount - visitors.count
        for _ in 0..<(room > 0 ? room : Self.turn) {
            guard let socket = try? seat.listener.accept() else { return }
            guard visitors.count < KeeperLimits.visitorCount, let peer = try? socket.peer(),
                peer.user == FileStatus.currentUser
            else { continue }
            visitors.append(Visitor(socket))
        }
    }

    private func forgetWhoIsGone() {
        visitors.removeAll { $0.isGone }
        guard let visitor = mainVisitor, visitor.isGone else { return }
        mainVisitor = nil
        happen(.disconnected)
    }

    /// Passes an event to the machine, and carries out its directives.
    func happen(_ event: SupervisionEvent) {
        for directive in machine.handle(event, at: clock.now()) { perform(directive) }
    }

    func log(_ message: String) {
        StandardError.write("sharedcore-keeper: \(message)")
    }
}

/// The time in which this process ran. Time in which this process was stopped or the machine slept does not count,
/// because Main may not have run either.
struct KeeperClock {
    private let system = SystemClock()
    private var missed = Duration.zero

    /// How much later than its limit a wait may end and still count in full.
    private static let tolerance = Duration.seconds(1)

    func now() -> BootInstant {
        let now = system.now()
        return BootInstant(nanoseconds: now.nanoseconds - min(missed.clampedNanoseconds, now.nanoseconds))
    }

    /// Runs a wait with a limit. If it takes much longer, the process was stopped, and the time does not count.
    mutating func wait<Value>(_ longest: Duration, _ body: () -> Value) -> Value {
        let start = system.now()
        let value = body()
        let passed = start.duration(to: system.now())
        if passed > longest + Self.tolerance { missed += passed }
        return value
    }
}
