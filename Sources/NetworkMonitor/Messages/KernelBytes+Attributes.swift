extension KernelBytes {
    /// The attributes of a message: for each its kind, and its content. The first of a kind counts; one that does not fit
    /// ends them.
    var attributes: [UInt16: KernelBytes] {
        var attributes: [UInt16: KernelBytes] = [:]
        var rest = self
        while let length: UInt16 = rest.number(at: 0), let kind: UInt16 = rest.number(at: 2), length >= 4,
            let content = rest.part(from: 4, count: Int(length) - 4)
        {
            // The two highest bits say how the content is made, not what it is.
            let kind = kind & 0x3fff
            if attributes[kind] == nil { attributes[kind] = content }
            rest = rest.rest(from: Self.aligned(Int(length)))
        }
        return attributes
    }
}
