internal import CoreAPI
internal import Testing

@testable internal import CommandCore

@Suite("Lines of a stream")
struct LineBufferTests {
    @Test("Lines come out in their order, in any pieces")
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

@Suite("How often something may be")
struct AllowanceTests {
    @Test("So many times at once, and then once in each interval, however long nothing was")
    func paced() {
        func at(_ milliseconds: UInt64) -> BootInstant { BootInstant(nanoseconds: milliseconds * 1_000_000) }
        var allowance = Allowance(3, then: .seconds(1), at: at(0))
        let taken = [0, 0, 0, 0, 999, 1000, 1001, 2500, 2999, 3000, 60_000, 60_000, 60_000, 60_000, 61_000].map {
            allowance.take(at: at($0))
        }
        #expect(
            taken == [
                true, true, true, false, false, true, false, true, false, true, true, true, true, false, true,
            ])
    }
}

@Suite("A program that asks for more than is done")
struct OverloadTests {
    private func told(at seconds: [Double]) -> [Bool] {
        var overload = Overload()
        return seconds.map {
            overload.note(at: BootInstant(nanoseconds: UInt64($0 * 1e9)))
            return overload.take()
        }
    }

    @Test("It is told once, when that has lasted for its time without a gap")
    func told() {
        let steady = (0...30).map { Double($0) }
        #expect(told(at: steady).enumerated().filter(\.element).map(\.offset) == [10])
        // A gap begins it anew.
        #expect(!told(at: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10.5, 11, 12, 13]).contains(true))
        #expect(told(at: [0, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]).last == true)
    }
}
