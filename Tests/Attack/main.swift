internal import Glibc
internal import Platform

// Attacks the built program from outside: `sharedcore-attack [OPTION...]`. Scripts/attack names the options, and gives it
// a mount namespace of its own.

do {
    let options = try Options(Array(CommandLine.arguments.dropFirst()))
    if options.isListing {
        for scenario in Scenario.all { print(scenario.name) }
        exit(0)
    }
    // No file for each process that a signal ends.
    var limit = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    exit(try await Campaign(options: options).run())
} catch let problem as Options.Problem {
    print(problem.text)
    exit(64)
} catch {
    print("The attack cannot begin: \(error)")
    exit(69)
}
