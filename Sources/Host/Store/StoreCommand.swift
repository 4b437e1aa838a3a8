internal import ArgumentParser

/// `store`: the shared dictionary.
struct StoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store", abstract: "Read, write and watch the shared dictionary.",
        subcommands: [StoreGet.self, StorePut.self, StoreDelete.self, StoreList.self, StoreWatch.self])
}
