internal import Glibc

/// Defects of a backend that a test injects into a process, to prove that its cases detect them. Compiled in debug
/// builds only; a release build has none of them and reads no setting. The environment names the defect of a process:
///
///     SHAREDCORE_DEFECT=blindPublication
///
/// A defect may remove a protection, so a process with a defect reports it on standard error.
package protocol BackendDefect: CaseIterable, Hashable, Sendable {
    #if FAIL_POINTS
        /// The defect of this process: ``injected()``, read once.
        static var present: Self? { get }
    #endif
}

extension BackendDefect {
    #if FAIL_POINTS
        /// True if this process has the defect.
        package var isPresent: Bool { Self.present == self }

        /// Returns the defect named by the environment.
        package static func injected() -> Self? {
            guard let name = getenv("SHAREDCORE_DEFECT").map({ String(cString: $0) }),
                let defect = allCases.first(where: { "\($0)" == name })
            else { return nil }
            // No file is opened for the report, since opening a file checks for defects.
            let line = Array("SHAREDCORE_DEFECT: \(Self.self).\(name) is present\n".utf8)
            _ = write(STDERR_FILENO, line, line.count)
            return defect
        }
    #else
        @inline(__always)
        package var isPresent: Bool { false }
    #endif
}
