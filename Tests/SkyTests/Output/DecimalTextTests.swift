import Testing

@testable import Sky

@Suite struct DecimalTextTests {
    @Test func `fixed places are printed as people expect`() {
        #expect(DecimalText.fixed(3.14159, 2) == "3.14")
        #expect(DecimalText.fixed(-0.5, 4) == "-0.5000")
        #expect(DecimalText.fixed(0, 3) == "0.000")
        #expect(DecimalText.fixed(-0.00001, 2) == "0.00")
        #expect(DecimalText.fixed(9.996, 2) == "10.00")
        #expect(DecimalText.fixed(42, 0) == "42")
        #expect(DecimalText.fixed(0.05, 7) == "0.0500000")
        #expect(DecimalText.fixed(359.9999999, 7) == "359.9999999")
    }

    @Test func `very large numbers still print, and a value that is not a number prints as nothing`() {
        #expect(DecimalText.fixed(1e20, 2) == "100000000000000000000.00")
        #expect(DecimalText.fixed(.greatestFiniteMagnitude, 4).count == 314)
        #expect(DecimalText.fixed(.nan, 2) == "")
        #expect(DecimalText.fixed(-.infinity, 2) == "")
    }

    @Test func `significant digits suit any magnitude`() {
        func text(_ value: Double) -> String {
            var bytes: [UInt8] = []
            DecimalText.appendSignificant(value, 7, to: &bytes)
            return String(decoding: bytes, as: UTF8.self)
        }
        #expect(text(1234.56789) == "1234.568")
        #expect(text(1.23456789e-9) == "1.234568e-09")
        #expect(text(123456789) == "1.234568e+08")
        #expect(text(-0.0) == "0")
        #expect(text(.infinity) == "")
    }
}
