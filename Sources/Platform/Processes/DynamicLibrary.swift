package import CoreAPI
internal import Glibc

/// A library that is loaded on demand, never unloaded, and not linked.
package struct DynamicLibrary {
    /// The system's handle: a word, so that it can go to the search for a name.
    private let handle: UInt
    private let name: String

    /// Loads a library by the name that the dynamic linker knows.
    ///
    /// - Throws: ``SharedCoreError/Code/unavailable`` with `remedy` in its message.
    package init(named name: String, remedy: String) throws(SharedCoreError) {
        guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else {
            throw SharedCoreError(
                .unavailable, "The library cannot be loaded: \(remedy).", at: name, cause: Self.lastError())
        }
        self.handle = UInt(bitPattern: handle)
        self.name = name
    }

    /// Finds a function, in the library and in those that it needs itself.
    ///
    /// The caller must pass the correct type: the library does not contain it.
    package func function<Function>(
        _ symbol: String, as type: Function.Type = Function.self
    ) throws(SharedCoreError) -> Function {
        guard let address = dlsym(UnsafeMutableRawPointer(bitPattern: handle), symbol) else {
            throw SharedCoreError(
                .unavailable,
                "The library “\(name)” has no function “\(symbol)”: it is another version, or does not export it.",
                at: name, cause: Self.lastError())
        }
        return unsafeBitCast(address, to: type)
    }

    private static func lastError() -> String? {
        dlerror().map { String(cString: $0) }
    }
}
