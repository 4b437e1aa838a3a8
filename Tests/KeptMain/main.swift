import KeptSockets
import Platform

// A Main for tests: it keeps one connection to a server of lines, carries out each line, and notes the lines it read.
//
//   sharedcore-test-main PORT NOTEBOOK [GROUP [REGISTRAR]]
//
// With the directory of a group it is also the Main of that group. “rest” makes it rest and then sleep, “rest-first”
// makes it rest alone, and “sleep” makes it sleep alone.

let arguments = CommandLine.arguments
guard (3...5).contains(arguments.count), let port = UInt16(arguments[1]) else {
    fatalError("usage: PORT NOTEBOOK [GROUP [REGISTRAR]]")
}
let notebook = try Notebook(path: arguments[2])
// A lock that its supervision does not know shows that this Main is the only one.
let witness = try OpenFile(path: arguments[2] + ".witness", .create)
if try !witness.tryLock(byteAt: 0) { try notebook.write("second") }
try notebook.write("start background=\(KeptSockets.isInBackground)")
let sockets = try await KeptSockets.connect()
let connection: Connection
if let kept = try await sockets.recover().first(where: { $0.name == "line" }) {
    connection = Connection(try kept.descriptor())
    try notebook.write("recovered")
} else {
    connection = try Connection(port: port)
    try await sockets.keep(connection.descriptor, as: "line")
    try notebook.write("connected")
}
let resting =
    arguments.count > 3
    ? try await RestingMain(of: arguments[3], notebook, registrar: arguments.dropFirst(4).first) : nil
let wakes = Wakes(of: sockets, notebook, resting: resting)
let thread = SerialThread(name: "lines")
while true {
    let line = try await thread.run { () throws(ConnectionEnd) in try connection.line(notingIn: notebook) }
    let words = line.split(separator: " ").map(String.init)
    switch words.first {
    case "sleep":
        // If there is no keeper now, the next one learns of it.
        try? await sockets.enterBackground()
        await wakes.next()
    case "rest":
        try await resting?.rest()
        try? await sockets.enterBackground()
        try notebook.write("sleeps")
        await wakes.next()
        try await resting?.resume()
    case "rest-first": try await resting?.rest()
    case "exit-asleep":
        try await sockets.enterBackground()
        try Connection.exit(Int32(words[1]) ?? 0)
    case "exit": try Connection.exit(Int32(words[1]) ?? 0)
    case "calls": try? await sockets.setActiveCalls(Int(words[1]) ?? 0)
    case "alive": try? await sockets.sendHeartbeat()
    case "release": try await sockets.release("line")
    default: break
    }
}
