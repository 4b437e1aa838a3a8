internal import KeptSockets
internal import Testing

@testable internal import sharedcore

extension KeeperTests {
    @Suite("What status says of a supervised Main")
    struct SupervisionWordsTests {
        private func line(_ change: (inout KeeperStatus) -> Void) -> String {
            var status = KeeperStatus(keeper: 7, state: "running")
            change(&status)
            return SupervisionOverview(status).lines.first ?? ""
        }

        @Test("One is one, and several are several")
        func numbers() {
            #expect(line { ($0.failures, $0.calls) = (1, 1) }.contains("1 call, 1 failure in a row"))
            #expect(line { ($0.failures, $0.calls) = (2, 3) }.contains("3 calls, 2 failures in a row"))
            #expect(line { _ in } == "main      keeper 7, running")
        }
    }
}
