#if Etcd
    internal import BackendRegistry
    internal import EtcdBackend
    internal import SharedCoreConfiguration

    extension Resolution {
        /// Where the configured cluster is.
        func etcdCluster() throws -> EtcdCluster {
            try EtcdFactory.cluster(of: etcdSettings())
        }
    }
#endif
