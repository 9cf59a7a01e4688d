import Cryptography
import FoundationEssentials
import Glibc
import Testing

@testable import Transport

@Suite(.timeLimit(.minutes(5))) struct ClusterKeyTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    /// What reading `text` from a file says.
    private func complaint(_ text: String, mode: mode_t = 0o600) -> String? {
        let folder = KeyFolder()
        let file = folder.put(text, in: "key", mode: mode)
        do throws(SecurityError) {
            _ = try ClusterKey(contentsOf: file)
            return nil
        } catch {
            #expect(error.description.hasPrefix(file + ": "))
            #expect(!error.description.contains("\n"))
            return error.description
        }
    }

    @Test func `a key survives its file, and every key is another`() throws {
        let key = try ClusterKey.make(now: now)
        let folder = KeyFolder()
        let read = try ClusterKey(contentsOf: folder.put(key.pem, in: "key"))
        #expect(read == key)
        #expect(read.privateKey.scalar == key.privateKey.scalar)
        #expect(read.fingerprint == key.fingerprint)
        #expect(try ClusterKey.make(now: now) != key)
    }

    @Test func `the file says what it is, and the key is printed without its secret`() throws {
        let key = try ClusterKey.make(now: now)
        #expect(key.pem.hasPrefix("# SkyNet cluster key."))
        #expect(key.pem.hasSuffix("-----END PRIVATE KEY-----\n"))
        #expect("\(TransportSecurity.clusterKey(key))".contains(key.fingerprint))
        #expect(!"\(TransportSecurity.clusterKey(key))".contains("rivateKey"))
        // SHA-256 as openssl writes it: 32 pairs of capital digits.
        #expect(key.fingerprint.split(separator: ":").count == 32)
        #expect(key.fingerprint == key.fingerprint.uppercased())
    }

    @Test func `a cluster key is an authority for node certificates only, valid for ten years`() throws {
        let key = try ClusterKey.make(now: now)
        #expect(key.validUntil == now + 10 * 365 * 86_400)
        #expect(key.certificate.notBefore < now)
        #expect(key.certificate.text(of: .basicConstraints) == "CA:TRUE, pathlen:0")
        #expect(key.certificate.text(of: .keyUsage) == "Certificate Sign")
    }

    @Test func `only a key of root may be readable for its group`() throws {
        let folder = KeyFolder()
        let pem = try ClusterKey.make(now: now).pem
        let isRoot = geteuid() == 0
        let file = folder.put(pem, in: "key", mode: 0o640)
        #expect((try? SecretFile.read(file, .secret)) == (isRoot ? pem : nil))
        folder.put(pem, in: "key", mode: 0o640, owner: isRoot ? 65_534 : nil)
        #expect(throws: SecurityError.self) { try SecretFile.read(file, .secret) }
        folder.put(pem, in: "key", mode: 0o644)
        #expect(throws: SecurityError.self) { try SecretFile.read(file, .secret) }
    }

    @Test(arguments: [0o604, 0o660, 0o666, 0o620, 0o602, 0o610, 0o777] as [mode_t])
    func `a file that other users can read is refused, with the command that closes it`(mode: mode_t) throws {
        let said = try #require(complaint(try ClusterKey.make(now: now).pem, mode: mode))
        #expect(said.contains("run: chmod 600 /tmp/"))
    }

    @Test(arguments: [0o600, 0o400] as [mode_t])
    func `a file that only its owner can read is accepted`(mode: mode_t) throws {
        #expect(complaint(try ClusterKey.make(now: now).pem, mode: mode) == nil)
    }

    @Test func `a systemd credential may show the rights of its access list, and nothing more`() throws {
        let folder = KeyFolder()
        let pem = try ClusterKey.make(now: now).pem
        // Files of root are treated differently, so another owner is used.
        let owner: uid_t? = geteuid() == 0 ? 65_534 : nil
        let file = folder.put(pem, in: "key", mode: 0o440, owner: owner)
        #expect(throws: SecurityError.self) { try SecretFile.read(file, .secret, credentials: nil) }
        #expect(throws: SecurityError.self) { try SecretFile.read(file, .secret, credentials: "/run/credentials/x") }
        #expect(try SecretFile.read(file, .secret, credentials: folder.path) == pem)
        folder.put(pem, in: "key", mode: 0o444, owner: owner)
        #expect(throws: SecurityError.self) { try SecretFile.read(file, .secret, credentials: folder.path) }
        folder.put(pem, in: "key", mode: 0o460, owner: owner)
        #expect(throws: SecurityError.self) { try SecretFile.read(file, .secret, credentials: folder.path) }
    }

    @Test func `an unreadable file is named, and a pipe does not block`() throws {
        let folder = KeyFolder()
        func said(_ path: String) -> String {
            do throws(SecurityError) {
                _ = try ClusterKey(contentsOf: path)
                return ""
            } catch { return error.description }
        }
        #expect(said(folder.path + "/missing") == "\(folder.path)/missing: no such file")
        #expect(said(folder.path) == "\(folder.path): not a regular file")
        #expect(mkfifo(folder.path + "/pipe", 0o600) == 0)
        #expect(said(folder.path + "/pipe") == "\(folder.path)/pipe: not a regular file")
        #expect(said("") != "")
        #expect(said("a\u{0}b") != "")
        #expect(said("/dev/zero").contains("not a regular file"))
    }

    @Test func `a symbolic link is followed, and the rights of its file count`() throws {
        let folder = KeyFolder()
        let file = folder.put(try ClusterKey.make(now: now).pem, in: "key")
        #expect(symlink(file, folder.path + "/link") == 0)
        _ = try ClusterKey(contentsOf: folder.path + "/link")
        chmod(file, 0o644)
        #expect(throws: SecurityError.self) { try ClusterKey(contentsOf: folder.path + "/link") }
    }

    @Test func `contents that are not a key are refused`() throws {
        let key = try ClusterKey.make(now: now)
        let other = try ClusterKey.make(now: now)
        let parts = key.pem.split(separator: "-----BEGIN PRIVATE KEY-----")
        let otherParts = other.pem.split(separator: "-----BEGIN PRIVATE KEY-----")
        let header = "-----BEGIN PRIVATE KEY-----"

        #expect(complaint("")?.contains("not a cluster key") == true)
        #expect(complaint("<!DOCTYPE html>")?.contains("skynode key new") == true)
        #expect(complaint(String(repeating: "x", count: 70_000))?.contains("too long") == true)
        #expect(complaint(String(parts[0]))?.contains("without its private key") == true)
        #expect(complaint(header + parts[1])?.contains("not a cluster key") == true)
        #expect(complaint(key.pem + other.pem)?.contains("not a cluster key") == true)
        #expect(complaint(parts[0] + header + otherParts[1])?.contains("does not belong to the certificate") == true)
        #expect(complaint(String(key.pem.dropLast(100)))?.contains("not a cluster key") == true)
        #expect(complaint(key.pem.replacing("MI", with: "AA"))?.contains("damaged") == true)
    }

    @Test func `a certificate that is not an authority is refused`() throws {
        let key = try ClusterKey.make(now: now)
        let leaf = try NodeCertificate(issuedBy: key, node: .random(), now: now)
        let parts = [
            PEMDocument(label: "CERTIFICATE", contents: Secret(leaf.certificate.der)),
            PEMDocument(label: "PRIVATE KEY", contents: leaf.privateKey.pkcs8),
        ]
        #expect(complaint(parts.map(\.text).joined())?.contains("--tls-certificate") == true)
    }

    @Test func `every damaged file is refused or still the same key`() throws {
        let key = try ClusterKey.make(now: now)
        var random = SeededGenerator(seed: 7)
        let bytes = Array(key.pem.utf8)
        for _ in 0..<300 {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                damaged[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            if let read = try? ClusterKey(pem: String(decoding: damaged, as: UTF8.self), from: "k") {
                #expect(read == key)
            }
        }
    }

    @Test func `the beacon secret is the same for every copy of the key, and does not reveal it`() throws {
        let key = try ClusterKey.make(now: now)
        let read = try ClusterKey(pem: key.pem, from: "k")
        #expect(read.beaconKey == key.beaconKey)
        #expect(key.beaconKey.count == 32)
        #expect(key.beaconKey != (try ClusterKey.make(now: now)).beaconKey)
        #expect(key.beaconKey != key.privateKey.scalar)
    }
}
