internal import Foundation

/// `registering-client story` simulates a day of a telephone; `registering-client live` follows the network of the
/// machine.
@main
struct RegisteringClient {
    static func main() async throws {
        switch CommandLine.arguments.dropFirst().first {
        case "story": try await Story.play()
        case "live": try await Live.run()
        default:
            print("usage: registering-client story | live")
            exit(64)
        }
    }
}
