/// The names of what belongs to a frame: `night/a.fits` has `night/a_truth.csv`, its second epoch is `night/a_e1.fits`.
struct FrameName {
    /// The path without the ending of FITS files.
    let stem: String
    /// The ending with its point; empty where there is none.
    let ending: String

    init(_ path: String) {
        for ending in [".fits", ".fit", ".fts"] where path.lowercased().hasSuffix(ending) {
            stem = String(path.dropLast(ending.count))
            self.ending = String(path.suffix(ending.count))
            return
        }
        stem = path
        ending = ""
    }

    /// The truth of the frame.
    var truth: String { stem + "_truth.csv" }

    /// The frame of one of several epochs, counted from 0.
    func epoch(_ epoch: Int) -> String {
        // What names no file is left as it is, for the writer to refuse.
        guard !stem.hasSuffix("/"), !(stem + ending).isEmpty else { return stem + ending }
        return "\(stem)_e\(epoch)\(ending)"
    }
}
