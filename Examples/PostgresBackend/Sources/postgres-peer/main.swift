import CoreAPI
import CoreAPITesting
import LogBackend
import PostgresBackend

// The second process of a conformance case. With `put ADDRESS NAME` it writes numbered values for ever instead, and prints each number
// that was acknowledged.
let words = CommandLine.arguments.dropFirst()
if words.first == "put", let name = words.last {
    try await Writer.run(in: try PeerAddress(words.dropFirst().dropLast().joined(separator: " ")).place, as: name)
} else {
    await ConformancePeer(arm: FaultPlace.arm) { address, description throws(SharedCoreError) in
        try await PostgresGroup.open(
            try PeerAddress(address).place, as: description, options: .postgres, through: LogWithFaults.init)
    }.serve()
}
