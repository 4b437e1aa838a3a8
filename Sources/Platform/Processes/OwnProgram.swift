internal import Glibc

/// The program that this process runs.
package enum OwnProgram {
    /// Where it was when this was first asked for. Later, another version may have taken its place.
    ///
    /// - Throws: What hinders it, such as that there is no /proc.
    package static var path: String {
        get throws(SystemCallError) { try found.get() }
    }

    /// The path of a program that stands beside it.
    package static func sibling(_ name: String) throws(SystemCallError) -> String {
        try path.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/" + name
    }

    private static let found: Result<String, SystemCallError> = {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0 else { return .failure(SystemCallError("readlink", number: errno, at: "/proc/self/exe")) }
        return .success(String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self))
    }()
}
