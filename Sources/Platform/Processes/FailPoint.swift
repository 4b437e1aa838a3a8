internal import Glibc
internal import Synchronization

/// The registry of injected faults: places in product code, and system calls, at which a test stops or ends the process
/// or makes the call fail. Compiled in debug builds only. The environment or ``arm(_:)`` activates them, and
/// ``strikeCount(of:)`` counts how often one has acted. A setting is `PLACE:ACTION`, and commas separate several:
///
///     SHAREDCORE_FAIL_POINT=commit.beforePublish:stop       stops the process at the place, as SIGSTOP does
///     SHAREDCORE_FAIL_POINT=roll.afterSeal:kill             kills it, as SIGKILL does
///     SHAREDCORE_FAIL_POINT=session.afterLock:exit=3        ends it with status 3
///     SHAREDCORE_FAIL_POINT=commit.afterCatchUp:wait=300    waits 300 ms
///     SHAREDCORE_FAIL_POINT=durability.sync:fail            makes the step that follows fail, with EIO
///     SHAREDCORE_FAIL_POINT=fdatasync:fail=28               makes the system call fail, with error number 28
///     SHAREDCORE_FAIL_POINT=fdatasync/journal-:fail         the same, only for paths that contain `journal-`
///     SHAREDCORE_FAIL_POINT=pwrite.short/journal-:fail      writes half of the bytes; `pread.short` reads half
///     SHAREDCORE_FAIL_POINT=start.beforeExec:fail           stops a child before it becomes its program
///     SHAREDCORE_FAIL_POINT=close_range:fail                makes a child do without `close_range`
///
/// Each setting acts once, at the first pass. `@5` at its end makes it act at the fifth pass, `*10` ten times from then
/// on, and `*` at each pass.
///
/// If a system call of the product can fail, `Platform` makes it fail, under the name of the call. Named places exist
/// only for other faults: between two steps, or to switch off a protection.
package enum FailPoint {
    /// Returns the path that each strike of a place checks, so that a trace of the process's system calls shows the
    /// strike. The file does not exist.
    ///
    /// - Parameter name: The name that the place was armed with.
    package static func mark(ofStrike name: String) -> String { "struck fail point: " + name }

    #if FAIL_POINTS
        private enum Action {
            case stop, kill
            case fail(Int32)
            case wait(UInt32)
            case exit(Int32)
        }

        private struct Setting {
            let name: String
            let action: Action
            /// The number of passes before it acts.
            var remaining: Int
            /// The number of times that it acts after that.
            var count: Int
            /// The number of the call that has armed it, from 1; 0 for the environment.
            let arming: Int

            init?(_ text: String, arming: Int) {
                self.arming = arming
                let counted = text.split(separator: "*", maxSplits: 1, omittingEmptySubsequences: false)
                count = counted.count == 2 ? Int(counted[1]) ?? .max : 1
                let parts = counted[0].split(separator: "@", maxSplits: 1).map(String.init)
                guard let first = parts.first, let colon = first.firstIndex(of: ":") else { return nil }
                let words = first[first.index(after: colon)...].split(separator: "=").map(String.init)
                switch words.first {
                case "stop": action = .stop
                case "kill": action = .kill
                case "fail": action = .fail(words.count == 2 ? Int32(words[1]) ?? EIO : EIO)
                case "wait": action = .wait(words.count == 2 ? UInt32(words[1]) ?? 0 : 0)
                case "exit": action = .exit(words.count == 2 ? Int32(words[1]) ?? 1 : 1)
                default: return nil
                }
                name = String(first[..<colon])
                remaining = parts.count == 2 ? (Int(parts[1]) ?? 1) - 1 : 0
            }
        }

        private static let settings = Mutex(
            getenv("SHAREDCORE_FAIL_POINT").map { settings(from: String(cString: $0), arming: 0) } ?? [])
        private static let armings = Atomic(0)
        private static let strikes = Mutex<[String: Int]>([:])
        /// Passing a place costs only this check if none is active.
        private static let isArmed = Atomic(getenv("SHAREDCORE_FAIL_POINT") != nil)

        private static func settings(from text: String, arming: Int) -> [Setting] {
            text.split(separator: ",").compactMap { Setting(String($0), arming: arming) }
        }

        /// The places that one call of ``FailPoint/arm(_:)`` has activated.
        package struct Arming: Sendable {
            fileprivate let number: Int

            /// Deactivates the places that have not acted as often as requested. Idempotent.
            package func disarm() {
                settings.withLock { $0.removeAll { $0.arming == number } }
            }
        }

        /// Activates places in addition to the active ones: suites of one process arm theirs at the same time.
        ///
        /// ```swift
        /// let armed = FailPoint.arm("hub.echo:fail")
        /// defer { armed.disarm() }
        /// ```
        package static func arm(_ text: String) -> Arming {
            let number = armings.add(1, ordering: .relaxed).newValue
            settings.withLock { $0 += settings(from: text, arming: number) }
            isArmed.store(true, ordering: .releasing)
            return Arming(number: number)
        }

        /// Activates places and deactivates all others, for a process in which only one task uses fail points.
        package static func armOnly(_ text: String) {
            settings.withLock { $0 = [] }
            _ = arm(text)
        }

        /// Returns the number of times that a place has acted in this process, by the name that it was armed with.
        package static func strikeCount(of name: String) -> Int { strikes.withLock { $0[name] ?? 0 } }

        /// Returns whether the place is active, for places that need preparation.
        package static func isActive(_ name: StaticString) -> Bool {
            isArmed.load(ordering: .acquiring)
                && settings.withLock { settings in settings.contains { $0.name == name.description } }
        }

        package static func hit(_ name: StaticString) {
            _ = fails(name)
        }

        /// Passes a place, and returns whether the next call must fail as if the system had refused it.
        package static func fails(_ name: StaticString) -> Bool {
            pass { $0 == name.description } != nil
        }

        /// Returns the error number with which a system call on a path must fail; nil if it must be made. A place is
        /// the name of the call, optionally followed by a slash and a part of the path.
        static func failure(of call: String, at location: @autoclosure () -> String) -> Int32? {
            guard isArmed.load(ordering: .acquiring) else { return nil }
            let location = location()
            return pass { name in
                guard name.hasPrefix(call) else { return false }
                let rest = name.dropFirst(call.count)
                return rest.isEmpty || rest.hasPrefix("/") && location.contains(rest.dropFirst())
            }
        }

        /// Passes the first matching place, and executes its action.
        ///
        /// - Returns: The error number with which the next call must fail.
        private static func pass(_ isMeant: (String) -> Bool) -> Int32? {
            guard isArmed.load(ordering: .acquiring) else { return nil }
            let action = settings.withLock { settings -> Action? in
                guard let index = settings.firstIndex(where: { isMeant($0.name) }) else { return nil }
                settings[index].remaining -= 1
                guard settings[index].remaining < 0 else { return nil }
                settings[index].count -= 1
                strikes.withLock { $0[settings[index].name, default: 0] += 1 }
                _ = access(mark(ofStrike: settings[index].name), F_OK)
                return settings[index].count > 0 ? settings[index].action : settings.remove(at: index).action
            }
            switch action {
            // `raise` sends the signal to this thread, so that it stops before its next instruction. It might run on if
            // another thread took the signal.
            case .stop: raise(SIGSTOP)
            case .kill: raise(SIGKILL)
            case .exit(let status): _exit(status)
            case .fail(let number): return number
            case .wait(let milliseconds): usleep(milliseconds * 1_000)
            case nil: break
            }
            return nil
        }
    #else
        @inline(__always)
        package static func isActive(_ name: StaticString) -> Bool { false }

        @inline(__always)
        package static func hit(_ name: StaticString) {}

        @inline(__always)
        package static func fails(_ name: StaticString) -> Bool { false }

        @inline(__always)
        static func failure(of call: String, at location: @autoclosure () -> String) -> Int32? { nil }
    #endif
}
