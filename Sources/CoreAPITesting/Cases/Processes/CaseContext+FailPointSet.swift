extension CaseContext {
    /// Runs a part of a case for each of some fault places, on a fresh group; a failure names the place.
    ///
    /// - Throws: ``HarnessLimitation`` when there is no place.
    func atEach(
        _ places: [String], _ body: (_ place: String, _ group: TestGroup) async throws -> Void
    ) async throws {
        guard !places.isEmpty else {
            throw HarnessLimitation("this build of “\(harness.name)” has no places at which a process stops or dies")
        }
        for place in places {
            do {
                try await withGroup { group in try await body(place, group) }
            } catch let limitation as HarnessLimitation {
                throw limitation
            } catch {
                throw FailureAtPlace(place: place, cause: error)
            }
        }
    }
}

/// A failure of a case that tries several places.
private struct FailureAtPlace: Error, CustomStringConvertible {
    let place: String
    let cause: any Error

    var description: String { "At \(place): \(cause)" }
}
