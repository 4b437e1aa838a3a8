/// The program `sharedcore`, as its executable starts it.
package enum SharedCoreProgram {
    /// Runs the command that the arguments of this process name, and ends the process with its exit status.
    package static func main() async {
        await SharedCoreCommand.main()
    }
}
