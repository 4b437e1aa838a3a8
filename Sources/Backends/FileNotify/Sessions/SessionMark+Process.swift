internal import CoreAPI
internal import Platform
internal import StoreEngine

extension SessionMark {
    /// Whether the number of the session's process means that process to this one. Where the system does not tell the
    /// namespace, as without /proc, numbers mean nothing and only the byte counts.
    var namesProcess: Bool {
        processNamespace != 0 && processNamespace == ProcessIdentity.currentNamespace
    }
}
