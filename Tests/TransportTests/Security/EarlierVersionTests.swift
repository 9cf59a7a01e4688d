import Base
import Cryptography
import FoundationEssentials
import NIOCore
import Testing

@testable import Transport

/// What was made by the version that had swift-crypto and swift-certificates. Nodes of that version and of this one are one
/// cluster during an upgrade, and key files outlive both.
@Suite struct EarlierVersionTests {
    private static let file = """
        # SkyNet cluster key. Whoever has this file can use every node of the cluster: keep it secret (chmod 600).
        -----BEGIN CERTIFICATE-----
        MIIBjTCCATKgAwIBAgIVANMKARuwe9o9YN0MD1+P4jLBtebWMAoGCCqGSM49BAMC
        MCIxIDAeBgNVBAMMF1NreU5ldCBjbHVzdGVyIGQyOTFmY2IyMB4XDTI3MDExNDA4
        MDAwMFoXDTM3MDExMjA4MDAwMFowIjEgMB4GA1UEAwwXU2t5TmV0IGNsdXN0ZXIg
        ZDI5MWZjYjIwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASNI4aGiwmatJF6TCu6
        SIykOriINyO7Ck0ygsWaL66Ku32ysZTQQoVR9kzbWyzkh55JJwblo+v2NwJ+E3Gg
        ka9Vo0UwQzASBgNVHRMBAf8ECDAGAQH/AgEAMA4GA1UdDwEB/wQEAwICBDAdBgNV
        HQ4EFgQU0pH8slv2uTwDt75hvozjV7BvCKwwCgYIKoZIzj0EAwIDSQAwRgIhAIu3
        h1MrJs9IgKoHEwML8JlaFAwccH2uogizOxgEiKW/AiEAy9+HgOP6SNN7DHk+Wpt1
        c8o4GLrqpwJ5hfKLBL7vNs0=
        -----END CERTIFICATE-----
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg5zxbAx2qjh3rVwiE
        94omT9aTLe3GvJ9j9ij6vV3M2aOhRANCAASNI4aGiwmatJF6TCu6SIykOriINyO7
        Ck0ygsWaL66Ku32ysZTQQoVR9kzbWyzkh55JJwblo+v2NwJ+E3Ggka9V
        -----END PRIVATE KEY-----

        """

    /// A certificate that was issued to node ab under that key.
    private static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBxjCCAWygAwIBAgIVAKNKoE04w8FRrKIt9cA69UZMyu0XMAoGCCqGSM49BAMC
        MCIxIDAeBgNVBAMMF1NreU5ldCBjbHVzdGVyIGQyOTFmY2IyMB4XDTI3MDExNTA3
        MDAwMFoXDTI3MDExNjA4MDAwMFowEjEQMA4GA1UEAwwHc2t5bm9kZTBZMBMGByqG
        SM49AgEGCCqGSM49AwEHA0IABAB4BhHRY9dOzLvm67riTmeBbF2n8sNerUOvUB/G
        yorsa26JNYc+zweo41nZTj3nDzf+F+8NnwZVkpNseokXRqOjgY4wgYswDAYDVR0T
        AQH/BAIwADAOBgNVHQ8BAf8EBAMCB4AwHQYDVR0lBBYwFAYIKwYBBQUHAwEGCCsG
        AQUFBwMCMCsGA1UdEQQkMCKGIHVybjpza3luZXQ6bm9kZTowMDAwMDAwMDAwMDAw
        MGFiMB8GA1UdIwQYMBaAFNKR/LJb9rk8A7e+Yb6M41ewbwisMAoGCCqGSM49BAMC
        A0gAMEUCIQCoI6fvC1SLiyJVu7jBuHzd2oXW5r07J0qZLv+7MYmcXwIgSZQBT7Ko
        rnDCFR8fJ1dk9PHBJ4K/sLk/004S26eJAig=
        -----END CERTIFICATE-----
        """

    private let key = Result { try ClusterKey(pem: EarlierVersionTests.file, from: "cluster.key") }

    @Test func `its key file is read, and written as the same bytes`() throws {
        let key = try key.get()
        #expect(key.pem == EarlierVersionTests.file)
        #expect(
            key.fingerprint
                == "67:96:43:D5:77:9B:95:BB:4F:27:E8:C7:53:90:31:C9:8B:1E:E8:B6:30:00:47:03:7E:DD:C9:33:12:DB:76:3F")
        #expect(
            key.privateKey.scalar.withUnsafeBytes { HexText.of($0) }
                == "e73c5b031daa8e1deb570884f78a264fd6932dedc6bc9f63f628fabd5dccd9a3")
        #expect(key.validUntil == Date(timeIntervalSince1970: 1_800_000_000) + ClusterKey.lifetime)
    }

    @Test func `its secrets for beacons are derived`() throws {
        let key = try key.get()
        #expect(
            key.beaconKey.withUnsafeBytes { HexText.of($0) }
                == "b1e3aded013d083c315f2d00ac6048c6dfe87d6cd14650f96d3582af1293af3c")
        #expect(key.beaconKeyID == 10_915_488_188_320_637_652)
    }

    @Test func `its beacons are sealed as the same bytes, with a key and without`() throws {
        let sealed = BeaconSeal(cluster: "skynet", security: .clusterKey(try key.get()))
        #expect(
            HexText.of(sealed.seal(.sample(cluster: sealed.cluster)).readableBytesView)
                == "534b5942020285079d8e238ffbd9977b9aacaed2e2d4000000000000abcd0000000000000001000001a3185c5000001e1cfc"
                + "0004616e6e6101004470a5261a1768b2a6adc87da83790075a6ffdf5610aaa363244bebad08dab06")
        let open = BeaconSeal(cluster: "skynet", security: .none)
        #expect(
            HexText.of(open.seal(.sample(cluster: open.cluster)).readableBytesView)
                == "534b5942020285079d8e238ffbd90000000000000000000000000000abcd0000000000000001000001a3185c5000001e1cfc"
                + "0004616e6e61010024196a0e056ce60de4b15ff11ab51ba5b518b261a8a4c014e6d2c5032dda5622")
    }

    @Test func `its certificate is that of its node, and this version issues one that says the same`() throws {
        let key = try key.get()
        let document = try #require(try PEMDocument.all(in: EarlierVersionTests.certificate).first)
        let earlier = try Certificate(der: document.contents.withUnsafeBytes { Array($0) })
        #expect(earlier.isSigned(by: key.certificate))
        #expect(PeerIdentity(der: earlier.der) == PeerIdentity.node(NodeID(rawValue: 0xAB)))
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        let own = try NodeCertificate(issuedBy: key, node: NodeID(rawValue: 0xAB), now: now).certificate
        #expect(own.isSigned(by: key.certificate))
        #expect((own.notBefore, own.notAfter) == (earlier.notBefore, earlier.notAfter))
        #expect(own.commonNames == earlier.commonNames)
        #expect(
            CertificateExtension.Kind.allCases.map(own.text) == CertificateExtension.Kind.allCases.map(earlier.text))
    }
}
