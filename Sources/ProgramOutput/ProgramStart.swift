internal import CoreAPI
internal import Glibc
internal import Platform

/// What every program of this package looks at before it begins.
package enum ProgramStart {
    /// What a program needs for a group, its threads, its signals and the streams of what it starts, with some to spare.
    package static let descriptorCount = 48

    /// Ends the program with ``ExitStatus/unavailable`` and a message where it may open too few files: later, Swift's
    /// runtime would end it with SIGILL.
    ///
    /// - Parameters:
    ///   - program: Its name for the message.
    ///   - status: Its status then, for a program that has one of its own for failures.
    package static func requireDescriptors(
        for program: String, status: Int32 = ExitStatus.unavailable.rawValue
    ) {
        do throws(SharedCoreError) {
            try SpareDescriptors.require(descriptorCount, for: program, at: "start")
        } catch {
            StandardError.write("\(program): \(error.message)")
            _exit(status)
        }
    }
}
