import ArgumentParser
import Base
import SkyCore
import SkyJobs

/// `skynode`: the one program of SkyNet.
struct SkyNodeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "skynode",
        abstract: "Scan astronomical images over every idle machine of a network.",
        discussion: """
            Start `skynode serve --listen 0.0.0.0:7420 --cluster-key FILE` on each machine, with a copy of the same key \
            (made by `skynode key new`); the nodes find one another. `skynode scan night/*.fits` then spreads the images \
            over all of them and writes one catalogue per image. With no node running, the commands work alone.

            Exit codes: 0 done; 1 done, but some tasks failed; 2 wrong usage or bad input; 3 no cluster reached; \
            130 cancelled.

            EXAMPLES:
              skynode scan m31.fits -o out                with all cores of this machine
              skynode key new > cluster.key
              skynode serve --listen 0.0.0.0:7420 --cluster-key cluster.key
              skynode nodes                               who is there
              skynode jobs                                what is done and what was

            -h is short, --help is long; both go with every command.
            """,
        version: SkyNetVersion.current,
        subcommands: [
            ServeCommand.self, ScanCommand.self, SimulateCommand.self, SynthesizeCommand.self, JobsCommand.self,
            NodesCommand.self, DoctorCommand.self, KeyCommand.self, VersionCommand.self, WorkerCommand.self,
            ReleaseCommand.self,
        ])
}
