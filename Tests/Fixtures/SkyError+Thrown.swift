import Base
package import Sky

extension SkyError {
    /// The error that `body` throws, or `nil`.
    package static func thrown<Result>(by body: () throws(SkyError) -> Result) -> SkyError? {
        do {
            _ = try body()
            return nil
        } catch {
            return error
        }
    }
}
