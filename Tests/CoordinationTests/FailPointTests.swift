#if FAIL_POINTS
    internal import Platform
    internal import Testing

    /// Places that tests of one process arm at the same time.
    @Suite("A fail point")
    struct FailPointTests {
        @Test("A fail point that one test arms is not disarmed by another: each removes its own alone")
        func armings() {
            let first = FailPoint.arm("test.first:fail*,test.shared:fail*")
            let second = FailPoint.arm("test.second:fail,test.shared:fail*")
            #expect(FailPoint.isActive("test.first") && FailPoint.isActive("test.second"))
            second.disarm()
            #expect(FailPoint.fails("test.first") && FailPoint.fails("test.shared"))
            #expect(!FailPoint.fails("test.second"))
            first.disarm()
            first.disarm()
            #expect(!FailPoint.isActive("test.first") && !FailPoint.isActive("test.shared"))
        }

        @Test("A fail point that has acted as often as it was told to is inactive")
        func count() {
            let armed = FailPoint.arm("test.counted:fail@2")
            defer { armed.disarm() }
            #expect((0..<3).map { _ in FailPoint.fails("test.counted") } == [false, true, false])
            #expect(FailPoint.strikeCount(of: "test.counted") == 1)
        }
    }
#endif
