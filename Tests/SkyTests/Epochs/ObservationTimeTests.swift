import Testing

@testable import Sky

@Suite struct ObservationTimeTests {
    @Test func `the time is the middle of the exposure, from any of the usual cards`() throws {
        let day = 86_400.0
        #expect(
            ObservationTime.seconds(["MJD-OBS =       60000.25 / start", "EXPTIME =  120.0"]) == 60_000.25 * day + 60)
        #expect(ObservationTime.seconds(["MJD-OBS =   6.000025D4"]) == 60_000.25 * day)
        // 2023-02-25 is MJD 60000 (Astronomical Almanac: JD 2460000.5).
        #expect(ObservationTime.seconds(["DATE-OBS= '2023-02-25T06:00:00' / UTC"]) == 60_000.25 * day)
        #expect(ObservationTime.seconds(["DATE-OBS= '2000-01-01'"]) == 51_544 * day)
        #expect(ObservationTime.seconds(["DATE-OBS= '1858-11-17T00:00:01.5'"]) == 1.5)
        #expect(ObservationTime.seconds(["DATE-OBS= '2024-02-29T00:00:00'", "DATE    = '2030-01-01'"]) == 60_369 * day)
    }

    @Test(arguments: [
        "DATE-OBS= '25/02/99'", "DATE-OBS= ''", "DATE-OBS= '", "DATE-OBS=", "DATE-OBS= '2023-13-01'",
        "DATE-OBS= '2023-01-01T25:00:00'", "MJD-OBS = nan", "MJD-OBS = 1e300", "DATE-OBS= '99999999999999999999-1-1'",
        "",
    ])
    func `a malformed date gives no time`(card: String) {
        #expect(ObservationTime.seconds([card]) == nil)
    }
}
