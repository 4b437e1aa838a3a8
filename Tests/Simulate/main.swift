import Glibc
import Simulation

do throws(CommandLineProblem) {
    let isWell = await (try Command(Array(CommandLine.arguments.dropFirst()))).run()
    exit(isWell ? 0 : 1)
} catch {
    print("sharedcore-simulate: \(error.sentence)\n\(Command.usage)")
    exit(64)
}
