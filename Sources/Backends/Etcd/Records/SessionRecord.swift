#if Etcd
    internal import CoreAPI
    internal import FoundationEssentials
    internal import Platform
    internal import StoreEngine

    /// The value of a session's key, which lives with the session's lease.
    struct SessionRecord {
        var process: ProcessIdentity
        var description: SessionDescription
        var openedAt: BootInstant
        /// The namespace in which the process number is valid.
        var namespace: UInt64

        var bytes: Data {
            var writer = ByteWriter(reserving: 96)
            writer.bootID(process.bootID)
            writer.integer(UInt64(bitPattern: Int64(process.pid)))
            writer.integer(process.startTime)
            writer.text(description.role.rawValue)
            writer.text(description.name)
            writer.word(openedAt.nanoseconds)
            writer.integer(namespace)
            return Data(writer.bytes)
        }

        init(_ description: SessionDescription, clock: any TimeSource) {
            let present = ProcessIdentity.current
            process = ProcessIdentity(bootID: clock.bootID, pid: present.pid, startTime: present.startTime)
            self.description = description
            openedAt = clock.now()
            namespace = ProcessIdentity.currentNamespace
        }

        init(_ bytes: Data) throws(SharedCoreError) {
            var reader = ByteReader([UInt8](bytes))
            do throws(ByteCodingError) {
                let bootID = try reader.bootID()
                let pid = Int32(truncatingIfNeeded: try reader.integer())
                process = ProcessIdentity(bootID: bootID, pid: pid, startTime: try reader.integer())
                let role = SessionRole(rawValue: try reader.text())
                description = SessionDescription(role: role, name: try reader.text())
                openedAt = BootInstant(nanoseconds: try reader.word())
                namespace = try reader.integer()
            } catch {
                throw .unreadable("a session")
            }
        }

        func session(_ id: SessionID) -> Session {
            Session(id: id, process: process, role: description.role, name: description.name, openedAt: openedAt)
        }

        func opening(_ mark: EtcdSessionMark) -> SessionOpening {
            SessionOpening(process: process, description: description, backendData: mark.bytes)
        }
    }

    /// The marks by which a replica can check whether a session is alive.
    struct EtcdSessionMark: Hashable, Sendable {
        let lease: Int64
        let namespace: UInt64

        var bytes: [UInt8] {
            var writer = ByteWriter()
            writer.word(UInt64(bitPattern: lease))
            writer.word(namespace)
            return writer.bytes
        }

        init(lease: Int64, namespace: UInt64) {
            self.lease = lease
            self.namespace = namespace
        }

        init?(_ bytes: [UInt8]) {
            var reader = ByteReader(bytes)
            guard let lease = try? reader.word(), let namespace = try? reader.word() else { return nil }
            self.init(lease: Int64(bitPattern: lease), namespace: namespace)
        }
    }
#endif
