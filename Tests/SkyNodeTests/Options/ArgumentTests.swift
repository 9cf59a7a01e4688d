import ArgumentParser
import Base
import Fixtures
import Sky
import Testing

@testable import SkyCore
@testable import SkyNode

/// The values that options take, as people write them and as they must not.
struct ArgumentTests {
    // MARK: - Times and sizes

    @Test(arguments: [("7d", 604_800), ("12h", 43_200), ("1.5h", 5400), ("30m", 1800), ("0d", 0), ("0", 0)])
    func `an age has a unit`(text: String, seconds: Double) {
        #expect(AgeArgument(argument: text)?.duration.inSeconds == seconds)
    }

    @Test(arguments: ["", "7", "d", "-1d", "40000d", "nand", "infh", "1w", "7 d"])
    func `text that is not an age is refused`(text: String) {
        #expect(AgeArgument(argument: text) == nil)
    }

    @Test func `a duration other than zero needs a unit`() {
        #expect(DurationArgument(argument: "90s")?.duration == .seconds(90))
        #expect(DurationArgument(argument: "0")?.duration == .zero)
        for text in ["90", "", "s", "-1s", "25h"] { #expect(DurationArgument(argument: text) == nil, "\(text)") }
        #expect(DurationArgument(.seconds(120)).defaultValueDescription == "120s")
    }

    @Test(
        arguments: [
            ("0", 0), ("512", 512), ("1K", 1024), ("500m", 500 << 20), ("20G", 20 << 30), ("1t", 1 << 40),
            ("16777215T", 16_777_215 << 40),
        ] as [(String, UInt64)])
    func `a size may have a unit, a power of 1024`(text: String, bytes: UInt64) {
        #expect(SizeArgument(argument: text)?.bytes == bytes)
    }

    @Test(arguments: ["", "G", "-1G", "1.5G", "1GB", "1P", "16777216T", "0x10"])
    func `a malformed or too large size is refused`(text: String) {
        #expect(SizeArgument(argument: text) == nil)
    }

    @Test func `a size beyond the range of integers is clamped`() {
        #expect(SizeArgument(argument: "16777215T")?.count == .max)
        let texts = [0, 999, 1000, 1_610_612_736, 150 << 20].map(SizeArgument.text)
        #expect(texts == ["0 B", "999 B", "0.98 KiB", "1.50 GiB", "150 MiB"])
    }

    // MARK: - Numbers

    @Test func `the number of slots has a least and a largest value`() throws {
        #expect(try SlotsArgument.check(0) == 0 && SlotsArgument.check(NodeSettings.slotLimit) == 1024)
        #expect(try SlotsArgument.check(1, isInCommand: true) == 1)
        for slots in [-1, 1025] {
            let failure = #expect(throws: CommandFailure.self) { try SlotsArgument.check(slots) }
            #expect(failure?.message == "--slots \(slots): a node has 0 to 1024 slots")
        }
        let failure = #expect(throws: CommandFailure.self) { try SlotsArgument.check(0, isInCommand: true) }
        #expect(failure?.message == "--slots 0: a node inside a command has 1 to 1024 slots")
    }

    @Test func `a poison task has a number and a kind of failure`() {
        #expect(PoisonArgument(argument: "7")?.task == 7 && PoisonArgument(argument: "7")?.kind == .crash)
        #expect(PoisonArgument(argument: "3:hang")?.kind == .hang)
        for text in ["0", "", "x", "7:", "7:fly", "7:hang:hang", ":hang", "-1"] {
            #expect(PoisonArgument(argument: text) == nil, "\(text)")
        }
    }

    @Test func `magnitudes are two, the brighter first`() {
        #expect(MagnitudesArgument(argument: "18:24")?.range == 18...24)
        #expect(MagnitudesArgument(argument: "-2.5:3")?.range == -2.5...3)
        for text in ["18", "24:18", "18:18", "18:", "18:24:25", "nan:24", "18:inf"] {
            #expect(MagnitudesArgument(argument: text) == nil, "\(text)")
        }
    }

    // MARK: - Words

    @Test func `an option with fixed values takes exactly these`() {
        #expect(NamedArgument<DetectionPreset>(argument: "sensitive")?.value == .sensitive)
        #expect(NamedArgument<DetectionPreset>(argument: "Sensitive") == nil)
        #expect(NamedArgument<DetectionPreset>.allValueStrings == DetectionPreset.allCases.map(\.rawValue))
        #expect(NamedArgument(value: DetectionPreset.sensitive).defaultValueDescription == "sensitive")
        #expect(OutputFormat(argument: "json") == .json && OutputFormat(argument: "yaml") == nil)
        #expect(BayerArgument(argument: "grbg")?.pattern == .grbg && BayerArgument(argument: "rgb") == nil)
    }

    @Test func `formats and check images keep the given order, without repetitions`() {
        #expect(FormatsArgument(argument: "fits,csv,fits")?.formats == [.fits, .csv])
        #expect(CheckImagesArgument(argument: "rms,background,rms")?.images == [.rms, .background])
        for text in ["", "csv,", "csv,xml", "CSV"] { #expect(FormatsArgument(argument: text) == nil, "\(text)") }
        #expect(CheckImagesArgument(argument: "rms,all") == nil)
    }

    @Test func `an address has a host and a port, which can be connected to`() throws {
        #expect(
            try AddressArgument.parse("dome:7420", option: "--node", allowsPortZero: false)
                == .hostPort(host: "dome", port: 7420))
        #expect(
            try AddressArgument.parse("0.0.0.0:0", option: "--listen", allowsPortZero: true)
                == .hostPort(host: "0.0.0.0", port: 0))
        let failure = #expect(throws: CommandFailure.self) {
            try AddressArgument.parse("dome:0", option: "--join", allowsPortZero: false)
        }
        #expect(failure?.message == "--join dome:0: port 0 cannot be connected to")
        let http = #expect(throws: CommandFailure.self) {
            try AddressArgument.parse("here", option: "--http", allowsPortZero: true)
        }
        #expect(http?.message?.hasSuffix("did you mean here:7422?") == true)
    }

    // MARK: - Files

    @Test func `an option's file must be a regular file of limited size`() throws {
        let folder = ScratchFolder()
        folder.put("12345", in: "five")
        let (path, name) = (folder.path, folder.file("five"))
        #expect(try OptionFile.contents(of: name, limit: 5) == Array("12345".utf8))
        let long = #expect(throws: SkyError.self) { try OptionFile.contents(of: name, limit: 4) }
        #expect(long?.message == "\(name): longer than 4 bytes")
        let none = #expect(throws: SkyError.self) { try OptionFile.contents(of: path + "/none", limit: 4) }
        #expect(none?.message == "\(path)/none: No such file or directory")
        #expect(
            #expect(throws: SkyError.self) { try OptionFile.contents(of: path, limit: 4) }?.message
                == "\(path): not a file")
    }
}
