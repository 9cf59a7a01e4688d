/// What a person calls a job by: its id, the id's first digits, or `@last`.
enum JobReference {
    static let last = "@last"
    /// Why `@last` does not say what is to be stopped or deleted.
    static let namesNoVictim = "name the job by its id: the newest one may be somebody else's by now"

    /// Whether somebody who has named no command may mean a job by the text.
    static func isPossible(_ text: String) -> Bool {
        text == last || (!text.isEmpty && text.allSatisfy { $0.isHexDigit && $0.isASCII })
    }
}
