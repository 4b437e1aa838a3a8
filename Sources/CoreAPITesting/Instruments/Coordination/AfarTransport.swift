package import Coordination
package import CoreAPI

/// Keeps batons as usual, but cannot reach other keepers, as if they were on another machine.
package struct AfarTransport: BatonTransport {
    package init() {}

    package func keep(_ baton: Baton, of epoch: Revision) throws(SharedCoreError) -> any BatonKeeping {
        try LocalBatonTransport().keep(baton, of: epoch)
    }

    package func fetch(_ record: BatonRecord) async -> Result<FetchedBaton, BatonProblem> {
        var unreached = record
        unreached.keepers = []
        return await LocalBatonTransport().fetch(unreached)
    }
}
