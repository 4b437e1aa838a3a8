internal import Glibc

extension Directory {
    /// What stands at the end of a path.
    package enum Following {
        case directory(Directory)
        /// A symbolic link on the way belongs to a user who is neither this process's nor root, and could lead it anywhere.
        case foreignLink(owner: UInt32)
    }

    /// To hold a place of the file system without reading it: O_PATH, which Swift does not import.
    private static let placeOnly: Int32 = 0o10000000
    /// How many links the kernel follows on one path.
    private static let linkLimit = 40

    /// Opens a directory by its absolute path, part by part, so that no link is followed but those that were looked at.
    ///
    /// - Parameter permissions: Those of the directories that are made where the path names none; nil makes none.
    package static func follow(
        _ path: String, making permissions: UInt32? = nil
    ) throws(SystemCallError) -> Following {
        var place = try Place("/", at: path)
        var parts = Array(path.split(separator: "/").reversed().map(String.init))
        var linkCount = 0
        while let part = parts.popLast() {
            let next: Place
            do throws(SystemCallError) {
                next = try Place(part, in: place, at: path)
            } catch {
                guard error.isAbsent, let permissions else { throw error }
                try place.make(part, permissions, at: path)
                parts.append(part)
                continue
            }
            let status = try next.status(at: path)
            guard status.isSymbolicLink else {
                place = next
                continue
            }
            guard status.owner == FileStatus.currentUser || status.owner == 0 else {
                return .foreignLink(owner: status.owner)
            }
            linkCount += 1
            guard linkCount <= linkLimit else { throw SystemCallError("openat", number: ELOOP, at: path) }
            let target = try next.target(at: path)
            if target.hasPrefix("/") { place = try Place("/", at: path) }
            parts += target.split(separator: "/").reversed().map(String.init)
        }
        let descriptor = try SystemCall.run("openat", at: path) {
            openat(place.descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        }
        return .directory(Directory(owning: descriptor, path: path))
    }

    /// A part of a path that was looked at: a directory, a link, or something else.
    private final class Place {
        let descriptor: Int32

        init(_ name: String, in parent: Place? = nil, at path: String) throws(SystemCallError) {
            descriptor = try SystemCall.run("openat", at: path) {
                openat(parent?.descriptor ?? AT_FDCWD, name, Directory.placeOnly | O_NOFOLLOW | O_CLOEXEC)
            }
        }

        deinit {
            close(descriptor)
        }

        func status(at path: String) throws(SystemCallError) -> FileStatus {
            var status = stat()
            _ = try SystemCall.run("fstat", at: path) { fstat(descriptor, &status) }
            return FileStatus(status)
        }

        func target(at path: String) throws(SystemCallError) -> String {
            var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
            let count = try SystemCall.run("readlinkat", at: path) { readlinkat(descriptor, "", &buffer, buffer.count) }
            return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }

        /// Makes a directory. Without power, what stands in it would be gone with its name.
        func make(_ name: String, _ permissions: UInt32, at path: String) throws(SystemCallError) {
            do throws(SystemCallError) {
                _ = try SystemCall.run("mkdir", at: path) { mkdirat(descriptor, name, permissions) }
            } catch {
                guard error.isPresent else { throw error }
                return
            }
            try synchronizeNames(at: path)
        }

        /// One that may not be read is left to the system.
        private func synchronizeNames(at path: String) throws(SystemCallError) {
            let readable: Int32
            do throws(SystemCallError) {
                readable = try SystemCall.run("open", at: path) {
                    openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                }
            } catch {
                guard error.number == EACCES else { throw error }
                return
            }
            defer { close(readable) }
            _ = try SystemCall.run("fsync", at: path) { fsync(readable) }
        }
    }
}
