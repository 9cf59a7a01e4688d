/// The names of the files of a frame: the truth of `night/a.fits` is `night/a_truth.csv`, and its second epoch is
/// `night/a_e1.fits`.
struct FrameName {
    /// The path without the ending of FITS files.
    let stem: String
    /// The ending with its point; empty if there is none.
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

    /// The name of the truth file.
    var truth: String { stem + "_truth.csv" }

    /// The name of the frame of one of several epochs, counted from 0.
    func epoch(_ epoch: Int) -> String {
        // A path that names no file stays as it is, and the writer refuses it.
        guard !stem.hasSuffix("/"), !(stem + ending).isEmpty else { return stem + ending }
        return "\(stem)_e\(epoch)\(ending)"
    }
}
