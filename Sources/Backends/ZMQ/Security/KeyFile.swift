public import CoreAPI
internal import FileNotifyBackend
internal import Platform

/// Reads and writes key files.
public enum KeyFile {
    /// Reads the secret key from a file that only its owner may read.
    ///
    /// - Throws: ``SharedCoreError/Code/forbidden`` when the file belongs to another user or is open to others,
    ///   ``SharedCoreError/Code/invalidArgument`` when the file is missing or contains no key, and when the path itself
    ///   has the form of a key, which then appears in no message.
    public static func secretKey(at path: String) throws(SharedCoreError) -> CurveKeyPair {
        guard !CurveKeyPair.isKey(path) || (path.isAbsolutePath && (try? FileStatus(ofPath: path)) != nil) else {
            throw SharedCoreError(
                .invalidArgument, "A key was given in the place of the path of its file.", at: "secret key")
        }
        let words = try read(path, forbidding: 0o077, "A secret key", right: "600").split(
            whereSeparator: \.isWhitespace)
        guard let key = words.first, words.count == 1 else {
            throw SharedCoreError(
                .invalidArgument, "The file of a secret key holds the key and nothing else, this one does not.",
                at: path)
        }
        do throws(SharedCoreError) {
            return try CurveKeyPair(secretKey: String(key))
        } catch {
            throw SharedCoreError(error.code, error.message, at: path)
        }
    }

    /// Reads the public keys that a hub allows: one at the beginning of each line. It may be followed by `rights=read`
    /// or `rights=post`, without which the key's clients have all rights, and then by a comment that begins with `#`.
    /// No key begins with `#`: four bytes as five characters of Z85 are never that large.
    ///
    /// - Throws: ``SharedCoreError/Code/forbidden`` when others may write the file,
    ///   ``SharedCoreError/Code/invalidArgument`` when it is missing, or when a line contains no key, unknown rights,
    ///   another word behind the key, the key of another line, or a control character.
    public static func publicKeys(at path: String) throws(SharedCoreError) -> [String: ClientRights] {
        let text = try read(path, forbidding: 0o022, "The list of allowed keys", right: "644")
        var keys: [String: ClientRights] = [:]
        let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        for (index, line) in lines.enumerated() {
            func refuse(_ message: String) -> SharedCoreError {
                SharedCoreError(.invalidArgument, message, at: "\(path):\(index + 1)")
            }
            // Editors show some control characters as the end of a line and others as nothing, so a comment could hide
            // a key.
            guard line.unicodeScalars.allSatisfy(isPlain) else {
                throw refuse("A line of the list ends with a line feed, and holds no other control character but tabs.")
            }
            // Other characters, such as U+00A0, look like these, and are part of a word.
            let words = line.split { $0 == " " || $0 == "\t" }
            guard let word = words.first, !word.hasPrefix("#") else { continue }
            do throws(SharedCoreError) {
                try CurveKeyPair.check(String(word), "public key")
            } catch {
                throw SharedCoreError(error.code, error.message, at: "\(path):\(index + 1)")
            }
            var rest = words.dropFirst()
            var rights: ClientRights? = .participate
            if let right = rest.first, right.hasPrefix(rightsPrefix) {
                rights = ClientRights(rawValue: String(right.dropFirst(rightsPrefix.count)))
                rest.removeFirst()
            }
            guard let rights else { throw refuse("The rights of a key are read, post or participate.") }
            // A mistyped restriction must not count as a comment: the key would have all rights.
            if let unknown = rest.first, !unknown.hasPrefix("#") {
                // The word itself is not shown: it may be a secret key.
                let number = words.count - rest.count + 1
                throw refuse(
                    "Word \(number) of the line is unknown. After a key, write its rights as “rights=read”, then a comment "
                        + "that begins with “#”.")
            }
            guard keys.updateValue(rights, forKey: String(word)) == nil else {
                throw refuse("The list has the key twice.")
            }
        }
        return keys
    }

    private static let rightsPrefix = "rights="

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control: scalar == "\t"
        case .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }

    /// The name of the file with the key for this machine, in a group's directory.
    static let groupName = "hub.key"

    /// Reads the pair of keys for a hub on loopback and the clients of the same user, if no keys are configured. Both sides
    /// read the secret key from the file `hub.key` in the group's directory.
    ///
    /// - Parameters:
    ///   - directory: The absolute path of the group's directory.
    ///   - isMade: Whether to create a missing pair, with the directory, as hubs do.
    /// - Throws: ``SharedCoreError/Code/unavailable`` when there is none; the errors of ``secretKey(at:)``.
    public static func pair(
        ofGroup directory: String, making isMade: Bool = false
    ) throws(SharedCoreError) -> CurveKeyPair {
        let path = directory + "/" + groupName
        if isMade, (try? FileStatus(ofPath: path)) == nil {
            let place = try PrivateDirectory.open(directory)
            let pair = try CurveKeyPair.generate()
            try SharedCoreError.wrapping { () throws(SystemCallError) in
                try makeWhole(groupName, Array((pair.secretKey + "\n").utf8), in: place)
            }
        } else if !isMade, (try? FileStatus(ofPath: path)) == nil {
            throw SharedCoreError(
                .unavailable,
                "No hub of this group has listened to a port of this machine, and no keys are configured. “sharedcore hub” "
                    + "listens there, and makes this file for the clients of its user.", at: path)
        }
        return try secretKey(at: path)
    }

    /// Creates a file with its whole content, unless the name exists.
    private static func makeWhole(_ name: String, _ bytes: [UInt8], in directory: Directory) throws(SystemCallError) {
        if let file = try OpenFile.unnamed(name, in: directory) {
            try file.write(bytes, at: 0)
            try file.synchronizeContent()
            _ = try file.link(as: name, in: directory)
        } else {
            let temporary = "\(name).\(ProcessIdentity.current.pid)"
            _ = try directory.remove(temporary)
            let file = try OpenFile(temporary, in: directory, .createNew)
            try file.write(bytes, at: 0)
            try file.synchronizeContent()
            if try !directory.rename(temporary, toFree: name) { _ = try directory.remove(temporary) }
        }
    }

    /// Writes a secret key to a new file that only its owner may read.
    ///
    /// - Throws: ``SharedCoreError/Code/guardFailed`` when the name exists already.
    public static func write(secretKeyOf pair: CurveKeyPair, to path: String) throws(SharedCoreError) {
        let (place, name) = Directory.parts(of: path)
        do throws(SystemCallError) {
            let directory = try Directory(path: place)
            let file = try OpenFile(name, in: directory, .createNew)
            do throws(SystemCallError) {
                try file.write(Array((pair.secretKey + "\n").utf8), at: 0)
                try file.synchronizeContent()
            } catch {
                _ = try? directory.remove(name)
                throw error
            }
        } catch {
            if error.isPresent {
                throw SharedCoreError(.guardFailed, "There is a file already; a key is never written over.", at: path)
            }
            throw SharedCoreError(error)
        }
    }

    private static func read(
        _ path: String, forbidding bits: UInt32, _ what: String, right: String
    ) throws(SharedCoreError) -> String {
        String(decoding: try GuardedFile.read(path, forbidding: bits, what, right: right), as: UTF8.self)
    }
}
