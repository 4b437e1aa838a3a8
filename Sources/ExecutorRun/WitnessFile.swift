package import Coordination

extension FileWitness {
    /// The witness of the group whose files lie in this directory.
    package init(besideGroup directory: String) {
        self.init(path: directory + "/witness")
    }
}
