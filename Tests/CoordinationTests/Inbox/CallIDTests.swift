import Coordination
import Testing

struct CallIDTests {
    @Test("C10: a call-id is its bytes: a composed and a decomposed é are two")
    func bytes() throws {
        let composed = try CallID.of("caf\u{E9}@example.org")
        let decomposed = try CallID.of("cafe\u{301}@example.org")
        #expect(composed.text == decomposed.text, "one text to String")
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
        #expect(try composed == CallID.of("caf\u{E9}@example.org"))
        #expect(try composed.hashValue == CallID.of("caf\u{E9}@example.org").hashValue)
    }
}
