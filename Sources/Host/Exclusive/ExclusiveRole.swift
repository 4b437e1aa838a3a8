internal import ArgumentParser
internal import CoreAPI

/// As what `exclusive` takes part.
enum ExclusiveRole: String, ExpressibleByArgument, CaseIterable {
    case main
    case executor

    var role: SessionRole {
        switch self {
        case .main: .main
        case .executor: .executor
        }
    }
}
