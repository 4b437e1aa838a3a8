public import BackendRegistry

/// The program `sharedcore` as a library: an application calls it from its own `main` and adds its own backends.
///
/// ```swift
/// @main
/// struct Program {
///     static func main() async { await SharedCoreProgram.main(adding: [SQLiteFactory()]) }
/// }
/// ```
///
/// The command line, the configuration file and the environment can then choose an added backend by its name, as in
/// `--backend NAME`. The processes that the program starts, such as the Executors of `serve`, run the same program.
///
/// Source: decision 51.
public enum SharedCoreProgram {
    /// The backends that were added.
    @TaskLocal static var added: [any BackendFactory] = []

    /// The bundled backends and those that were added.
    static var registry: BackendRegistry {
        var registry = BackendRegistry.bundled()
        for factory in added { registry.register(factory) }
        return registry
    }

    /// Runs the command that the arguments of this process name. Returns only after success; otherwise ends the process with
    /// the command's status.
    ///
    /// Call it first in `main`: it changes the dispositions of signals, and in an Executor the heap.
    ///
    /// - Parameter backends: The application's backends. Their names have 1 to 32 lower-case letters, digits and `-`,
    ///   begin with a letter, and differ from those of the bundled ones; else each command that reads the configuration
    ///   ends with status 78.
    public static func main(adding backends: [any BackendFactory] = []) async {
        let arguments = SharedCoreCommand.prepare()
        await $added.withValue(backends) { await SharedCoreCommand.carryOut(arguments) }
    }
}
