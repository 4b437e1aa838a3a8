// One import for programs that name a backend in code. It declares nothing. `Lifecycle` is not among these modules: its
// `Service` is the name of swift-service-lifecycle's protocol, too.
@_exported public import BackendRegistry
@_exported public import Coordination
@_exported public import CoreAPI
@_exported public import FileNotifyBackend
@_exported public import InMemoryBackend
@_exported public import Mailboxes
@_exported public import Platform
@_exported public import Wormholes

#if ZMQ
    @_exported public import ZMQBackend
#endif
#if Etcd
    @_exported public import EtcdBackend
#endif
