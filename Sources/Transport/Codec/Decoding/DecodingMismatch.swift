extension DecodingMessage {
    /// The error for a value that is not what `type` wants.
    func mismatch(_ type: Any.Type, found value: WireValue, at place: WirePlace) -> DecodingError {
        switch value {
        case .null:
            return .valueNotFound(type, context(at: place, "Expected \(type) but found null"))
        case .unsigned, .negative, .float, .double:
            guard type is any Numeric.Type else { break }
            return .dataCorrupted(context(at: place, "The number on the wire does not fit in \(type)"))
        default: break
        }
        return .typeMismatch(type, context(at: place, "Expected \(type) but found \(value.kindName)"))
    }

    /// The error for a container that is not there.
    func mismatch(container: String, found value: WireValue, at place: WirePlace) -> DecodingError {
        let description = "Expected \(container) but found \(value.kindName)"
        return if case .null = value {
            .valueNotFound([Any].self, context(at: place, description))
        } else {
            .typeMismatch([Any].self, context(at: place, description))
        }
    }

    func context(at place: WirePlace, _ description: String) -> DecodingError.Context {
        DecodingError.Context(codingPath: codingPath(of: place), debugDescription: description)
    }
}
