import Sky
import SkyCore

/// The kinds of jobs of this program. A new kind is added here.
package enum InstalledKinds {
    static let all: [any JobKind.Type] = [SimulateKind.self, SkyKind.self, CompareKind.self]

    /// Makes them known to the cluster, before anything of it is used.
    package static func install() { JobKinds.install(all) { .current } }
}
