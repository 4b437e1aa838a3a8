internal import CLinux

/// What somebody has attached to a file by a name.
package enum FileAttribute {
    /// The attribute as text; nil when there is none, or none that this process may see.
    package static func text(_ name: String, of path: String) -> String? {
        var value = [UInt8](repeating: 0, count: 256)
        let count = clinux_attribute(path, name, &value, value.count)
        return count < 0 ? nil : String(decoding: value[..<Int(count)], as: UTF8.self)
    }
}
