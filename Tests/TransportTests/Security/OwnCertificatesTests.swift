import Cryptography
import FoundationEssentials
import Testing

@testable import Transport

/// Certificates of somebody's own PKI, in files.
@Suite(.timeLimit(.minutes(5))) struct OwnCertificatesTests {
    /// An authority of the test's own.
    private struct Authority {
        let privateKey: SigningKey
        let certificate: Certificate

        init() throws {
            privateKey = try SigningKey()
            certificate = try CertificateRequest(
                commonNames: ["Observatory CA"], notBefore: .now - 9 * 86_400, notAfter: .now + 86_400,
                extensions: [
                    CertificateExtension(.basicConstraints, "critical,CA:TRUE"),
                    CertificateExtension(.keyUsage, "critical,keyCertSign"),
                ]
            ).issued(to: privateKey)
        }

        /// Certificate and private key of a host, as PEM.
        func issue(until end: Date = .now + 3600) throws -> (certificate: String, privateKey: String) {
            let key = try SigningKey()
            let leaf = try CertificateRequest(
                commonNames: ["host.example.org"], notBefore: .now - 8 * 86_400, notAfter: end,
                extensions: [
                    CertificateExtension(.basicConstraints, "critical,CA:FALSE"),
                    CertificateExtension(.extendedKeyUsage, "serverAuth,clientAuth"),
                    CertificateExtension(.subjectAlternativeName, "DNS:host.example.org"),
                ]
            ).issued(to: key, by: (certificate, privateKey))
            return (Authority.pem(leaf), PEMDocument(label: "PRIVATE KEY", contents: key.pkcs8).text)
        }

        private static func pem(_ certificate: Certificate) -> String {
            PEMDocument(label: "CERTIFICATE", contents: Secret(certificate.der)).text
        }

        func files(in folder: KeyFolder, until end: Date = .now + 3600) throws -> CertificateFiles {
            let issued = try issue(until: end)
            return CertificateFiles(
                certificate: folder.put(issued.certificate, in: "certificate", mode: 0o644),
                privateKey: folder.put(issued.privateKey, in: "key"),
                trustRoots: folder.put(Authority.pem(certificate), in: "roots", mode: 0o644))
        }
    }

    private func contexts(_ files: CertificateFiles, at now: Date = .now) throws -> TLSContexts {
        try #require(try TLSContexts(.certificates(files), node: .random(), now: now))
    }

    private func complaint(_ files: CertificateFiles) -> String? {
        do throws(SecurityError) {
            _ = try TLSContexts(.certificates(files), node: .random(), now: .now)
            return nil
        } catch { return error.description }
    }

    @Test func `nodes of one PKI connect, without a node id in their certificates`() async throws {
        let authority = try Authority()
        let folders = (KeyFolder(), KeyFolder())
        let server = try contexts(try authority.files(in: folders.0))
        let client = try contexts(try authority.files(in: folders.1))
        try await SecureLoopback.run(
            server: SecureLoopback.secure(server, isClient: false),
            client: SecureLoopback.secure(client, isClient: true)
        ) { server, client in
            #expect(await client.next { _ in true } == .peer(nil))
            #expect(await server.next { _ in true } == .peer(nil))
            try await server.untilActive()
            try await client.send("hello")
            #expect(await server.text("hello"))
        }
    }

    @Test func `a cluster key and a PKI do not mix`() async throws {
        let folder = KeyFolder()
        let server = try contexts(try Authority().files(in: folder))
        let client = try #require(
            try TLSContexts(.clusterKey(try ClusterKey.make(now: .now)), node: .random(), now: .now))
        try await SecureLoopback.run(
            server: SecureLoopback.secure(server, isClient: false),
            client: SecureLoopback.secure(client, isClient: true)
        ) { server, client in
            #expect(await client.failure() == .otherAuthority)
            #expect(await server.failure() == .notTrustedByPeer)
        }
    }

    @Test func `unusable files are named`() throws {
        let authority = try Authority()
        let folder = KeyFolder()
        let good = try authority.files(in: folder)
        #expect(complaint(good) == nil)

        folder.put(try authority.issue().privateKey, in: "key", mode: 0o644)
        #expect(complaint(good)?.contains("chmod 600 \(good.privateKey)") == true)
        folder.put(try authority.issue().privateKey, in: "key")
        #expect(complaint(good)?.contains("not the private key of the certificate in \(good.certificate)") == true)
        folder.put("nonsense", in: "key")
        #expect(complaint(good)?.contains("\(good.privateKey): no private key in PEM form") == true)

        _ = try authority.files(in: folder)
        folder.put("nonsense", in: "roots")
        #expect(complaint(good)?.contains("\(good.trustRoots): no certificates") == true)
        folder.put("", in: "certificate")
        #expect(complaint(good)?.contains("\(good.certificate): no certificates") == true)
        _ = try authority.files(in: folder, until: .now - 86_400)
        #expect(complaint(good)?.contains("\(good.certificate): the certificate expired on") == true)
    }

    @Test func `the files are read again every hour, and bad ones leave the old in use`() throws {
        let now = Date.now
        let authority = try Authority()
        let folder = KeyFolder()
        let files = try authority.files(in: folder, until: now + 7200)
        let contexts = try contexts(files, at: now)
        let first = contexts.validUntil
        #expect(try contexts.renewIfDue(now: now + 3599) == false)
        // Nothing changed on disk.
        #expect(try contexts.renewIfDue(now: now + 3600) == false)
        #expect(contexts.renewalDue == now + 7200)

        folder.put("half a fi", in: "certificate")
        let error = #expect(throws: SecurityError.self) { try contexts.renewIfDue(now: now + 7200) }
        #expect(error?.description.contains(files.certificate) == true)
        #expect(contexts.validUntil == first)
        // The next try is an hour later, not at once.
        #expect(try contexts.renewIfDue(now: now + 7201) == false)

        _ = try authority.files(in: folder, until: now + 5 * 86_400)
        #expect(try contexts.renewIfDue(now: now + 3 * 3600))
        #expect(contexts.validUntil > first)
    }

    @Test func `a node renews its own certificate at two thirds of its lifetime`() throws {
        let now = Date.now
        let key = try ClusterKey.make(now: now)
        let contexts = try #require(try TLSContexts(.clusterKey(key), node: .random(), now: now))
        #expect(try contexts.renewIfDue(now: now + 15 * 3600) == false)
        #expect(try contexts.renewIfDue(now: now + 16 * 3600))
        #expect(contexts.validUntil > now + 39 * 3600)
        // An expired key leaves the last certificate in use.
        #expect(throws: SecurityError.self) { try contexts.renewIfDue(now: key.validUntil) }
        #expect(contexts.renewalDue == key.validUntil + TLSContexts.retryPause)
    }

    @Test func `without a key there is no TLS`() throws {
        #expect(try TLSContexts(.none, node: .random(), now: .now) == nil)
        #expect(!TransportSecurity.none.isOn)
    }
}
