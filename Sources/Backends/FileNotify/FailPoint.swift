internal import Glibc

/// Places in the middle of a write at which a test stops or ends the process. Compiled in debug builds only; the
/// environment says which one is active:
///
///     SHAREDCORE_FAIL_POINT=commit.beforePublish:stop       stops the process there, as SIGSTOP does
///     SHAREDCORE_FAIL_POINT=roll.afterSeal:kill             kills it, as SIGKILL does
///     SHAREDCORE_FAIL_POINT=session.afterLock:exit=3        ends it with a status
///     SHAREDCORE_FAIL_POINT=commit.afterLock:kill@5         at the fifth time only
enum FailPoint {
    #if FAIL_POINTS
        private enum Action {
            case stop, kill
            case exit(Int32)
        }

        private struct Setting {
            let name: String
            let action: Action
            let occurrence: Int
        }

        private static let setting: Setting? = {
            guard let raw = getenv("SHAREDCORE_FAIL_POINT") else { return nil }
            let parts = String(cString: raw).split(separator: "@", maxSplits: 1)
            guard let text = parts.first, let colon = text.firstIndex(of: ":") else { return nil }
            let action: Action
            switch text[text.index(after: colon)...].split(separator: "=").map(String.init) {
            case ["stop"]: action = .stop
            case ["kill"]: action = .kill
            case let words where words.first == "exit": action = .exit(words.last.flatMap { Int32($0) } ?? 1)
            default: return nil
            }
            let occurrence = parts.count == 2 ? Int(parts[1]) ?? 1 : 1
            return Setting(name: String(text[..<colon]), action: action, occurrence: occurrence)
        }()

        private static let count = FailPointCount()

        /// Whether the place is the active one, for places that need preparation.
        static func isActive(_ name: StaticString) -> Bool {
            setting?.name == name.description
        }

        static func hit(_ name: StaticString) {
            guard let setting, setting.name == name.description, count.next() == setting.occurrence else { return }
            switch setting.action {
            case .stop: kill(getpid(), SIGSTOP)
            case .kill: kill(getpid(), SIGKILL)
            case .exit(let status): _exit(status)
            }
        }
    #else
        @inline(__always)
        static func isActive(_ name: StaticString) -> Bool { false }

        @inline(__always)
        static func hit(_ name: StaticString) {}
    #endif
}
