internal import Foundation

/// `registering-client story` plays a day of a telephone; `registering-client live` lives in the network that there is.
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
