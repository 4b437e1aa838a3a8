internal import Glibc

/// How much of the tests is run. `make test` leaves out what takes long; `make check` runs all that every change must pass.
/// `Docs/Testing.md` lists what is left out, and a test of the documentation compares the list with the code.
package enum TestScope {
    /// Whether `TEST_SCOPE` is `check`.
    package static let isCheck = getenv("TEST_SCOPE").map { String(cString: $0) } == "check"
}
