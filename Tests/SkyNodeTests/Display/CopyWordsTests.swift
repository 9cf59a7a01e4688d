import Testing

@testable import SkyCore
@testable import SkyNode

/// Where the copies of a job are, in words.
struct CopyWordsTests {
    private func copy(
        _ node: String, _ behind: UInt64?, hasVote: Bool = true, seconds: Double? = 0, answers: Bool = true,
        isFull: Bool = false, reason: String? = nil
    ) -> CopyState {
        CopyState(
            node: node, behind: behind, hasVote: hasVote, secondsBehind: seconds, isInReach: answers, isFull: isFull,
            reason: reason)
    }

    private func report(_ copies: [CopyState], wanted: Int = 2) -> CopyReport {
        CopyReport(term: 1, wanted: wanted, copies: copies)
    }

    @Test func `the table says how many copies there are of how many`() {
        #expect(CopyWords.short(nil).isEmpty)
        #expect(CopyWords.short(report([], wanted: 0)).isEmpty)
        #expect(CopyWords.short(report([])) == "0 of 2")
        #expect(CopyWords.short(report([copy("a", 0), copy("b", 3, seconds: 0.2)])) == "2 of 2")
        #expect(CopyWords.short(report([copy("a", 0), copy("b", 0, answers: false)])) == "1 of 2")
        #expect(CopyWords.short(report([copy("a", 0), copy("b", nil)])) == "1 of 2")
        #expect(CopyWords.short(report([copy("a", 0), copy("b", 0, isFull: true, reason: "EIO")])) == "1 of 2")
        #expect(CopyWords.short(report([copy("a", 0, hasVote: false)])) == "copy")
        #expect(CopyWords.short(report([copy("a", 2, hasVote: false, seconds: 0.21)])) == "copy, 0.2 s behind")
    }

    @Test func `a job's page says of each copy how it is`() {
        let copies = [
            copy("a", 0), copy("b", 1, hasVote: false, seconds: 12), copy("c", nil), copy("d", 0, answers: false),
            copy("e\n", 0, isFull: true), copy("f", nil, isFull: true, reason: "/d/copies: Not a\tdirectory"),
        ]
        #expect(
            CopyWords.long(report(copies, wanted: 4)) == """
                3 of 4: a (complete), b (1 batch, 12.0 s behind, without a vote), c (gets a whole copy), d (does not answer), \
                e  (has no room), f (cannot store it: /d/copies: Not a directory)
                """)
        #expect(CopyWords.long(report([])) == "0 of 2: no other node keeps any")
    }

    @Test func `numbers of a peer are shown whatever they are`() {
        let strange = report([copy("a", .max, hasVote: false, seconds: .nan)], wanted: .min)
        #expect(CopyWords.short(strange).isEmpty)
        #expect(!CopyWords.long(strange).isEmpty)
    }
}
