import Base
import Cryptography
import FoundationEssentials
import Glibc
import NIOCore
import Testing

@testable import Transport

@Suite(.timeLimit(.minutes(5))) struct CredentialTests {
    private let key: ClusterKey
    private let credential: Credential

    init() throws {
        key = try ClusterKey.make(now: .now)
        credential = try Credential.issue(
            to: #require(Person(name: "alice", role: .user)), by: key, validFor: 86_400, now: .now)
    }

    @Test func `a credential is read back, and says nothing secret of itself`() throws {
        let read = try Credential(pem: credential.pem, from: "laptop.pem")
        #expect(read == credential && read.person == credential.person)
        #expect(read.questions == key.questionKey)
        #expect(read.clusterFingerprint == key.fingerprint)
        #expect("\(read) \(TransportSecurity.credential(read))".contains("user alice"))
        #expect(!"\(TransportSecurity.credential(read))".contains("rivateKey"))
        #expect(abs(read.validUntil.timeIntervalSinceNow - 86_400) < 60)
    }

    @Test func `nothing of the cluster's private key is in it`() {
        let scalar = key.privateKey.scalar.withUnsafeBytes { Array($0) }
        let documents = try? PEMDocument.all(in: credential.pem)
        for document in documents ?? [] {
            let bytes = document.contents.withUnsafeBytes { Array($0) }
            #expect(bytes.count < scalar.count || !bytes.indices.contains { bytes[$0...].starts(with: scalar) })
        }
        let beacons = key.beaconKey.withUnsafeBytes { Array($0) }
        let questions = credential.questions.bytes.withUnsafeBytes { Array($0) }
        #expect(!questions.indices.contains { questions[$0...].starts(with: beacons) })
    }

    @Test func `it ends with the cluster key at the latest`() throws {
        let long = try Credential.issue(to: credential.person, by: key, validFor: 100 * 365 * 86_400, now: .now)
        #expect(long.validUntil == key.validUntil)
        #expect(throws: SecurityError.self) {
            try Credential.issue(to: credential.person, by: key, validFor: 60, now: key.validUntil + 1)
        }
        let error = #expect(throws: SecurityError.self) {
            try TLSContexts(.credential(credential), node: .random(), now: credential.validUntil + 1)
        }
        #expect(error?.description.contains("the credential of user alice expired on") == true)
        #expect(error?.description.hasSuffix("on a machine with the cluster key: skynode key issue alice") == true)
    }

    @Test func `a damaged or patched one is refused`() throws {
        let other = try Credential.issue(to: credential.person, by: ClusterKey.make(now: .now), validFor: 60, now: .now)
        let (own, foreign) = (try PEMDocument.all(in: credential.pem), try PEMDocument.all(in: other.pem))
        // Any part of another one in its place, any part missing, any two exchanged.
        for index in own.indices {
            var patched = own
            patched[index] = foreign[index]
            if index != 3 {
                #expect(throws: SecurityError.self) {
                    try Credential(pem: patched.map(\.text).joined(), from: "laptop.pem")
                }
            }
            patched.remove(at: index)
            #expect(throws: SecurityError.self) {
                try Credential(pem: patched.map(\.text).joined(), from: "laptop.pem")
            }
        }
        #expect(throws: SecurityError.self) { try Credential(pem: own.reversed().map(\.text).joined(), from: "x") }
        let text = credential.pem
        for length in stride(from: 0, to: text.utf8.count - 40, by: 37) {
            let cut = String(text.prefix(length))
            #expect(throws: SecurityError.self) { try Credential(pem: cut, from: "laptop.pem") }
        }
        #expect(throws: SecurityError.self) { try ClusterKey(pem: text, from: "laptop.pem") }
        #expect(throws: SecurityError.self) { try Credential(pem: key.pem, from: "cluster.key") }
    }

    @Test func `a question is heard by nodes, as that of a person, and its key seals nothing else`() throws {
        let node = BeaconSeal(cluster: "skynet", security: .clusterKey(key))
        let person = BeaconSeal(cluster: "skynet", security: .credential(credential))
        let question = try node.open(person.question(from: .random(), sequence: 1))
        #expect(question.kind == .solicit && node.isOfPerson(question))
        #expect(!node.isOfPerson(try node.open(node.question(from: .random(), sequence: 1))))
        for beacon in [
            Beacon.sample(cluster: person.cluster),
            Beacon(
                .goodbye, cluster: person.cluster, node: .random(), sequence: 1, sent: 0, validity: 30, port: 0,
                name: "?"),
        ] {
            #expect(throws: BeaconFault.forged) { try node.open(person.seal(beacon)) }
        }
        // Who passes for the cluster's own seal needs its key.
        #expect(throws: BeaconFault.forged) { try node.open(person.seal(.sample(cluster: node.cluster))) }
        // A person reads the answer, as one that may be forged.
        let answer = Beacon.sample(cluster: node.cluster)
        #expect(try person.open(node.seal(answer)) == answer)
        #expect(!person.isSecret && node.isSecret)
        let stranger = BeaconSeal(cluster: "skynet", security: .clusterKey(try ClusterKey.make(now: .now)))
        #expect(throws: BeaconFault.self) { try person.open(stranger.seal(.sample(cluster: stranger.cluster))) }
        #expect(throws: BeaconFault.self) { try stranger.open(person.question(from: .random(), sequence: 1)) }
    }
}

