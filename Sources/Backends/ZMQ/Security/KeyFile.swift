public import CoreAPI
internal import Platform

/// The files in which keys are kept.
public enum KeyFile {
    /// Reads the secret key of a file that nobody but its owner may read.
    ///
    /// - Throws: ``SharedCoreError/Code/forbidden`` when it belongs to somebody else or is open to others,
    ///   ``SharedCoreError/Code/invalidArgument`` when it is not there or holds no key.
    public static func secretKey(at path: String) throws(SharedCoreError) -> CurveKeyPair {
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

    /// Reads the public keys that a hub lets in: one at the beginning of each line, behind which anything may stand.
    ///
    /// - Throws: ``SharedCoreError/Code/forbidden`` when others may write it, ``SharedCoreError/Code/invalidArgument``
    ///   when it is not there or a line holds no key.
    public static func publicKeys(at path: String) throws(SharedCoreError) -> Set<String> {
        let text = try read(path, forbidding: 0o022, "What says who is let in", right: "644")
        var keys: Set<String> = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            guard let word = line.split(whereSeparator: \.isWhitespace).first else { continue }
            do throws(SharedCoreError) {
                try CurveKeyPair.check(String(word), "public key")
            } catch {
                throw SharedCoreError(error.code, error.message, at: "\(path):\(index + 1)")
            }
            keys.insert(String(word))
        }
        return keys
    }

    /// Writes a secret key into a new file that nobody but its owner may read.
    ///
    /// - Throws: ``SharedCoreError/Code/guardFailed`` when something has that name already.
    public static func write(secretKeyOf pair: CurveKeyPair, to path: String) throws(SharedCoreError) {
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        do throws(SystemCallError) {
            let directory = try Directory(path: slash > path.startIndex ? String(path[..<slash]) : "/")
            let name = String(path[path.index(after: slash)...])
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
