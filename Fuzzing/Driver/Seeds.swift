import Foundation

/// Files of inputs, named by their content so that the same seed is written once.
enum Seeds {
    static func write(_ seeds: [[UInt8]], to folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for seed in seeds {
            let hash = seed.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
            try Data(seed).write(to: URL(filePath: "\(folder)/seed-\(String(hash, radix: 16))"))
        }
    }
}
