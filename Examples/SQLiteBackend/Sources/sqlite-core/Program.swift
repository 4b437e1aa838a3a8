import SQLiteBackend
import SharedCoreHost

/// `sharedcore` with all of its commands, and `--backend sqlite`.
@main
struct Program {
    static func main() async { await SharedCoreProgram.main(adding: [SQLiteFactory()]) }
}
