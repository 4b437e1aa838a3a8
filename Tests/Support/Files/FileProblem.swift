internal import Glibc

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
