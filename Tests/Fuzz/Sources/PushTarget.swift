internal import Coordination
internal import ExecutorRun
internal import ProgramOutput

/// The bytes that a process writes to the socket for pushes. The first byte of an input says in what pieces it arrives.
enum PushTarget {
    private static let maximumByteCount = 1 << 10

    static func run(_ input: [UInt8]) {
        guard let first = input.first else { return }
        var buffer = RequestBuffer(terminator: PushLine.terminator, maximumByteCount: maximumByteCount)
        var lines: [[UInt8]] = []
        var rest = input.dropFirst()
        var isTooLong = false
        while !rest.isEmpty, !isTooLong {
            let piece = Array(rest.prefix(min(Int(first) + 1, buffer.capacity)))
            buffer.append(piece)
            rest = rest.dropFirst(piece.count)
            isTooLong = takeLines(of: &buffer, into: &lines)
        }
        let read = input.dropFirst().dropLast(rest.count)
        let expected = read.split(separator: PushLine.terminator[0], omittingEmptySubsequences: false).dropLast()
        require(lines.map { $0[...] } == Array(expected), "a stream has other lines than its bytes")
        require(lines.allSatisfy { $0.count <= maximumByteCount }, "a line is longer than the limit")
        for line in lines { check(line) }
    }

    /// Returns true if the next line is too long.
    private static func takeLines(of buffer: inout RequestBuffer, into lines: inout [[UInt8]]) -> Bool {
        while true {
            switch buffer.next() {
            case .request(let line): lines.append(line)
            case .incomplete: return false
            case .tooLong: return true
            }
        }
    }

    /// Requires that a push has one payload, and is read as the same when it is written as an object.
    private static func check(_ line: [UInt8]) {
        guard let push = try? PushLine.push(line) else { return }
        if case .object(let object)? = JSONGrammar.value(of: line) {
            require(object.repeatedName == nil, "a field of a push is given twice")
            if case .text(let payload)? = object["payload"] {
                require(Base64.encode(push.payload) == payload, "a payload has two forms")
            }
        }
        let object: JSONObject = [
            "callID": .text(push.callID.text), "type": .text(push.type), "account": .text(push.account),
            "payload": .text(Base64.encode(push.payload)),
        ]
        require((try? PushLine.push(Array(object.line.utf8))) == push, "a push is read as another")
        require(PushID.callID(push.callID.text) == push.callID, "a call-id is none")
    }
}
