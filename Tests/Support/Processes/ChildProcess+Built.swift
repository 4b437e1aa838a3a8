internal import Glibc
package import Platform

extension ChildProcess {
    /// Where a program of this package was built: beside the test bundle.
    package static func built(_ name: String) throws -> String {
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
        guard let slash = bundle.lastIndex(of: "/") else { throw FileProblem(path: bundle, code: ENOENT) }
        let path = bundle[...slash] + name
        guard access(String(path), X_OK) == 0 else { throw FileProblem(path: String(path), code: errno) }
        return String(path)
    }
}
