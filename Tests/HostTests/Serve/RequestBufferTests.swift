internal import ProgramOutput
internal import Testing

@Suite("The requests in the bytes of a peer")
struct RequestBufferTests {
    private let bytes = Array("GET /\r\n\r\nPUT 3\r\n\r\nabc\r\n\r\n".utf8)

    private func requests(in pieces: some Sequence<[UInt8]>, _ buffer: inout RequestBuffer) -> [String] {
        var requests: [String] = []
        for piece in pieces {
            buffer.append(piece)
            while case .request(let bytes) = buffer.next() { requests.append(String(decoding: bytes, as: UTF8.self)) }
        }
        return requests
    }

    private func buffer(of maximumByteCount: Int) -> RequestBuffer {
        RequestBuffer(terminator: Array("\r\n\r\n".utf8), maximumByteCount: maximumByteCount) { head in
            head.last == UInt8(ascii: "3") ? 3 : 0
        }
    }

    @Test("The pieces in which they arrive do not matter", arguments: 1...27)
    func pieces(byteCount: Int) {
        var buffer = buffer(of: 100)
        let pieces = stride(from: 0, to: bytes.count, by: byteCount).map {
            Array(bytes[$0..<min($0 + byteCount, bytes.count)])
        }
        #expect(requests(in: pieces, &buffer) == ["GET /", "PUT 3\r\n\r\nabc", ""])
        #expect(buffer.next() == .incomplete)
    }

    @Test("A request of the greatest length is taken, and one byte more is too long", arguments: [10, 11])
    func length(byteCount: Int) {
        var buffer = buffer(of: 10)
        let request = [UInt8](repeating: UInt8(ascii: "x"), count: byteCount)
        var rest = (request + Array("\r\n\r\n".utf8))[...]
        while buffer.next() == .incomplete, !rest.isEmpty {
            let piece = Array(rest.prefix(buffer.capacity))
            rest = rest.dropFirst(piece.count)
            buffer.append(piece)
            if rest.isEmpty { break }
        }
        #expect(buffer.next() == (byteCount == 10 ? .request(request) : .tooLong))
    }
}
