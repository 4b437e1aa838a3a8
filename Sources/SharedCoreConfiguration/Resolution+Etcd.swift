#if Etcd
    extension Resolution {
        /// Returns the settings for the etcd backend.
        package func etcdSettings() throws(ConfigurationFailure) -> [String: String] {
            var settings = [
                Settings.etcdEndpoints.name: try value(Settings.etcdEndpoints),
                Settings.etcdPrefix.name: try value(Settings.etcdPrefix),
                // A fraction of a second is rounded up: the lease is never shorter than configured.
                Settings.etcdLease.name: String(try value(Settings.etcdLease).wholeSeconds),
                Settings.etcdTLS.name: try value(Settings.etcdTLS),
            ]
            for setting in [Settings.etcdAuthorities, Settings.etcdCertificate, Settings.etcdKey] {
                settings[setting.name] = try absolutePath(setting)
            }
            return settings
        }
    }

    extension Duration {
        /// The seconds, rounded up.
        fileprivate var wholeSeconds: Int64 {
            let (seconds, attoseconds) = components
            return seconds + (attoseconds > 0 ? 1 : 0)
        }
    }
#endif
