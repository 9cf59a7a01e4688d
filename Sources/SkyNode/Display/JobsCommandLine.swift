import Base

/// A `skynode jobs` command that a person is advised to type.
struct JobsCommandLine {
    let text: String

    /// - Parameters:
    ///   - words: what follows `skynode jobs`.
    ///   - connection: the options that lead to the node that has the jobs.
    init(_ words: [String] = [], connection: [String]) {
        text = (["skynode", "jobs"] + (words + connection).map(JobsCommandLine.quoted)).joined(separator: " ")
    }

    /// The word, written so that a shell takes it for one word.
    private static func quoted(_ word: String) -> String {
        let isPlain = !word.isEmpty && word.allSatisfy { $0.isLetter || $0.isNumber || "@%+=:,./_-".contains($0) }
        return isPlain ? word : "'" + PrintableText.of(word).replacing("'", with: "'\\''") + "'"
    }
}
