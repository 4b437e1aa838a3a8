internal import Glibc
package import Platform

extension ChildProcess {
    /// The absolute path of a program of this package: beside the test bundle, however that was named when it was started.
    package static func built(_ name: String) throws -> String {
        let path = try OwnProgram.sibling(name)
        guard access(path, X_OK) == 0 else { throw FileProblem(path: path, code: errno) }
        return path
    }
}

/// A system call on a file failed in the test's own preparation.
package struct FileProblem: Error, CustomStringConvertible {
    package let path: String
    package let code: Int32

    package init(path: String, code: Int32) {
        self.path = path
        self.code = code
    }

    package var description: String { "\(path): \(String(cString: strerror(code)))" }
}
