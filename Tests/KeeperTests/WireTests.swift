internal import CoreAPI
internal import CoreAPITesting
internal import KeptSockets
internal import Lifecycle
internal import Testing

extension KeeperTests {
    @Suite("The keeper's protocol")
    struct WireTests {
        private static let configuration: KeeperConfiguration = {
            var options = SupervisionOptions()
            options.watchdog = .milliseconds(1500)
            options.restart.limit = 3
            options.restart.window = .milliseconds(7001)
            options.wakeBudget = .milliseconds(12)
            return KeeperConfiguration(command: ["/bin/a b", "--", "", "ü\n"], options: options)
        }()

        private static let requests: [KeeperRequest] = [
            .hello, .keep(name: "a.b-c_d:1"), .release(name: "x"), .take, .asleep, .awake, .alive, .calls(0),
            .calls(65535), .leaving, .woken(pid: 7, startTime: .max), .status, .start(inForeground: true),
            .start(inForeground: false), .stop, .quit,
            .configure(configuration),
        ]

        @Test("A request is read as it was written", arguments: requests)
        func request(_ request: KeeperRequest) throws {
            #expect(try KeeperRequest(Array(request.text.utf8)) == request)
        }

        @Test(
            "A message that is no request is refused with a reason",
            arguments: [
                "", " ", "HELLO", "HELLO 2", "KEEP", "KEEP ", "KEEP a b", "KEEP " + String(repeating: "x", count: 65),
                "KEEP ../x", "KEEP ü", "CALLS -1", "CALLS 65536", "CALLS x", "START now", "STATUS 1", "hello 1",
                "WOKEN", "WOKEN 7", "WOKEN 0 1", "WOKEN -1 1", "WOKEN 7 x", "WOKEN 7 1 ", "WOKEN 7 1 2",
                "CONFIGURE", "CONFIGURE ", "CONFIGURE --", "CONFIGURE --watchdog-ms\0000\0--\0a",
                "CONFIGURE --no\0001\0--\0a",
                "CONFIGURE --watchdog-ms\099999999999\0--\0a", "CONFIGURE --watchdog-ms",
            ])
        func noRequest(_ text: String) {
            #expect(throws: KeeperProblem.self) { try KeeperRequest(Array(text.utf8)) }
        }

        @Test("Bytes at random are refused or understood, and nothing traps")
        func randomBytes() {
            var chance = SeededRandom(seed: 1)
            for _ in 0..<5000 {
                var bytes = Array((Self.requests.randomElement(using: &chance) ?? .take).text.utf8)
                for _ in 0...Int(chance.next() % 4) {
                    let place = Int(chance.next() % UInt64(bytes.count + 1))
                    if chance.next() % 2 == 0, place < bytes.count { bytes.remove(at: place) }
                    bytes.insert(UInt8(truncatingIfNeeded: chance.next()), at: min(place, bytes.count))
                }
                if let request = try? KeeperRequest(bytes) {
                    #expect((try? KeeperRequest(Array(request.text.utf8))) == request)
                }
                _ = KeeperMessage(bytes)
            }
        }

        @Test("A message is read as it was written")
        func messages() {
            var status = KeeperStatus(keeper: 7, state: "running")
            status.main = 12
            status.presence = "woken"
            status.calls = 2
            status.failures = 3
            status.starts = 4
            status.restartIn = .milliseconds(5)
            status.budgetLeft = .milliseconds(6)
            status.lastEnd = "killed 9 budget"
            status.kept = ["a", "b"]
            for message in [
                KeeperMessage.done, .refused(KeeperProblem(.busy, "another one")), .kept(name: "a"), .status(status),
                .status(KeeperStatus(keeper: 1, state: "down")), .wake(budget: .seconds(10)),
                .woken(budget: .seconds(10)), .ending(left: .milliseconds(1999)),
            ] {
                #expect(KeeperMessage(Array(message.text.utf8)) == message)
            }
        }
    }
}
