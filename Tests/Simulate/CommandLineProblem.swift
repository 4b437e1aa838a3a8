/// What is wrong with the arguments.
struct CommandLineProblem: Error {
    let sentence: String
}
