internal import CFuzzer
internal import CoreAPI
internal import Platform

// The first argument names the target; the others are of libFuzzer.
var arguments = Array(CommandLine.arguments)
guard arguments.count > 1, let target = FuzzTarget(rawValue: arguments[1]) else {
    let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: " ")
    fatalError("Name a target: \(names)")
}
arguments.remove(at: 1)
Fuzzing.target = target
if let file = arguments.firstIndex(of: "--seeds") {
    // Writes the first inputs of the target to a directory.
    for (index, seed) in Seeds.of(target).enumerated() {
        try OpenFile(path: arguments[file + 1] + "/seed-\(index)", .createNew).write(seed, at: 0)
    }
    OwnProcess.exit(0)
}
if let file = arguments.firstIndex(of: "--dictionary") {
    // Writes the words of the target in libFuzzer's form.
    let lines = (target.shape?.words ?? []).map { word in
        "\"" + word.map { "\\x" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "\"\n"
    }
    try OpenFile(path: arguments[file + 1], .create).write(Array(lines.joined().utf8), at: 0)
    OwnProcess.exit(0)
}
#if PLANTED
    plantedBug = OwnProcess.variable("SHAREDCORE_FUZZ_PLANTED").map { String(decoding: $0, as: UTF8.self) } ?? ""
#endif
var count = Int32(arguments.count)
var pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> = .allocate(capacity: arguments.count + 1)
for (index, argument) in arguments.enumerated() {
    let bytes = argument.utf8CString
    let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
    bytes.withUnsafeBufferPointer { copy.initialize(from: $0.baseAddress.unsafelyUnwrapped, count: bytes.count) }
    pointers[index] = copy
}
pointers[arguments.count] = nil
_ = LLVMFuzzerRunDriver(&count, &pointers) { data, size in
    Fuzzing.target.run(Array(UnsafeBufferPointer(start: data, count: size)))
    return 0
}
