internal import CoreAPI
internal import CoreAPITesting
internal import CoreMetrics
internal import Glibc
internal import Platform
internal import SharedCoreConfiguration
internal import Subprocess
internal import TestSupport
internal import Testing

@testable internal import SharedCoreHost

@Suite("The host's figures")
struct MetricsTests {
    @Test("Counters, gauges and histograms in the text format of Prometheus")
    func exposition() {
        let registry = PrometheusRegistry()
        Counter(label: "b.total", dimensions: [("why so", "a \"b\"\\\n")], factory: registry).increment(by: 2)
        Counter(label: "b.total", dimensions: [("why so", "a \"b\"\\\n")], factory: registry).increment()
        Counter(label: "b.total", factory: registry).increment()
        Gauge(label: "a:now", factory: registry).record(2.5)
        let timer = Timer(label: "0time", factory: registry)
        timer.recordMilliseconds(50)
        timer.recordSeconds(40)
        let lines = registry.exposition.split(separator: "\n").map(String.init)
        #expect(
            lines == [
                "# TYPE _0time histogram", "_0time_bucket{le=\"0.05\"} 1", "_0time_bucket{le=\"0.1\"} 1",
                "_0time_bucket{le=\"0.25\"} 1", "_0time_bucket{le=\"0.5\"} 1", "_0time_bucket{le=\"1\"} 1",
                "_0time_bucket{le=\"2.5\"} 1", "_0time_bucket{le=\"5\"} 1", "_0time_bucket{le=\"10\"} 1",
                "_0time_bucket{le=\"25\"} 1", "_0time_bucket{le=\"30\"} 1", "_0time_bucket{le=\"60\"} 2",
                "_0time_bucket{le=\"300\"} 2", "_0time_bucket{le=\"+Inf\"} 2", "_0time_sum 40.05", "_0time_count 2",
                "# TYPE a:now gauge", "a:now 2.5", "# TYPE b_total counter", "b_total 1",
                "b_total{why_so=\"a \\\"b\\\"\\\\\\n\"} 3",
            ])
    }

    @Test(
        "Only what is asked for is answered",
        arguments: [
            ("GET /metrics HTTP/1.1", "200"), ("GET / HTTP/1.0", "200"), ("GET /metrics?x=1 HTTP/1.1", "200"),
            ("GET /other HTTP/1.1", "404"), ("POST /metrics HTTP/1.1", "405"), ("GET /metrics", "400"), ("", "400"),
            ("GET  /metrics HTTP/1.1", "400"), ("\u{7}\0", "400"),
        ])
    func requests(line: String, status: String) {
        let registry = PrometheusRegistry()
        Counter(label: "a_total", factory: registry).increment()
        let answer = String(
            decoding: MetricsServer.answer(Array((line + "\r\nHost: x").utf8), registry), as: UTF8.self)
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
        #expect(answer.hasSuffix("\r\n\r\n" + (status == "200" ? "# TYPE a_total counter\na_total 1\n" : "")))
    }

    @Test("A port of the loopback interface answers one request for each connection, and survives what is none")
    func loopback() async throws {
        let registry = PrometheusRegistry()
        Counter(label: "a_total", factory: registry).increment()
        let server = try MetricsServer.start(at: .port(0), registry)
        let port = try #require(server.location.split(separator: ":").last)
        let program = try HostProgram()
        for request in ["\\0\\0\\r\\n\\r\\n", "GET /metrics HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n"] {
            let ended = try await program.shell(
                "exec 3<>/dev/tcp/127.0.0.1/\(port); printf '\(request)' >&3; cat <&3")
            #expect(ended.output.hasSuffix(request.hasPrefix("GET") ? "a_total 1\n" : "\r\n\r\n"), "\(ended.errors)")
        }
        let long = try await program.shell(
            "exec 3<>/dev/tcp/127.0.0.1/\(port); head -c 8196 /dev/zero | tr '\\0' x >&3; cat <&3")
        #expect(long.output.hasPrefix("HTTP/1.1 431 "))
        server.stop()
    }

    @Test(
        "Another user's connections that ask for nothing hold up no scrape, however many they are",
        .enabled(if: getuid() == 0, "it takes root to act as another user"))
    func crowd() async throws {
        let server = try MetricsServer.start(at: .port(0), PrometheusRegistry())
        let port = try #require(server.location.split(separator: ":").last)
        let ended = try await HostProgram().shell(
            """
            exec 9< <(exec setpriv --reuid 65534 --regid 65534 --clear-groups bash -c '
                for number in $(seq 40); do exec {held}<>/dev/tcp/127.0.0.1/\(port); printf GET >&$held; done
                echo held; exec sleep 600')
            crowd=$!
            read -u 9
            for number in $(seq 5); do
                exec 3<>/dev/tcp/127.0.0.1/\(port)
                printf 'GET /metrics HTTP/1.1\\r\\n\\r\\n' >&3
                timeout 20 head -n 1 <&3
            done
            kill $crowd
            """)
        #expect(ended.output == String(repeating: "HTTP/1.1 200 OK\r\n", count: 5), "\(ended.output)\(ended.errors)")
        server.stop()
    }

    @Test("The request that a connection has sent is answered, also when its place is wanted before it was heard")
    func sentRequest() throws {
        let rules = RequestServer.Rules(
            terminator: [10], requestByteCount: 100, peerCount: 3, isPersistent: false, user: nil, tooLong: [],
            busy: [])
        var table = PeerTable(rules: rules)
        let deadline = BootInstant(nanoseconds: 1)
        func add() throws -> (other: StreamConnection, hasPlace: Bool, requests: [PeerTable.Request]) {
            var ends: [Int32] = [0, 0]
            #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends) == 0)
            let (hasPlace, requests) = table.add(StreamConnection(owning: ends[0]), until: deadline)
            return (StreamConnection(owning: ends[1]), hasPlace, requests)
        }
        let asking = try add().other
        #expect(asking.send(Array("GET\n".utf8)))
        let silent = try add().other
        let half = try add().other
        #expect(half.send(Array("GE".utf8)))
        var others: [StreamConnection] = []
        for number in 0..<20 {
            let added = try add()
            others.append(added.other)
            #expect(added.hasPlace)
            #expect(added.requests.map(\.bytes) == (number == 0 ? [Array("GET".utf8)] : []))
            if let request = added.requests.first { #expect(request.peer == 1) }
        }
        #expect(table.answer(1, RequestServer.Answer(Array("200".utf8)), next: deadline) == nil)
        guard case .bytes(let bytes) = asking.receive(upTo: 10), case .end = silent.receive(upTo: 10) else {
            Issue.record("the one that asked has its answer, the oldest silent one is cut")
            return
        }
        #expect(bytes == Array("200".utf8))
    }

    @Test("Output that a peer does not read is kept up to the limit; then the peer is cut, and its stream ends once")
    func streamThatIsNotRead() throws {
        let limit = 1 << 20
        let rules = RequestServer.Rules(
            terminator: [10], requestByteCount: 100, isPersistent: false, user: nil, tooLong: [], busy: [],
            unsentByteCount: limit)
        var table = PeerTable(rules: rules)
        let (early, late) = (BootInstant(nanoseconds: 1), BootInstant(nanoseconds: 3))
        func ask() throws -> StreamConnection {
            var ends: [Int32] = [0, 0]
            #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends) == 0)
            let other = StreamConnection(owning: ends[1])
            _ = table.add(StreamConnection(owning: ends[0]), until: early)
            #expect(other.send(Array("GET\n".utf8)))
            return other
        }
        let part = RequestServer.Answer([UInt8](repeating: 7, count: 64 << 10), isStream: true)
        let reading = try ask()
        #expect(table.hear(1)?.peer == 1)
        let stalled = try ask()
        #expect(table.hear(2)?.peer == 2)
        var (read, sent) = (0, 0)
        while table.interests.contains(where: { $0.key == 2 }) || sent == 0, sent < 16 << 20 {
            _ = table.answer(1, part, next: late)
            _ = table.answer(2, part, next: late)
            sent += part.bytes.count
            while case .bytes(let bytes) = reading.receive(upTo: 1 << 20) { read += bytes.count }
            _ = table.serve(1, Poll.writable, until: late)
            while case .bytes(let bytes) = reading.receive(upTo: 1 << 20) { read += bytes.count }
        }
        #expect(read == sent, "one that reads has it all")
        #expect(table.takeEndedStreams() == [2] && table.takeEndedStreams().isEmpty)
        var taken = 0
        while case .bytes(let bytes) = stalled.receive(upTo: 1 << 20) { taken += bytes.count }
        #expect(taken < sent && sent - taken > limit - part.bytes.count && sent - taken <= limit + part.bytes.count)

        // A connection that lags and reads nothing more is cut at its deadline. One that does not lag is not cut.
        let lagging = try ask()
        #expect(table.hear(3)?.peer == 3)
        for _ in 0..<10 { _ = table.answer(3, part, next: late) }
        table.dropLate(at: BootInstant(nanoseconds: 2))
        #expect(table.takeEndedStreams().isEmpty)
        table.dropLate(at: late)
        #expect(table.takeEndedStreams() == [3])
        #expect(table.interests.map(\.key) == [1])
        withExtendedLifetime(lagging) {}
    }

    @Test(
        "E2: another user hears no figures at the socket, also where its mode lets that user in",
        .enabled(if: getuid() == 0, "it takes root to act as another user"))
    func otherUser() async throws {
        let program = try HostProgram()
        let path = program.directory.path(of: "metrics")
        let server = try MetricsServer.start(at: .path(path), PrometheusRegistry())
        #expect(chmod(program.directory.path, 0o755) == 0 && chmod(path, 0o666) == 0)
        let visit = """
            use Socket; socket(my $s, PF_UNIX, SOCK_STREAM, 0) or die; alarm 20;
            connect($s, pack_sockaddr_un($ARGV[0])) or die "connect: $!"; $SIG{PIPE} = "IGNORE";
            syswrite $s, "GET /metrics HTTP/1.1\\r\\n\\r\\n"; my $count = sysread $s, my $text, 99;
            print $count ? "told\\n" : "let go\\n"
            """
        try program.write(visit, to: "visit.pl")
        let ended = try await program.shell(
            "for user in 65534 0; do setpriv --reuid $user --regid $user --clear-groups perl visit.pl \(path); done")
        #expect(ended.output == "let go\ntold\n", "\(ended.errors)")
        server.stop()
    }

    @Test("Without a word of configuration the figures are told at a socket of the user's own; or nowhere")
    func standard() async throws {
        var program = try HostProgram()
        let path = program.directory.path(of: "state/sharedcore/default/metrics")
        try await ServingHost.serve(program) { _ in
            let permissions = try FileStatus(ofPath: path).permissions
            #expect(permissions == 0o600)
            let text = try await ToldFigures.at(path)
            #expect(text.contains("sharedcore_executors_running 0"))
        }
        program.environment["SHAREDCORE_METRICS_LISTEN"] = "none"
        try await ServingHost.serve(program) { _ in
            #expect(throws: SystemCallError.self) { try FileStatus(ofPath: path) }
        }
    }

    @Test("The host tells what it did")
    func host() async throws {
        var program = try HostProgram()
        let path = program.directory.path(of: "metrics")
        program.environment["SHAREDCORE_METRICS_LISTEN"] = "./metrics"
        program.environment["SHAREDCORE_EXECUTOR_COMMAND"] = "/bin/sh -c '[ $SHAREDCORE_CALL_ID = good ] || exit 7'"
        program.environment["SHAREDCORE_EXECUTOR_ATTEMPTS"] = "2"
        program.environment["SHAREDCORE_EXECUTOR_RETRY_DELAY"] = "50ms"
        try await ServingHost.serve(program) { host in
            for callID in ["good", "bad"] { _ = try await host.program.run("push", callID) }
            try await host.until("served", of: "good")
            try await host.until("givenUp", of: "bad")
            #expect(try FileStatus(ofPath: path).permissions == 0o600)
            let text = try await ToldFigures.at(path)
            for line in [
                "sharedcore_pushes_received_total 2", "sharedcore_pushes_served_total 1",
                "sharedcore_pushes_retried_total 1", "sharedcore_pushes_given_up_total 1",
                "sharedcore_executors_started_total 3", "sharedcore_executors_ended_total{reason=\"ended\"} 1",
                "sharedcore_executors_ended_total{reason=\"status\"} 2", "sharedcore_push_duration_seconds_count 1",
            ] {
                #expect(text.contains("\n\(line)\r\n") || text.contains("\n\(line)\n"), "\(line) in \(text)")
            }
        }
    }

    @Test("Changes by others than the host are reported as well")
    func others() async throws {
        var program = try HostProgram()
        let path = program.directory.path(of: "metrics")
        program.environment["SHAREDCORE_METRICS_LISTEN"] = "./metrics"
        program.environment["SHAREDCORE_EXECUTOR_COMMAND"] = "sleep 1000"
        program.environment["SHAREDCORE_EXECUTOR_LIMIT"] = "1"
        program.environment["SHAREDCORE_EXECUTOR_BUDGET"] = "1h"
        for number in 1...2 { _ = try await program.run("push", "\(number)@x") }
        try await ServingHost.serve(program) { host in
            // One push has an Executor, and the host has taken the other one: nothing more will happen at the host.
            try await eventually("both are taken", timeout: TestTimeout.long) {
                try await host.program.pushes()["taken"] == .number(2)
            }
            try await eventually("it is told", timeout: TestTimeout.long) {
                try await ToldFigures.at(path).contains("\nsharedcore_executors_running 1\n")
            }
            for number in 3...5 { _ = try await host.program.run("push", "\(number)@x") }
            try await eventually("they are counted", timeout: TestTimeout.long) {
                try await ToldFigures.at(path).contains("\nsharedcore_pushes_waiting 3\n")
            }
        }
    }
}
