import Base
import Testing
import Transport

@testable import SkyCore

/// A journal keeps its secret, and nodes keep receipts, while the program is replaced by another version: these are of the
/// version that had swift-crypto.
@Suite struct AttemptReceiptsTests {
    private let attempt = AttemptID(job: JobID(rawValue: 7), task: TaskID(3), number: 2, generation: 5)

    @Test(arguments: [
        (32, 15_961_452_887_792_297_125), (0, 12_887_438_114_532_780_681), (200, 17_847_127_898_902_876_911),
    ])
    func `a receipt is what earlier versions made it`(secretLength: UInt8, receipt: UInt64) {
        let receipts = AttemptReceipts(secret: Array(0..<secretLength))
        #expect(receipts.receipt(for: attempt, basis: 0, on: NodeID(rawValue: 0xAB)) == receipt)
    }

    @Test func `a receipt is of one attempt on one node, and of what its task is based on`() {
        let receipts = AttemptReceipts(secret: Array(0..<32))
        let node = NodeID(rawValue: 0xAB)
        let others = [
            AttemptID(job: JobID(rawValue: 8), task: TaskID(3), number: 2, generation: 5),
            AttemptID(job: JobID(rawValue: 7), task: TaskID(4), number: 2, generation: 5),
            AttemptID(job: JobID(rawValue: 7), task: TaskID(3), number: 3, generation: 5),
            AttemptID(job: JobID(rawValue: 7), task: TaskID(3), number: 2, generation: 6),
        ]
        let values =
            others.map { receipts.receipt(for: $0, basis: 0, on: node) }
            + [0, 1, 2].map { receipts.receipt(for: attempt, basis: $0, on: node) }
            + [receipts.receipt(for: attempt, basis: 0, on: NodeID(rawValue: 0xAC))]
        #expect(Set(values).count == values.count)
    }

    @Test func `results that earlier versions of the release have stored are found`() throws {
        let arithmetic = Arithmetic(
            "0.2, sep 1.2.1, wcslib 7.12, cfitsio 4.2.0, erfa 2.0.0, libm 90ad317c, x86_64")
        let digest = HexText.of(try CacheKey.digest(of: ["M 31", "M 13"], by: arithmetic))
        #expect(digest == "f3aecabe4b5d098f2f8cfba418f4d18c000936fc2f53729e225469de0c83200a")
    }

    @Test func `results that another library has measured have other keys`() throws {
        let (one, other) = (Arithmetic("0.2, sep 1.2.1"), Arithmetic("0.2, sep 1.4.1"))
        #expect(try CacheKey.digest(of: "M 31", by: one) != CacheKey.digest(of: "M 31", by: other))
        #expect(try CacheKey.digest(of: "M 31") == CacheKey.digest(of: "M 31", by: JobKinds.arithmetic))
    }
}
