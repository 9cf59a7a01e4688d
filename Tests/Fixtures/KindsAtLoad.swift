import AtLoad
import SkyJobs

/// The kinds of jobs are there for all tests, as they are for the program after its first line.
@_cdecl("skynet_at_load") func installKinds() { InstalledKinds.install() }
