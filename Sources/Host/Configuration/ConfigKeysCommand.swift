#if ZMQ
    internal import ArgumentParser
    internal import CoreAPI
    internal import ProgramOutput
    internal import SharedCoreConfiguration
    internal import ZMQBackend

    /// `config keys`: makes a pair of keys for connections over a network.
    struct ConfigKeys: HostCommand {
        static let configuration = CommandConfiguration(
            commandName: "keys", abstract: "Make a pair of keys for ZeroMQ over a network (CURVE).",
            discussion: HelpPage.text(
                """
                The secret key goes into a new file that nobody else may read, for “zmq.secretKey”; the public one is \
                printed, for the others' “zmq.hubKey” or for the hub's “zmq.clientKeys”. Status 1 when the file is there \
                already. --of prints the public key of a file that was made before.
                """, examples: ["sharedcore config keys --out hub.key", "sharedcore config keys --of hub.key"]))

        @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

        @Option(help: "The file for the secret key. (default: sharedcore.key)")
        var out: String?

        @Option(help: "Print the public key that belongs to the secret key of this file, and make none.")
        var of: String?

        func validate() throws {
            if of != nil, out != nil { throw ValidationError("--of and --out exclude each other.") }
            if let out, out.isEmpty || out.utf8.contains(0) { throw ValidationError("--out names a file.") }
        }

        func run(in context: CommandContext) async throws {
            if let of {
                let path = try context.resolution.absolutePath(of)
                let key = try KeyFile.secretKey(at: path).publicKey
                return try await context.output.confirm(
                    text: key, json: ["publicKey": .text(key), "secretKeyFile": .text(path)])
            }
            let name = out ?? "sharedcore.key"
            let path = try context.resolution.absolutePath(name)
            let pair = try CurveKeyPair.generate()
            try KeyFile.write(secretKeyOf: pair, to: path)
            if !global.json { StandardError.write("sharedcore: the secret key is in \(path)") }
            try await context.output.confirm(
                text: pair.publicKey,
                json: ["publicKey": .text(pair.publicKey), "secretKeyFile": .text(path)])
        }
    }
#endif
