import Testing

@testable import Sky

@Suite struct ScanPhaseTests {
    @Test(arguments: [
        ("header", ScanPhase.header), ("background 3", .background),
        ("background of the detection image 12", .background), ("seeing 1", .seeing), ("sector 40", .sectors),
        ("picture", .sectors), ("large objects 2", .unions),
    ])
    func `a task's name tells its phase`(label: String, phase: ScanPhase) {
        #expect(ScanPhase(ofWork: label) == phase)
    }

    @Test(arguments: ["", "task 3", "difference 4", "sectors", "headers"])
    func `the tasks of other jobs belong to no phase of a scan`(label: String) {
        #expect(ScanPhase(ofWork: label) == nil)
    }

    @Test func `the names of a scan's own tasks are known`() {
        var phases = ScanPhases(
            SkyRequest(image: ImageReference(path: "/x.fits", hdu: nil), configuration: ScanConfiguration()))
        _ = phases.begin()
        let info = ImageInfo(width: 3000, height: 2000, bitpix: -32, hdu: 0, hasWCS: false)
        let step = phases.completed(0, .inspected(info))
        let labels = (0...step.newWork).compactMap { phases.label($0) }
        #expect(labels.count == step.newWork + 1 && labels.count > 2)
        #expect(labels.allSatisfy { ScanPhase(ofWork: $0) != nil }, "\(labels)")
    }
}
