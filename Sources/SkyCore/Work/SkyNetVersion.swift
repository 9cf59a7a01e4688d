/// The version of this program, shown by `skynode --version` and in lists of nodes.
public enum SkyNetVersion {
    public static let current = "0.1.0"
}
