#if Etcd
    internal import CoreAPI
    internal import EtcdBackend
    internal import Glibc
    internal import Platform

    // Tries groups on etcd while the cluster is in trouble: `PROGRAM-OF-ETCD DIRECTORY [TRIAL-NUMBER...]`. Other uses:
    //
    // - `holder GROUP KEY ENDPOINT...`: a participant that holds a key until it is killed.
    // - `neighbour ROLE GROUP LEASE ENDPOINT...`: a participant with a core.
    // - `measure PROGRAM-OF-ETCD DIRECTORY`: measures, with `row COUNT KIND ENDPOINT` for each row of its tables.
    // - `mutants PROGRAM-OF-ETCD DIRECTORY`: tries the trials on processes that have a defect.
    let words = Array(CommandLine.arguments.dropFirst())
    if words.first == "holder", words.count > 3 {
        do {
            let place = try EtcdCluster(try words[3...].map { try EtcdCluster.Endpoint($0) })
            let group = try await EtcdGroup.open(place, group: words[1], as: SessionDescription(name: "holder"))
            try await group.put(Key(words[2]), [1], lifetime: .session)
            // Until this process is killed.
            while true { try await Task.sleep(for: .seconds(3600)) }
        } catch {
            exit(1)
        }
    }
    if words.first == "neighbour", words.count > 4, let lease = Int(words[3]) {
        do {
            let place = try EtcdCluster(try words[4...].map { try EtcdCluster.Endpoint($0) })
            try await Neighbour.run(SessionRole(rawValue: words[1]), of: words[2], lease: lease, at: place)
            exit(0)
        } catch {
            print("\(error)")
            exit(1)
        }
    }
    if words.first == "measure", words.count == 3 {
        do {
            try await Measuring.run(program: words[1], in: words[2])
            exit(0)
        } catch {
            print("\(error)")
            exit(1)
        }
    }
    if words.first == "row", words.count == 4, let count = Int(words[1]), let kind = Growth.Kind(rawValue: words[2]) {
        do {
            try await Growth(place: EtcdCluster([EtcdCluster.Endpoint(words[3])])).row(count, kind)
            exit(0)
        } catch {
            print("\(error)")
            exit(1)
        }
    }
    if words.first == "mutants", words.count > 2 {
        let unknown = EtcdMutant.unknown(among: words[3...])
        guard unknown.isEmpty else {
            print("No defect is named \(unknown.joined(separator: ", ")).")
            exit(64)
        }
        do {
            exit(try await EtcdMutant.tryAll(with: words[1], in: words[2], named: words[3...]) ? 0 : 1)
        } catch {
            print("\(error)")
            exit(1)
        }
    }
    guard words.count >= 2 else {
        print("The path of etcd and a directory are missing.")
        exit(64)
    }
    let wanted = words.dropFirst(2).map { Int($0) ?? 0 }
    guard wanted.allSatisfy({ (1...Trials.all.count).contains($0) }) else {
        print("Trials have the numbers 1 to \(Trials.all.count).")
        exit(64)
    }
    var failedCount = 0
    do {
        let cluster = try await TrialCluster(program: words[0], in: words[1])
        let trials = Trials(cluster: cluster, own: try OwnProgram.path)
        for (number, trial) in Trials.all.enumerated() where wanted.isEmpty || wanted.contains(number + 1) {
            cluster.takeNewGroup()
            do {
                print("passed  \(number + 1). \(trial.name): \(try await trial.run(trials))")
                fflush(nil)
            } catch let error as NotTried {
                print("not tried: \(number + 1). \(trial.name): \(error.reason)")
                fflush(nil)
            } catch {
                failedCount += 1
                print("failed  \(number + 1). \(trial.name): \(error)")
                fflush(nil)
                // The next trial has all members running, in any state that they were left in.
                for node in cluster.nodes {
                    node.resume()
                    if node.processID == nil { try node.start() }
                    try await cluster.answers(node)
                }
            }
        }
        for node in cluster.nodes { node.kill() }
    } catch {
        print("failed  the cluster: \(error)")
        fflush(nil)
        failedCount += 1
    }
    exit(failedCount == 0 ? 0 : 1)
#else
    internal import Glibc

    print("This build has no backend on etcd: build with --traits default,Etcd.")
    exit(64)
#endif
