internal import CoreAPITesting
internal import Platform

/// The metrics that a host serves about itself.
package enum ToldFigures {
    /// Connects to the host's metrics socket, and waits for the whole answer.
    package static func at(_ path: String) async throws -> String {
        let connection = try StreamConnection(to: path)
        try expect(connection.send(Array("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n".utf8)), "the request is sent")
        var received: [UInt8] = []
        try await eventually("the whole answer", timeout: TestTimeout.long) {
            while true {
                switch connection.receive(upTo: 4096) {
                case .bytes(let bytes): received += bytes
                case .nothing: return false
                case .end: return true
                }
            }
        }
        return String(decoding: received, as: UTF8.self)
    }
}
