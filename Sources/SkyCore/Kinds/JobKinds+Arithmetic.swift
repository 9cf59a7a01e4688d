package import Base
import Sky

extension JobKinds {
    /// What decides the results of all kinds besides their tasks. Nodes whose arithmetic differs do not work on one job that needs
    /// equal results (`JobOptions.needsAlike`).
    package static var arithmetic: Arithmetic { .current }
}
