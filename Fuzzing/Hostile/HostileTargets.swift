import SkyJobs

extension Fuzz {
    /// The targets that work with values that were decoded.
    static let targets: [any FuzzTarget.Type] = {
        // Without the kinds of jobs, hardly any value could be decoded.
        InstalledKinds.install()
        return [
            CoordinatorTarget.self, WorkBookTarget.self, PixelTarget.self, BodyTarget.self, OptionsTarget.self,
            JournalTarget.self, AnswerTarget.self,
        ]
    }()
}