@Suite struct RevocationTests {
    private let key: ClusterKey
    private var security: TransportSecurity { .clusterKey(key) }

    init() throws { key = try ClusterKey.make(now: .now) }

    @Test func `a file is read back, with comments and empty lines`() throws {
        var revocations = Revocations()
        for name in ["bob", "alice"] { revocations.add(try Revocation(name, by: key, now: .now)) }
        let text = revocations.text(for: security)
        let read = try Revocations(text: "# mine\n\n" + text, from: "x", for: security)
        #expect(read == revocations && read.all.map(\.name) == ["alice", "bob"])
        #expect(try Revocations(contentsOf: "/nonexistent/x", for: security) == Revocations())
    }

    @Test func `a changed line is refused, with its number and with what to do`() throws {
        let revocation = try Revocation("alice", by: key, now: Date(timeIntervalSince1970: 1_800_000_000))
        var revocations = Revocations()
        revocations.add(revocation)
        let (line, comment) = (
            revocation.line, "# SkyNet revocations of the cluster key \(key.fingerprint), made by hand\n"
        )
        #expect(revocations.text(for: security).hasSuffix("\n" + line + "\n"))
        for title in ["", comment] {
            #expect(try Revocations(text: title + line, from: "x", for: security).all == [revocation])
        }
        for changed in [
            line.replacing("alice", with: "bob"), line.replacing("18000018", with: "18000019"), line + " ", line + "00",
            String(line.dropLast(2)), line.replacing("revoke", with: "revoked"), "revoke", "alice",
            line.replacing("alice", with: "al\u{200B}ice"),
        ] {
            let error = #expect(throws: SecurityError.self) {
                try Revocations(text: comment + changed, from: "x", for: security)
            }
            #expect(error?.description.hasPrefix("x, line 2: not ") == true)
            #expect(error?.description.contains("skynode key revoke") == true)
        }
    }

    @Test func `what another key has signed is left out, and stays in the file`() throws {
        let other = try ClusterKey.make(now: .now)
        let (alice, bob) = (try Revocation("alice", by: other, now: .now), try Revocation("bob", by: key, now: .now))
        var old = Revocations()
        old.add(alice)
        // The file of an earlier version does not say whose it is; this one's does.
        for text in [
            alice.line, "# SkyNet revocations, made by skynode key revoke.\n\(alice.line)\n",
            old.text(for: .clusterKey(other)),
        ] {
            var read = try Revocations(text: text, from: "x", for: security)
            #expect(read.all.isEmpty && read.ofOtherKeys == [alice])
            read.add(bob)
            let again = try Revocations(text: read.text(for: security), from: "x", for: security)
            #expect(again.all == [bob] && again.ofOtherKeys == [alice])
            // A file of two keys, read under both, either, and without a key.
            let both = TransportSecurity.clusterKey(key, accepting: [other])
            let all = try Revocations(text: read.text(for: security), from: "x", for: both)
            #expect(
                all.all == [alice, bob] && all.ofOtherKeys.isEmpty, "while keys are changed, the word of both counts")
            #expect(try Revocations(text: all.text(for: both), from: "x", for: .clusterKey(other)).all == [alice])
            #expect(try Revocations(text: all.text(for: both), from: "x", for: .none).ofOtherKeys.count == 2)
        }
    }

    @Test(arguments: ["\r\n", "\r"]) func `the end of a line is found as other editors write it`(end: String) throws {
        var revocations = Revocations()
        for name in ["bob", "alice"] { revocations.add(try Revocation(name, by: key, now: .now)) }
        let text = revocations.text(for: security)
        #expect(try Revocations(text: text.replacing("\n", with: end), from: "x", for: security) == revocations)
        // The file of an earlier version.
        let old =
            "# SkyNet revocations, made by skynode key revoke.\n" + revocations.all.map { $0.line + "\n" }.joined()
        for text in [text, old] {
            let error = #expect(throws: SecurityError.self) {
                try Revocations(text: text.replacing("\n", with: " "), from: "x", for: security)
            }
            #expect(error?.description.hasPrefix("x, line 1: ") == true)
        }
        let comment = "# revoke bob, who has left\n# \(revocations.all[0].line)\n"
        #expect(
            try Revocations(text: comment, from: "x", for: security) == Revocations(), "a comment of the operator's")
    }

    @Test func `a node signs again what a key that it accepts has signed, and nothing older than its own key`() throws {
        let (old, stranger) = (try ClusterKey.make(now: .now - 10 * 86_400), try ClusterKey.make(now: .now))
        let (alice, bob) = (try Revocation("alice", by: old, now: .now), try Revocation("bob", by: key, now: .now))
        let early = try Revocation("early", by: old, now: .now - 2 * 86_400)
        let forged = try Revocation("eve", by: stranger, now: .now)
        let (authentic, others) = TransportSecurity.clusterKey(key, accepting: [old]).examine([
            alice, bob, early, forged,
        ])
        #expect(authentic.map(\.name) == ["alice", "bob", "early"] && others == [forged])
        #expect(authentic.map(\.time) == [alice, bob, early].map(\.time))
        // When the old key is gone, what can concern a credential under the new one still counts.
        #expect(security.examine(authentic).authentic.map(\.name) == ["alice", "bob"])
        #expect(authentic[1] == bob && authentic[2] == early)
        #expect(security.examine([alice]).others == [alice], "an old key has no say")
        #expect(TransportSecurity.none.examine([bob]).others == [bob])
    }

    @Test func `revocations that are added at the same time are all there, also where the file is a link`() async throws
    {
        let folder = KeyFolder()
        let (shared, path) = (folder.put("", in: "roots"), folder.path + "/link")
        #expect(symlink(shared, path) == 0)
        try await withThrowingTaskGroup { group in
            for index in 0..<20 {
                group.addTask {
                    let revocation = try Revocation("a\(index)", by: key, now: .now)
                    try Revocations.change(index % 2 == 0 ? path : shared, for: security) { $0.add(revocation) }
                }
            }
            try await group.waitForAll()
        }
        let read = try Revocations(contentsOf: shared, for: security)
        #expect(read.all.count == 20)
        var status = stat()
        #expect(lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
        #expect(lstat(shared, &status) == 0 && status.st_mode & 0o777 == 0o644)
    }

    @Test func `a file that somebody keeps locked is named`() throws {
        let folder = KeyFolder()
        let path = folder.put("", in: "key")
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        #expect(flock(descriptor, LOCK_EX) == 0)
        let error = #expect(throws: SecurityError.self) {
            try Revocations.change(path, for: security, patience: .zero) { _ in Issue.record("not locked") }
        }
        #expect(error?.description.hasPrefix("\(path): another process has locked it") == true)
    }

    @Test func `as many revocations as there can be fit into a file, with as many of another key`() throws {
        let other = try ClusterKey.make(now: .now)
        func revocations(_ key: ClusterKey) throws -> Revocations {
            var all = Revocations()
            for index in 0..<Revocations.limit {
                let name = String(repeating: "n", count: 60) + "\(100 + index % 900)"
                all.add(try Revocation(name, by: key, now: .now))
            }
            return all
        }
        let folder = KeyFolder()
        let text = try revocations(key).text(for: security) + revocations(other).text(for: .clusterKey(other))
        let path = folder.put(text, in: "key")
        let read = try Revocations(contentsOf: path, for: security)
        #expect(read.all.count == Revocations.limit && read.ofOtherKeys.count == Revocations.limit)
    }

    @Test func `the latest of a name counts, and there is a limit`() throws {
        var revocations = Revocations()
        let (early, late) = (try Revocation("a", by: key, now: .now), try Revocation("a", by: key, now: .now + 100))
        #expect(revocations.add(early) && revocations.add(late) && !revocations.add(early))
        #expect(revocations.all == [late])
        for index in 1..<Revocations.limit { #expect(revocations.add(try Revocation("a\(index)", by: key, now: .now))) }
        #expect(!revocations.add(try Revocation("b", by: key, now: .now)))
        #expect(revocations.add(try Revocation("a", by: key, now: .now + 200)), "one that is known may be renewed")
        #expect(revocations.text(for: security).utf8.count < 64 * 1024)
    }

    @Test func `a revocation is for all that was issued, whatever the clock says, or it is refused`() throws {
        let key = try ClusterKey.make(now: .now - 100 * 86_400)
        let person = try #require(Person(name: "alice", role: .user))
        let (behind, long) = (Date.now - 1200, Date.now - 101.5 * 86_400)
        let issued = try Credential.issue(to: person, by: key, validFor: 86_400, now: .now)
        var revocations = Revocations()
        revocations.add(try Revocation("alice", by: key, now: behind))
        #expect(revocations.revoke(issued.personal))
        #expect(throws: SecurityError.self) { try Revocation("alice", by: key, now: long) }
        // Of a clock that says a time at which there was no key yet, though the key allows for it.
        let first = try Credential.issue(to: person, by: key, validFor: 86_400, now: .now - 100 * 86_400)
        var early = Revocations()
        early.add(try Revocation("alice", by: key, now: .now - 100.5 * 86_400))
        #expect(early.revoke(first.personal))
        // What is issued after that counts at once, and can be revoked within the same second.
        let second = try Credential.issue(
            to: person, by: key, validFor: 86_400, now: behind, after: revocations.time(of: "alice"))
        #expect(!revocations.revoke(second.personal))
        #expect(second.certificate.notBefore < behind)
        revocations.add(try Revocation("alice", by: key, now: behind, after: revocations.time(of: "alice")))
        #expect(revocations.revoke(second.personal))
    }

    @Test func `nothing is issued that could be used only when a clock that was ahead is right`() throws {
        let person = try #require(Person(name: "alice", role: .user))
        var revocations = Revocations()
        revocations.add(try Revocation("alice", by: key, now: .now + 400 * 86_400))
        let error = #expect(throws: SecurityError.self) {
            try Credential.issue(
                to: person, by: key, validFor: 86_400, now: .now, after: revocations.time(of: "alice"))
        }
        #expect(error?.description.contains("issue to another name") == true)
    }

    @Test(arguments: ["", "a b", "-a", ".a", "a/b", "a:b", "é", "a\n", String(repeating: "a", count: 64)])
    func `what is no name is refused`(name: String) throws {
        #expect(!Person.isValidName(name) && Person(name: name, role: .user) == nil)
        #expect(throws: SecurityError.self) { try Revocation(name, by: key, now: .now) }
    }
}
