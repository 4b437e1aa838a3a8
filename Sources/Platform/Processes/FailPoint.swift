internal import Glibc
internal import Synchronization

/// Places in the middle of a write at which a test stops or ends the process. Compiled in debug builds only. The
/// environment or ``arm(_:)`` says which ones are active:
///
///     SHAREDCORE_FAIL_POINT=commit.beforePublish:stop       stops the process there, as SIGSTOP does
///     SHAREDCORE_FAIL_POINT=roll.afterSeal:kill             kills it, as SIGKILL does
///     SHAREDCORE_FAIL_POINT=session.afterLock:exit=3        ends it with a status
///     SHAREDCORE_FAIL_POINT=commit.afterLock:kill@5         at the fifth time only
///     SHAREDCORE_FAIL_POINT=durability.sync:fail            as if the system refused what follows
///     SHAREDCORE_FAIL_POINT=roll.afterSeal:stop,roll.afterPlace:kill     several, each of them once
package enum FailPoint {
    #if FAIL_POINTS
        private enum Action {
            case stop, kill, fail
            case exit(Int32)
        }

        private struct Setting {
            let name: String
            let action: Action
            /// How often the place is passed before.
            var remaining: Int

            init?(_ text: String) {
                let parts = text.split(separator: "@", maxSplits: 1).map(String.init)
                guard let first = parts.first, let colon = first.firstIndex(of: ":") else { return nil }
                let words = first[first.index(after: colon)...].split(separator: "=").map(String.init)
                switch words.first {
                case "stop": action = .stop
                case "kill": action = .kill
                case "fail": action = .fail
                case "exit": action = .exit(words.count == 2 ? Int32(words[1]) ?? 1 : 1)
                default: return nil
                }
                name = String(first[..<colon])
                remaining = parts.count == 2 ? (Int(parts[1]) ?? 1) - 1 : 0
            }
        }

        private static let settings = Mutex(
            getenv("SHAREDCORE_FAIL_POINT").map { settings(from: String(cString: $0)) } ?? [])
        /// Passing a place costs no more than this when none is active.
        private static let isArmed = Atomic(getenv("SHAREDCORE_FAIL_POINT") != nil)

        private static func settings(from text: String) -> [Setting] {
            text.split(separator: ",").compactMap { Setting(String($0)) }
        }

        /// Makes other places the active ones.
        package static func arm(_ text: String) {
            settings.withLock { $0 = settings(from: text) }
            isArmed.store(true, ordering: .releasing)
        }

        /// Whether the place is active, for places that need preparation.
        package static func isActive(_ name: StaticString) -> Bool {
            isArmed.load(ordering: .acquiring)
                && settings.withLock { settings in settings.contains { $0.name == name.description } }
        }

        package static func hit(_ name: StaticString) {
            _ = fails(name)
        }

        /// Passes a place. Whether what follows is to fail as if the system had refused it.
        package static func fails(_ name: StaticString) -> Bool {
            guard isArmed.load(ordering: .acquiring) else { return false }
            let action = settings.withLock { settings -> Action? in
                guard let index = settings.firstIndex(where: { $0.name == name.description }) else { return nil }
                settings[index].remaining -= 1
                guard settings[index].remaining < 0 else { return nil }
                return settings.remove(at: index).action
            }
            switch action {
            // To this thread, which then does not run another instruction, as it might if another one took the signal.
            case .stop: raise(SIGSTOP)
            case .kill: raise(SIGKILL)
            case .exit(let status): _exit(status)
            case .fail: return true
            case nil: break
            }
            return false
        }
    #else
        @inline(__always)
        package static func isActive(_ name: StaticString) -> Bool { false }

        @inline(__always)
        package static func hit(_ name: StaticString) {}

        @inline(__always)
        package static func fails(_ name: StaticString) -> Bool { false }
    #endif
}
