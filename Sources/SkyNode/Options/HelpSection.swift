import Sky

/// The titles of the groups of options in the long help; options of one title are listed together.
enum HelpSection {
    static let input = "Input"
    static let output = "Output"
    static let detection = "Detection"
    static let photometry = "Photometry"
    static let background = "Background"
    static let twoImages = "Two images"
    static let comparison = "Comparison"
    static let stars = "Artificial stars"
    static let job = "Job"
    static let storage = "Storage"
    static let http = "HTTP"
    static let cluster = "Cluster"
    static let connection = "Connection"
    static let log = "Log"

    /// The groups that most commands have, and that the short help leaves out.
    static let common: Set<String> = [cluster, connection]
}
