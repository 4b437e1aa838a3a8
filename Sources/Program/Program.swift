internal import SharedCoreHost

/// The program `sharedcore`, with the bundled backends.
@main
struct Program {
    static func main() async { await SharedCoreProgram.main() }
}
