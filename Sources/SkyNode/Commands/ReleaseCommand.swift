import ArgumentParser
import SkyCore

/// `skynode release`: makes a service's control group ready for its next start. systemd calls it, and never a person.
struct ReleaseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "release", abstract: "Makes a service's control group ready for its next start; for systemd.",
        shouldDisplay: false)

    func run() { ControlGroups.giveBack() }
}
