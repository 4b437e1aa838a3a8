internal import CoreAPI
internal import CoreAPITesting
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import CLibrary

@Suite("A sequence that continues after errors")
struct ResumingTests {
    /// A sequence that fails at each call with an error of the store that stays.
    private struct Failing {
        /// The number of calls for an element.
        let callCount = Box(0)
        /// The pauses that the sequence has made, and the end of the last one.
        let pauses = Box<[(time: Duration, end: Promise<Void>)]>([])
        let resuming: Resuming<Int>

        init(isLast: Bool = false) throws {
            resuming = try Resuming(
                on: nil,
                sleep: { [pauses] time in
                    let end = Promise<Void>()
                    pauses.update { $0.append((time, end)) }
                    await end.pass()
                },
                next: { [callCount] () async throws(Interruption) -> Int? in
                    callCount.update { $0 += 1 }
                    throw Interruption(failure: Failure(.unavailable, "The error stays.", at: "test"), isLast: isLast)
                }, cancel: {})
        }

        /// Takes the next element, as a program that calls again at once.
        func take() async -> String {
            await SerialThread(name: "c").run { () throws(Never) -> String in
                do throws(Failure) {
                    switch try resuming.take(within: 30000) {
                    case .event: return "element"
                    case .nothing: return "nothing"
                    case .ended: return "end"
                    }
                } catch {
                    return error.code == .unavailable ? "error" : error.message
                }
            }
        }
    }

    @Test("It pauses for a second after each error, so that an error that stays keeps no program busy")
    func pauses() async throws {
        let failing = try Failing()
        for turn in 1...3 {
            #expect(await failing.take() == "error")
            try await eventually("pause \(turn)") { failing.pauses.value.count == turn }
            // The next call comes after the pause alone.
            #expect(failing.callCount.value == turn)
            failing.pauses.value[turn - 1].end.open()
        }
        #expect(failing.pauses.value.prefix(3).allSatisfy { $0.time == .seconds(1) })
        failing.resuming.cancel()
        for pause in failing.pauses.value { pause.end.open() }
    }

    @Test("It ends without a pause after its last error")
    func lastError() async throws {
        let failing = try Failing(isLast: true)
        #expect(await failing.take() == "error")
        #expect(await failing.take() == "end")
        #expect(failing.pauses.value.isEmpty)
        #expect(failing.callCount.value == 1)
    }
}
