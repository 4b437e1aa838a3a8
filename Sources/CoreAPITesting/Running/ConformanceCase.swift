public import CoreAPI

/// One rule of the contract, or a part of it, as something that can be tried on any backend.
///
/// A case is a value: it knows nothing of a test framework. Adapters give each case a result of its own in Swift Testing
/// and in XCTest; ``run(on:seed:timeout:)`` runs it anywhere.
public struct ConformanceCase: Hashable, Sendable, Identifiable, CustomStringConvertible {
    package typealias Body = @Sendable (CaseContext) async throws -> Void

    /// The number of the rule in the contract, and a letter: `S6a`.
    public let id: String
    /// What holds, as a sentence.
    public let title: String
    /// The promises that the case is about. On a backend that does not make them, the case tries that a caller who
    /// requires them is refused.
    public let promises: Set<Capability>
    /// What a commit must survive on the backend, for a case about a group that everybody has left.
    public let durability: Durability?
    /// How long the case may take, on a slow and busy machine.
    public let timeLimit: Duration
    private let body: Body

    /// - Parameter id: The number of the rule and a letter. Rules that the case also tries stand in the title.
    package init(
        _ id: String, _ title: String, promises: Set<Capability> = [], durability: Durability? = nil,
        timeLimit: Duration = .seconds(300), body: @escaping Body
    ) {
        self.id = id
        self.title = title
        self.promises = promises
        self.durability = durability
        self.timeLimit = timeLimit
        self.body = body
    }

    /// The number of the rule in the contract: `S6`.
    public var rule: String { String(id.prefix { !$0.isLowercase }) }

    public var description: String { "\(id): \(title)" }

    func callAsFunction(_ context: CaseContext) async throws {
        try await body(context)
    }

    public static func == (left: ConformanceCase, right: ConformanceCase) -> Bool { left.id == right.id }

    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

extension ConformanceCase {
    /// Where the case stands in the contract: by part, by number, by letter.
    var place: (part: Int, number: Int, letter: String) {
        let parts: [Character] = ["S", "W", "N", "L", "C", "M", "E"]
        let part = id.first.flatMap { parts.firstIndex(of: $0) } ?? parts.count
        return (part, Int(rule.dropFirst()) ?? 0, String(id.dropFirst(rule.count)))
    }
}
