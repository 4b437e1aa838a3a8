package import CoreAPI
internal import Platform

/// The exit status of a program.
package enum ExitStatus: Int32, Hashable, Sendable {
    /// Yes, or done.
    case success = 0
    /// The answer is no: the key is absent, the time is over, the request was refused, or a check failed.
    case no = 1
    /// The command line is wrong (`EX_USAGE`).
    case usage = 64
    /// The backend cannot be used now (`EX_UNAVAILABLE`).
    case unavailable = 69
    /// The core failed (`EX_SOFTWARE`).
    case coreFailed = 70
    /// Standard output could not be written, whether or not the work was done (`EX_IOERR`).
    case output = 74
    /// The configuration is wrong (`EX_CONFIG`).
    case configuration = 78
    /// SIGINT has ended the program before its work was finished.
    case interrupted = 130
    /// SIGTERM has ended the program before its work was finished.
    case terminated = 143

    /// Makes the exit status for an error of a group.
    package init(_ code: SharedCoreError.Code) {
        self =
            switch code {
            case .guardFailed, .cancelled: .no
            case .invalidArgument: .usage
            case .forbidden, .incompatible, .unsupported: .configuration
            default: .unavailable
            }
    }
}

extension SharedCoreError {
    /// The error as one sentence for people, with the location, the cause and the code.
    package var sentence: String { sentence(behind: "") }

    /// Returns ``sentence`` with `lead` in front. The location is not appended if the text already contains it.
    package func sentence(behind lead: String) -> String {
        text(behind: lead).ending(withCode: code)
    }

    /// Returns ``sentence(behind:)`` without the code, for a place that shows the code itself.
    package func text(behind lead: String = "") -> String {
        let text = lead + message + (cause.map { " (\($0))" } ?? "")
        let isNamed = text.contains("“\(location)”") || (location.contains("/") && text.contains(location))
        return isNamed ? text : text + " [\(location)]"
    }
}

extension String {
    /// Returns a message with the code of its error at its end, such as `(code storageFull)`. Users find the remedy by
    /// the code in the table of error codes. A code that the message already shows, because it repeats the message of
    /// another program, is not appended again.
    package func ending(withCode code: some CustomStringConvertible) -> String {
        let end = "(code \(code))"
        return contains(end) ? self : self + " " + end
    }
}

/// The checks of every program of this package before it begins.
package enum ProgramStart {
    /// The descriptors that a program needs for a group, its threads, its signals and the streams of its children, with
    /// some to spare.
    package static let descriptorCount = 48

    /// Ends the program with ``ExitStatus/unavailable`` and a message if it may open too few files or start too few
    /// threads: later, Swift's runtime would end it with SIGILL, or hang.
    ///
    /// - Parameters:
    ///   - program: Its name for the message.
    ///   - threadCount: The number of threads that it needs beside its first one and those of Swift's pool; nil for a
    ///     program with a single thread.
    ///   - status: Its exit status in that case.
    package static func requireResources(
        for program: String, threadCount: Int?, status: Int32 = ExitStatus.unavailable.rawValue
    ) {
        do throws(SharedCoreError) {
            try SpareDescriptors.require(descriptorCount, for: program, at: "start")
            if let threadCount { try SpareThreads.require(threadCount, for: program, at: "start") }
        } catch {
            StandardError.write("\(program): \(error.message)")
            OwnProcess.end(status)
        }
    }
}
