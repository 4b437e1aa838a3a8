internal import Glibc

/// Defects of a backend that a test builds into a process, to see that its cases notice them. Compiled in debug builds
/// only; a release build has none of them and reads no setting. The environment names the defect of a process:
///
///     SHAREDCORE_DEFECT=blindPublication
///
/// A defect may remove a protection, so a process that has one says so on standard error.
package protocol BackendDefect: CaseIterable, Hashable, Sendable {
    #if FAIL_POINTS
        /// The one that this process has: ``injected()``, read once.
        static var present: Self? { get }
    #endif
}

extension BackendDefect {
    #if FAIL_POINTS
        /// Whether this process has the defect.
        package var isPresent: Bool { Self.present == self }

        /// Returns the one that the environment names.
        package static func injected() -> Self? {
            guard let name = getenv("SHAREDCORE_DEFECT").map({ String(cString: $0) }),
                let defect = allCases.first(where: { "\($0)" == name })
            else { return nil }
            // No file is opened for it: that asks for defects.
            let line = Array("SHAREDCORE_DEFECT: \(Self.self).\(name) is present\n".utf8)
            _ = write(STDERR_FILENO, line, line.count)
            return defect
        }
    #else
        @inline(__always)
        package var isPresent: Bool { false }
    #endif
}
