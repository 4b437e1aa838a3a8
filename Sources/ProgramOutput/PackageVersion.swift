/// The version of the package: of its programs and of the C library.
package enum PackageVersion {
    /// `Scripts/c-library` reads this line for its pkg-config file; a test compares it with the version of the Python
    /// package.
    package static var bytes: StaticString { "0.1.0" }

    package static var text: String { bytes.description }
}
