/// A record that can be written as a row of numbers.
public protocol NumberRecord: Sendable {
    /// Adds the record's numbers.
    func append(to numbers: inout [Double])
    /// Makes a record of these numbers; `nil` if they are not a valid record.
    init?(_ numbers: UnsafeBufferPointer<Double>)
    /// The number of numbers in the record.
    var numberCount: Int { get }
    /// The records that rows of so many numbers are; `nil` if one of them is none. No type implements it: as a requirement it is compiled
    /// for each type by itself, which takes less than half of the time.
    static func records(_ numbers: UnsafeBufferPointer<Double>, width: Int) -> [Self]?
    /// The numbers of records, row by row; see `records`.
    static func numbers(_ records: [Self], width: Int) -> [Double]?
}

extension NumberRecord {
    /// The records that rows of so many numbers are; `nil` if one of them is none.
    public static func records(_ numbers: UnsafeBufferPointer<Double>, width: Int) -> [Self]? {
        guard width > 0 else { return numbers.isEmpty ? [] : nil }
        guard numbers.count % width == 0 else { return nil }
        var records: [Self] = []
        records.reserveCapacity(numbers.count / width)
        for start in stride(from: 0, to: numbers.count, by: width) {
            guard let record = Self(UnsafeBufferPointer(rebasing: numbers[start..<start + width])) else { return nil }
            records.append(record)
        }
        return records
    }

    /// The numbers of records, row by row; `nil` if a record has another number of them.
    public static func numbers(_ records: [Self], width: Int) -> [Double]? {
        var numbers: [Double] = []
        numbers.reserveCapacity(records.count * width)
        for record in records {
            guard record.numberCount == width else { return nil }
            record.append(to: &numbers)
        }
        return numbers.count == records.count * width ? numbers : nil
    }
}

/// An array whose elements are encoded as rows of one array of numbers.
///
/// A catalogue has a hundred thousand sources of thirty numbers. They are encoded and decoded five times on their way from a
/// worker to the user. When each field was encoded by itself, that took a third of a scan's time.
@propertyWrapper
public struct PackedRecords<Record: NumberRecord & Hashable>: Codable, Sendable {
    /// The elements.
    public var wrappedValue: [Record]
    /// Whether the columns of which single precision holds every number exactly are encoded in it, which takes half the room. Versions
    /// before 0.2 cannot read that.
    package var sparesRoom = false

    /// An array whose elements are to be packed.
    public init(wrappedValue: [Record]) {
        self.wrappedValue = wrappedValue
    }

    private enum CodingKeys: String, CodingKey {
        case width, numbers
        /// The columns in single precision by their places, their numbers row by row, and the numbers of the other columns.
        case places, singles, doubles
    }

    /// Unpacks an array that ``encode(to:)`` packed.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let width = try container.decode(Int.self, forKey: .width)
        let numbers: [Double]
        if container.contains(.singles) {
            sparesRoom = true
            let columns = SplitColumns(
                places: try container.decode([Int].self, forKey: .places),
                singles: try container.decode([Float].self, forKey: .singles),
                doubles: try container.decode([Double].self, forKey: .doubles))
            guard let rows = columns.rows(width: width) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .singles, in: container,
                    debugDescription:
                        "\(columns.singles.count) and \(columns.doubles.count) numbers are no \(Record.self)s")
            }
            numbers = rows
        } else {
            numbers = try container.decode([Double].self, forKey: .numbers)
        }
        let records = numbers.withUnsafeBufferPointer { Record.records($0, width: width) }
        guard let records else {
            throw DecodingError.dataCorruptedError(
                forKey: .width, in: container,
                debugDescription: "\(numbers.count) numbers, \(width) a row, are no \(Record.self)s")
        }
        wrappedValue = records
    }

    /// Packs the elements, which must all have the same number of numbers.
    public func encode(to encoder: any Encoder) throws {
        let width = wrappedValue.first?.numberCount ?? 0
        guard let numbers = Record.numbers(wrappedValue, width: width) else {
            throw EncodingError.invalidValue(
                wrappedValue,
                .init(codingPath: encoder.codingPath, debugDescription: "\(Record.self)s of different lengths"))
        }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(width, forKey: .width)
        guard sparesRoom else { return try container.encode(numbers, forKey: .numbers) }
        let columns = SplitColumns(numbers, width: width)
        try container.encode(columns.places, forKey: .places)
        try container.encode(columns.singles, forKey: .singles)
        try container.encode(columns.doubles, forKey: .doubles)
    }
}

extension PackedRecords: Hashable {
    /// Whether the elements are equal, however they are encoded.
    public static func == (left: PackedRecords, right: PackedRecords) -> Bool {
        left.wrappedValue == right.wrappedValue
    }

    /// Feeds the elements.
    public func hash(into hasher: inout Hasher) { hasher.combine(wrappedValue) }
}

