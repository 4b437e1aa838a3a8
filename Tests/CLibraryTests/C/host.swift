// A program in Swift, with a runtime of its own, that calls the released library from its tasks. The header is imported.
//
//   host GROUP

/// Types of the names that the library has, too.
struct SharedCoreError: Error { let code: Int }
final class Handles { var count = 1 }

@main
enum Host {
    static func main() async {
        let group = open(CommandLine.arguments[1])
        // Both runtimes have threads, and work at the same time.
        let sum = await withTaskGroup(of: Int.self) { tasks in
            for task in 0..<64 {
                tasks.addTask {
                    for call in 0..<50 {
                        let value = [UInt8(task)]
                        precondition(sc_put(group, "host/\(call % 4)", SC_NUL, value, value.count, nil, nil) == 0)
                        await Task.yield()
                    }
                    // Casts read the tables of this runtime.
                    let any: Any = Handles()
                    let error: any Error = SharedCoreError(code: task)
                    return ((error as? SharedCoreError)?.code ?? 0) * ((any as? Handles)?.count ?? 0)
                }
            }
            var sum = 0
            for await result in tasks { sum += result }
            return sum
        }
        precondition(sum == (0..<64).reduce(0, +) && sc_close(group) == 0)
        print("host: fine")
    }

    private static func open(_ directory: String) -> sc_group {
        var group: sc_group = 0
        let code = directory.withCString { path in
            var options = sc_options()
            options.size = MemoryLayout<sc_options>.size
            options.directory = path
            return sc_open(&options, &group, nil)
        }
        precondition(code == 0, "sc_open returned \(code).")
        return group
    }
}
