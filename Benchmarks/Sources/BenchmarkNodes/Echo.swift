public import Distributed
public import NIOCore
public import Transport

/// The actor that is called. It does as little as an actor can, so that what is measured is the way to it and back.
public distributed actor Echo: ClusterActor {
    public typealias ActorSystem = ClusterSystem

    public static let name = "echo"

    public static let methods = MethodTable([
        Method("bytes") { (echo: isolated Echo, bytes: [UInt8]) in echo.bytes(bytes) },
        Method("buffer") { (echo: isolated Echo, buffer: ByteBuffer) in echo.buffer(buffer) },
        Method("sleep") { (echo: isolated Echo) in await echo.sleep() },
    ])

    /// Calls of `sleep` that have begun and not ended.
    private var sleeping = 0

    public distributed func bytes(_ bytes: [UInt8]) -> [UInt8] { bytes }

    /// Does the same without a copy into an array on either side.
    public distributed func buffer(_ buffer: ByteBuffer) -> ByteBuffer { buffer }

    /// Ends when the call is cancelled and not before.
    public distributed func sleep() async {
        sleeping += 1
        // This is not `Task.sleep`: a cancelled sleep keeps its memory until its time is over, which looks like a leak of ours.
        let (never, _) = AsyncStream.makeStream(of: Never.self)
        for await _ in never {}
        sleeping -= 1
    }

    /// This is for the owner of the actor only; no peer can ask.
    public func callsAsleep() -> Int { sleeping }
}
