internal import Testing

@testable internal import CommandCore

@Suite("Lines of a stream")
struct LineBufferTests {
    @Test("Lines come out in their order, whatever pieces they come in")
    func pieces() {
        let text = Array("one\n\ntwo\nthree".utf8)
        for size in 1...text.count {
            var buffer = LineBuffer(maximumByteCount: 8)
            var lines: [String] = []
            for start in stride(from: 0, to: text.count, by: size) {
                buffer.append(Array(text[start..<min(start + size, text.count)]))
                while let line = buffer.next() { lines.append(String(decoding: line, as: UTF8.self)) }
            }
            #expect(lines == ["one", "", "two"])
            #expect(buffer.takeRest() == Array("three".utf8))
        }
    }

    @Test("A line without an end is too long as soon as it is")
    func excess() {
        var buffer = LineBuffer(maximumByteCount: 3)
        buffer.append(Array("a\nabc".utf8))
        #expect(buffer.next() == Array("a".utf8))
        #expect(buffer.next() == nil)
        #expect(!buffer.isTooLong)
        buffer.append(Array("d".utf8))
        #expect(buffer.next() == nil)
        #expect(buffer.isTooLong)
    }
}
