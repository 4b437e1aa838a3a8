import Coordination
import SharedCoreTesting
import XCTest

/// The kit knows no test framework: its expectations are thrown, which XCTest takes as it takes any error.
final class XCTestTests: XCTestCase {
    func testPush() async throws {
        let group = SimulatedGroup()
        let push = try await group.executor("push")
        let call = push.message(forCallID: "1", timeout: .seconds(20))
        try group.server.receive("Lunch?", as: "1")
        let answer = try await call.value
        XCTAssertEqual(answer.text, "Lunch?")
        try await push.finish()
        let timeline = try await group.timeline()
        try timeline.expect(("push", .acquired), ("push", .released))
        XCTAssertThrowsError(try timeline.expect(("push", .killed)))
    }
}
