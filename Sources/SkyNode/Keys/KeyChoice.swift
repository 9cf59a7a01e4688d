import Glibc
import Sky

/// Which key file a command uses, and who said so.
struct KeyChoice: Equatable {
    enum Source {
        /// `--cluster-key`.
        case option
        /// `SKYNODE_CLUSTER_KEY`.
        case variable
        /// Nobody: the key lies where keys lie.
        case place
    }

    var path: String
    var source: Source

    /// The environment variable that stands for `--cluster-key`.
    static let variable = "SKYNODE_CLUSTER_KEY"

    /// Where a key is taken from when nothing is said: the user's own (XDG base directory specification), then the
    /// machine's.
    ///
    /// - Parameter home: the home of the user's account, for an environment without `HOME`.
    static func places(_ environment: [String: String], home: String? = nil) -> [String] {
        let home = (environment["HOME"] ?? home).map { $0 + "/.config" }
        let configuration = environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? home
        return [configuration, "/etc"].compactMap { $0.map { $0 + "/skynode/cluster.key" } }
    }

    /// The option counts most, then the variable, and a key in its usual place only where nothing is said about who may
    /// take part.
    ///
    /// - Parameters:
    ///   - option: what `--cluster-key` names.
    ///   - hasCertificates: whether certificates are named instead.
    ///   - isInsecure: whether no key is wanted.
    ///   - home: the home of the user's account, for an environment without `HOME`.
    ///   - isReadable: whether this user can read a file.
    static func find(
        option: String?, hasCertificates: Bool, isInsecure: Bool, environment: [String: String],
        home: String? = nil, isReadable: (String) -> Bool = { access($0, R_OK) == 0 }
    ) -> KeyChoice? {
        if let option { return KeyChoice(path: option, source: .option) }
        guard !hasCertificates else { return nil }
        // An empty variable says that there is none.
        if let path = environment[variable] { return path.isEmpty ? nil : KeyChoice(path: path, source: .variable) }
        guard !isInsecure else { return nil }
        return places(environment, home: home).first(where: isReadable).map { KeyChoice(path: $0, source: .place) }
    }

    /// The end of a message about a key that nobody has named; empty for others.
    var remark: String {
        source == .place
            ? " (the key \(path) was taken because none was named; --cluster-key names another, \(KeyChoice.variable)= takes none)"
            : ""
    }
}
