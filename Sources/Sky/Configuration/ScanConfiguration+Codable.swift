extension ScanConfiguration: Codable {
    private enum CodingKeys: String, CodingKey {
        case threshold, thresholdUnit, filter, minimumArea, deblendLevels, deblendContrast, cleanParameter
        case meshSize, meshFilterSize, apertureDiameters, gain, saturation, zeroPoint, seeing, sectorSize, margin
        case hdu, columns, checkParts, sparesRoom, localBackground
        /// The key in journals of versions that allowed one aperture only.
        case apertureDiameter
    }

    /// Decodes a configuration; a setting that an earlier version did not know gets its default.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func value<Value: Decodable>(_ key: CodingKeys, _ standard: Value) throws -> Value {
            try container.decodeIfPresent(Value.self, forKey: key) ?? standard
        }
        self.init()
        threshold = try value(.threshold, threshold)
        thresholdUnit = try value(.thresholdUnit, thresholdUnit)
        filter = try value(.filter, filter)
        minimumArea = try value(.minimumArea, minimumArea)
        deblendLevels = try value(.deblendLevels, deblendLevels)
        deblendContrast = try value(.deblendContrast, deblendContrast)
        cleanParameter = try container.decodeIfPresent(Double.self, forKey: .cleanParameter)
        meshSize = try value(.meshSize, meshSize)
        meshFilterSize = try value(.meshFilterSize, meshFilterSize)
        apertureDiameters = try value(.apertureDiameters, [try value(.apertureDiameter, apertureDiameters[0])])
        gain = try container.decodeIfPresent(Double.self, forKey: .gain)
        saturation = try container.decodeIfPresent(Double.self, forKey: .saturation)
        zeroPoint = try container.decodeIfPresent(Double.self, forKey: .zeroPoint)
        seeing = try container.decodeIfPresent(Double.self, forKey: .seeing)
        sectorSize = try container.decodeIfPresent(Int.self, forKey: .sectorSize)
        margin = try value(.margin, margin)
        hdu = try container.decodeIfPresent(Int.self, forKey: .hdu)
        columns = try container.decodeIfPresent([String].self, forKey: .columns)
        localBackground = try container.decodeIfPresent(Int.self, forKey: .localBackground)
        checkParts = try container.decodeIfPresent(CheckParts.self, forKey: .checkParts)
        sparesRoom = try container.decodeIfPresent(Bool.self, forKey: .sparesRoom)
    }

    /// Encodes all settings.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(threshold, forKey: .threshold)
        try container.encode(thresholdUnit, forKey: .thresholdUnit)
        try container.encode(filter, forKey: .filter)
        try container.encode(minimumArea, forKey: .minimumArea)
        try container.encode(deblendLevels, forKey: .deblendLevels)
        try container.encode(deblendContrast, forKey: .deblendContrast)
        try container.encodeIfPresent(cleanParameter, forKey: .cleanParameter)
        try container.encode(meshSize, forKey: .meshSize)
        try container.encode(meshFilterSize, forKey: .meshFilterSize)
        try container.encode(apertureDiameters, forKey: .apertureDiameters)
        try container.encodeIfPresent(gain, forKey: .gain)
        try container.encodeIfPresent(saturation, forKey: .saturation)
        try container.encodeIfPresent(zeroPoint, forKey: .zeroPoint)
        try container.encodeIfPresent(seeing, forKey: .seeing)
        try container.encodeIfPresent(sectorSize, forKey: .sectorSize)
        try container.encode(margin, forKey: .margin)
        try container.encodeIfPresent(hdu, forKey: .hdu)
        try container.encodeIfPresent(columns, forKey: .columns)
        try container.encodeIfPresent(localBackground, forKey: .localBackground)
        try container.encodeIfPresent(checkParts, forKey: .checkParts)
        try container.encodeIfPresent(sparesRoom, forKey: .sparesRoom)
    }
}
