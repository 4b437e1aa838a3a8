internal import Testing

extension KeeperTests {
    @Suite("P6, P7, P8: stories at random")
    struct CampaignTests {
        @Test("Two thousand stories break no rule")
        func stories() {
            for seed in 0..<UInt64(2000) {
                let problem = SupervisionCampaign.problem(of: .none, seed: seed)
                #expect(problem == nil, "seed \(seed)")
                if problem != nil { return }
            }
        }

        @Test("A machine that is broken breaks one", arguments: SupervisionMutant.all)
        func mutant(_ mutant: SupervisionMutant) {
            let found = (0..<UInt64(2000)).lazy.compactMap { SupervisionCampaign.problem(of: mutant, seed: $0) }.first
            #expect(found != nil, "nobody has noticed: \(mutant)")
        }
    }
}
