import CoreAPI
import CoreAPITesting
import SQLiteBackend

// The second process of a conformance case.
await ConformancePeer { path, description throws(SharedCoreError) in
    try await SQLiteGroup.open(path: path, as: description)
}.serve()
