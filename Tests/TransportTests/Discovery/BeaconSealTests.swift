import FoundationEssentials
import NIOCore
import Testing

@testable import Transport

@Suite struct BeaconSealTests {
    private static let key = Result { try ClusterKey.make(now: .now) }

    private func seal(_ cluster: String = "skynet", keyed: Bool = true) throws -> BeaconSeal {
        BeaconSeal(cluster: cluster, security: keyed ? .clusterKey(try BeaconSealTests.key.get()) : .none)
    }

    /// - Returns: what is wrong with the bytes.
    private func fault(_ bytes: ByteBuffer, _ seal: BeaconSeal) -> BeaconFault? {
        do {
            _ = try seal.open(bytes)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [true, false]) func `a sealed beacon can be opened at any offset of a buffer`(keyed: Bool) throws {
        let seal = try seal(keyed: keyed)
        let beacon = Beacon.sample(cluster: seal.cluster)
        let datagram = seal.seal(beacon)
        #expect(datagram.readableBytes < Beacon.sizeLimit)
        #expect(try seal.open(datagram) == beacon)
        var padded = ByteBuffer(bytes: [1, 2, 3])
        padded.writeImmutableBuffer(datagram)
        padded.moveReaderIndex(forwardBy: 3)
        #expect(try seal.open(padded) == beacon)
    }

    @Test func `a changed bit anywhere is noticed`() throws {
        let seal = try seal()
        let datagram = Array(seal.seal(.sample(cluster: seal.cluster)).readableBytesView)
        for index in datagram.indices {
            var changed = datagram
            changed[index] ^= 1
            let fault = fault(ByteBuffer(bytes: changed), seal)
            switch index {
            case 0..<4: #expect(fault == .malformed)
            case 4: #expect(fault == .otherVersion(3))
            case 6..<22: #expect(fault?.label == "foreign")
            default: #expect(fault == .forged, "byte \(index)")
            }
        }
        for length in 0..<datagram.count {
            #expect(fault(ByteBuffer(bytes: datagram.prefix(length)), seal) != nil, "cut at \(length)")
        }
        #expect(fault(ByteBuffer(repeating: 0x53, count: 513), seal) == .oversized)
    }

    @Test func `a beacon with another name or key belongs to another cluster`() throws {
        let seal = try seal()
        let others = [
            try self.seal("other"), try self.seal(keyed: false),
            BeaconSeal(cluster: "skynet", security: .clusterKey(try ClusterKey.make(now: .now))),
        ]
        for other in others {
            #expect(fault(other.seal(.sample(cluster: other.cluster)), seal) == .foreign(other.cluster))
        }
        // A beacon with this cluster's mark and without its key is forged.
        for other in others.dropFirst() {
            #expect(fault(other.seal(.sample(cluster: seal.cluster)), seal) == .forged)
        }
        #expect(try self.seal().cluster == seal.cluster, "the same on every machine")
        #expect(try self.seal(keyed: false).cluster.key == 0 && seal.cluster.key != 0)
    }

    @Test func `during a key change the beacons of both keys are accepted`() throws {
        let (old, new) = (try ClusterKey.make(now: .now), try ClusterKey.make(now: .now))
        let seals = [
            BeaconSeal(cluster: "skynet", security: .clusterKey(old, accepting: [new])),
            BeaconSeal(cluster: "skynet", security: .clusterKey(new, accepting: [old])),
        ]
        for one in seals {
            for other in seals {
                let beacon = Beacon.sample(cluster: other.cluster)
                #expect(try one.open(other.seal(beacon)) == beacon)
            }
        }
        #expect(seals[0].cluster != seals[1].cluster)
        // A beacon with the other key's mark needs that key.
        #expect(fault(seals[0].seal(.sample(cluster: seals[1].cluster)), seals[0]) == .forged)
        let third = BeaconSeal(
            cluster: "skynet", security: .clusterKey(try ClusterKey.make(now: .now), accepting: [old]))
        #expect(fault(third.seal(.sample(cluster: third.cluster)), seals[0]) == .foreign(third.cluster))
    }
}