extension Source: NumberRecord {
    /// The number of numbers without the apertures' fluxes and errors.
    private static let fixedCount = 25

    /// 25, and two for each aperture, and the odd number of further measurements if there are any.
    public var numberCount: Int {
        Source.fixedCount + fluxesAperture.count + fluxErrorsAperture.count
            + (further == nil ? 0 : FurtherMeasurements.count)
    }

    /// Appends the numbers. NaN stands for a value that does not exist.
    public func append(to numbers: inout [Double]) {
        numbers.append(x)
        numbers.append(y)
        numbers.append(xWindow)
        numbers.append(yWindow)
        numbers.append(alpha ?? .nan)
        numbers.append(delta ?? .nan)
        numbers.append(alphaWindow ?? .nan)
        numbers.append(deltaWindow ?? .nan)
        numbers.append(fluxAuto)
        numbers.append(fluxErrorAuto)
        numbers.append(fluxIsophotal)
        numbers.append(peak)
        numbers.append(halfLightRadius)
        numbers.append(kronRadius)
        numbers.append(a)
        numbers.append(b)
        numbers.append(theta)
        numbers.append(fwhm)
        numbers.append(background)
        numbers.append(threshold)
        numbers.append(Double(area))
        numbers.append(Double(flags))
        numbers.append(Double(sector))
        numbers.append(Double(imageFlags))
        numbers.append(sharpness)
        numbers += fluxesAperture
        numbers += fluxErrorsAperture
        further?.append(to: &numbers)
    }

    /// Returns `nil` if area, flags or sector is not an integer, or if the sharpness is out of its range.
    public init?(_ numbers: UnsafeBufferPointer<Double>) {
        let hasFurther = (numbers.count - Source.fixedCount) % 2 != 0
        let end = numbers.count - (hasFurther ? FurtherMeasurements.count : 0)
        guard end >= Source.fixedCount,
            let area = Int(exactly: numbers[20]), let flags = Int(exactly: numbers[21]),
            let sector = Int(exactly: numbers[22]), let imageFlags = Int(exactly: numbers[23]),
            (Sharpness.none...Sharpness.largest).contains(numbers[24])
        else { return nil }
        self.init(x: numbers[0], y: numbers[1], sector: sector)
        (xWindow, yWindow) = (numbers[2], numbers[3])
        let angle = { (place: Int) in numbers[place].isNaN ? nil : numbers[place] }
        (alpha, delta, alphaWindow, deltaWindow) = (angle(4), angle(5), angle(6), angle(7))
        (fluxAuto, fluxErrorAuto, fluxIsophotal, peak) = (numbers[8], numbers[9], numbers[10], numbers[11])
        (halfLightRadius, kronRadius) = (numbers[12], numbers[13])
        (a, b, theta, fwhm) = (numbers[14], numbers[15], numbers[16], numbers[17])
        (background, threshold) = (numbers[18], numbers[19])
        (self.area, self.flags, self.imageFlags, sharpness) = (area, flags, imageFlags, numbers[24])
        let apertures = (end - Source.fixedCount) / 2
        fluxesAperture = Array(numbers[Source.fixedCount..<Source.fixedCount + apertures])
        fluxErrorsAperture = Array(numbers[Source.fixedCount + apertures..<end])
        if hasFurther { further = FurtherMeasurements(numbers[end...]) }
    }
}

extension CleanProfile: NumberRecord {
    private static let count = 13

    /// The number of numbers, which is the same for all profiles.
    public var numberCount: Int { CleanProfile.count }

    /// Appends the numbers. Every `Float` is exact as a `Double`.
    public func append(to numbers: inout [Double]) {
        numbers.append(Double(flux))
        numbers.append(Double(pixels))
        numbers.append(area)
        numbers.append(Double(correction))
        numbers.append(Double(threshold))
        numbers.append(Double(cxx))
        numbers.append(Double(cyy))
        numbers.append(Double(cxy))
        numbers.append(Double(a))
        numbers.append(Double(limit))
        numbers.append(Double(line))
        numbers.append(Double(column))
        numbers.append(Double(child))
    }

    /// Returns `nil` if the number of numbers differs, or if a count or a place is not an integer.
    public init?(_ numbers: UnsafeBufferPointer<Double>) {
        guard numbers.count == CleanProfile.count, let pixels = Int(exactly: numbers[1]),
            let line = Int(exactly: numbers[10]), let column = Int(exactly: numbers[11]),
            let child = Int(exactly: numbers[12])
        else { return nil }
        flux = Float(numbers[0])
        (self.pixels, area) = (pixels, numbers[2])
        (correction, threshold) = (Float(numbers[3]), Float(numbers[4]))
        (cxx, cyy, cxy) = (Float(numbers[5]), Float(numbers[6]), Float(numbers[7]))
        (a, limit) = (Float(numbers[8]), Float(numbers[9]))
        (self.line, self.column, self.child) = (line, column, child)
    }
}
