extension Fuzz {
    /// The targets that work with values that were decoded.
    static let targets: [any FuzzTarget.Type] = [
        CoordinatorTarget.self, WorkBookTarget.self, PixelTarget.self, BodyTarget.self, OptionsTarget.self,
        JournalTarget.self, AnswerTarget.self,
    ]
}
