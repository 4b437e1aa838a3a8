package import CoreAPI
package import Platform

/// A directory that its owner alone may use.
package enum PrivateDirectory {
    /// Opens the directory, and makes it with its parents when it is not there.
    ///
    /// - Throws: `invalidArgument` when the path cannot be that of a directory, `forbidden` when it is a symbolic link,
    ///   belongs to somebody else or is open to others.
    package static func open(_ path: String) throws(SharedCoreError) -> Directory {
        try GroupDirectory.secureDirectory(path, access: .participant)
    }
}
