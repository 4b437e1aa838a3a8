import PostgresBackend
import SharedCoreHost

@main
struct Program {
    static func main() async { await SharedCoreProgram.main(adding: [PostgresFactory()]) }
}
