/// Bounds on what one decode may do. Memory and time are also bounded by the length of the message, which the
/// frame layer limits; these bound how much more than its length a message may cost.
package struct DecodingLimits: Sendable {
    /// Containers nested in one another. Each level costs a few stack frames of the decoding type, and a call
    /// may run on a thread with a stack of 512 KiB. The encoder refuses to nest deeper than the default.
    package var depth = MessageLimits.depth

    /// Containers opened and their elements, all together; packed arrays count only when they are read element
    /// by element. An element may be one byte long and yet make a value of a hundred, and a type that opens a
    /// container repeatedly ("is it this? or that?") is stopped here as well.
    package var elements = 4 * 1024 * 1024

    /// UTF-8 bytes of one string or key. Longer text is a file: send it as bytes, which need no validation.
    package var stringBytes = 16 * 1024 * 1024

    /// Different keys in one message. Types have dozens; dictionaries with more entries than this should travel
    /// as arrays of pairs.
    package var keys = 1024 * 1024

    package init() {}
}
