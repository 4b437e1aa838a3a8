internal import ProgramOutput

@testable internal import CommandCore

/// The lines that a core's program prints. The first byte of an input says in what pieces they arrive.
enum CommandTarget {
    static func run(_ input: [UInt8]) {
        guard let first = input.first else { return }
        let pieceByteCount = Int(first) + 1
        var buffer = LineBuffer(maximumByteCount: 1 << 10)
        var lines: [[UInt8]] = []
        var rest = input.dropFirst()
        while !rest.isEmpty {
            buffer.append(Array(rest.prefix(pieceByteCount)))
            rest = rest.dropFirst(pieceByteCount)
            while let line = buffer.next() { lines.append(line) }
            if buffer.isTooLong { break }
        }
        lines.append(buffer.takeRest())
        let expected = input.dropFirst().dropLast(rest.count).split(separator: 0x0a, omittingEmptySubsequences: false)
        require(lines.map { $0[...] } == expected, "a stream has other lines than its bytes")
        for line in lines { read(line) }
    }

    private static func read(_ line: [UInt8]) {
        guard let message = try? ProgramMessage(line) else { return }
        switch message {
        case .request(let request):
            do throws(Refusal) {
                _ = try ProgramCall(request)
            } catch {
                check(ProgramMessage.answer(.failure(error), to: request.id))
            }
        case .answer(let id, .success(let object)):
            check(ProgramMessage.answer(.success(object), to: id))
        case .answer(let id, .failure(let refusal)):
            check(ProgramMessage.answer(.failure(refusal), to: id))
        }
    }

    /// Requires that a line which this program sends can be read.
    private static func check(_ line: [UInt8]) {
        require(line.last == 0x0a && !line.dropLast().contains(0x0a), "an answer is not one line")
        require(JSONGrammar.accepts(Array(line.dropLast())), "an answer is not JSON")
    }
}
