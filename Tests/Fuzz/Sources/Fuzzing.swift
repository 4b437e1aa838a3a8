internal import CFuzzer

/// The target of this process, and the functions that the runtime of libFuzzer calls.
enum Fuzzing {
    // Set before the runtime starts.
    nonisolated(unsafe) static var target = FuzzTarget.journal

    /// Mutates bytes in the library's own ways.
    static func changed(_ bytes: [UInt8], maximum: Int) -> [UInt8] {
        let capacity = max(maximum, bytes.count, 1)
        return [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            _ = buffer.update(fromContentsOf: bytes)
            guard let base = buffer.baseAddress else { return }
            count = LLVMFuzzerMutate(base, bytes.count, capacity)
        }
    }
}

@_cdecl("LLVMFuzzerCustomMutator")
func mutate(_ data: UnsafeMutablePointer<UInt8>, _ size: Int, _ maximum: Int, _ seed: UInt32) -> Int {
    guard let shape = Fuzzing.target.shape else { return LLVMFuzzerMutate(data, size, maximum) }
    let bytes = Array(UnsafeBufferPointer(start: data, count: size))
    let mutated = shape.mutated(bytes, maximum: maximum, seed: seed)
    guard mutated.count <= maximum else { return size }
    mutated.withUnsafeBufferPointer { buffer in
        if let base = buffer.baseAddress { data.update(from: base, count: buffer.count) }
    }
    return mutated.count
}

@_cdecl("LLVMFuzzerCustomCrossOver")
func cross(
    _ first: UnsafePointer<UInt8>, _ firstSize: Int, _ second: UnsafePointer<UInt8>, _ secondSize: Int,
    _ output: UnsafeMutablePointer<UInt8>, _ maximum: Int, _ seed: UInt32
) -> Int {
    // Without a shape, a mutation of the first input: its bytes unchanged would be a run for nothing.
    guard let shape = Fuzzing.target.shape else {
        let count = min(firstSize, maximum)
        output.update(from: first, count: count)
        return LLVMFuzzerMutate(output, count, maximum)
    }
    let bytes = Array(UnsafeBufferPointer(start: first, count: firstSize))
    let other = Array(UnsafeBufferPointer(start: second, count: secondSize))
    let crossed = shape.crossed(bytes, with: other, maximum: maximum, seed: seed)
    let count = min(crossed.count, maximum)
    crossed.withUnsafeBufferPointer { buffer in
        if let base = buffer.baseAddress { output.update(from: base, count: count) }
    }
    return count
}
