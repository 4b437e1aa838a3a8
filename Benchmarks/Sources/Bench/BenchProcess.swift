internal import CoreAPI
internal import Platform
internal import ProgramOutput

/// A program that measures a figure: it takes an order from each line of its input, and prints its results in lines.
///
/// It has a session of its own, since Control-C at a terminal is for the measuring program, which ends the others and
/// prints the results so far.
extension ChildProcess {
    convenience init(measuring path: String, _ arguments: [String]) throws {
        try self.init(path, arguments, input: true, ownSession: true)
    }

    /// The next line that it prints.
    ///
    /// - Throws: When it has ended without one.
    func line() async throws -> String {
        guard let line = try await nextLine() else {
            throw BenchFailure(.unavailable, "a participant ended before it had said what it did")
        }
        return line
    }

    /// Waits for a line that begins with a word.
    ///
    /// - Returns: The time that it tells; zero where it tells none.
    @discardableResult
    func hear(_ word: String) async throws -> BootInstant {
        while true {
            let parts = try await line().split(separator: " ")
            guard parts.first.map(String.init) == word else { continue }
            return BootInstant(nanoseconds: parts.count > 1 ? UInt64(parts[1]) ?? 0 : 0)
        }
    }

    /// Gives an order and waits for its numbers.
    @discardableResult
    func numbers(after order: String) async throws -> [Double] {
        try send(order)
        while true {
            let parts = try await line().split(separator: " ")
            if parts.first == "done" { return parts.dropFirst().compactMap { Double($0) } }
        }
    }

    /// Waits until it can take orders.
    ///
    /// - Throws: ``Figure/Absence`` if the measured software is not installed.
    func waitUntilReady() async throws {
        while true {
            let line = try await line()
            if line == "ready" { return }
            if line.hasPrefix("absent ") { throw Figure.Absence(reason: String(line.dropFirst(7))) }
        }
    }

    /// Closes its input, and waits for its end.
    func finish() async throws {
        closeInput()
        while try await nextLine() != nil {}
    }
}
