/// One line of standard error that says how far a command is. For terminals only.
package enum ProgressBar {
    private static let width = 40

    package static func show(_ done: Int, of count: Int, at name: String) {
        let filled = count == 0 ? width : width * done / count
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
        write("\r\u{1b}[K\(bar) \(done)/\(count) \(name)")
    }

    package static func clear() {
        write("\r\u{1b}[K")
    }

    private static func write(_ text: String) {
        // There is nobody left to tell when this fails.
        try? StandardStream.error.write(Array(text.utf8))
    }
}
