import Glibc
import NIOCore
import NIOPosix

/// When the links of one event loop are to be looked at: one timer of the kernel's (timerfd_create(2)) for all of them, which can
/// be put off.
///
/// NIO's own timer never is: where an answer has made a look needless, the loop wakes up for it all the same. On an idle
/// node that was one wake-up in four. Everything here happens on the loop.
final class LookTimer {
    /// A link's place in it.
    final class Place {}

    private struct Look {
        /// Kept, so that no other has its identity.
        let place: Place
        var due: NIODeadline
        var run: () -> Void
    }

    private let loop: any EventLoop
    /// `nil` where NIO's timer does instead: there are no descriptors left, or the loop is a test's.
    private(set) var descriptor: CInt?
    private var task: Scheduled<Void>?
    private var looks: [ObjectIdentifier: Look] = [:]
    /// When the timer ends.
    private var end = NIODeadline.distantFuture
    private var isRunning = false
    /// Whether a channel has the descriptor, and closes it.
    private var isTaken = false

    /// Each thread has its own, so that nothing is shared.
    nonisolated(unsafe) private static let ofThread = ThreadSpecificVariable<LookTimer>()

    /// That of a loop, for a caller on it.
    static func of(_ loop: any EventLoop) -> LookTimer {
        loop.preconditionInEventLoop()
        if let timer = ofThread.currentValue, timer.loop === loop { return timer }
        let timer = LookTimer(loop)
        // A loop of a test may share its thread with others.
        if timer.descriptor != nil { ofThread.currentValue = timer }
        return timer
    }

    /// - Parameter isKernels: false for one that goes by the loop's own timer.
    init(_ loop: any EventLoop, isKernels: Bool = true) {
        self.loop = loop
        guard isKernels, let bootstrap = NIOPipeBootstrap(validatingGroup: loop), let descriptor = KernelTimer.make()
        else {
            return
        }
        self.descriptor = descriptor
        let timer = NIOLoopBound(self, eventLoop: loop)
        bootstrap
            .channelOption(.maxMessagesPerRead, value: 1)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: KernelTimer.wordSize))
            .channelInitializer { channel in
                timer.value.isTaken = true
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Bell(timer.value))
                }
            }
            .takingOwnershipOfDescriptor(input: descriptor)
            .whenFailure { _ in
                // Otherwise the channel has closed it, and its number may be another's.
                if !timer.value.isTaken { close(descriptor) }
                timer.value.doWithout()
            }
    }

    /// The loop's own timer instead.
    fileprivate func doWithout() {
        (descriptor, end) = (nil, .distantFuture)
        arm()
    }

    /// Runs `look` at a time, and not when it was to run before.
    func set(_ place: Place, at due: NIODeadline, _ look: @escaping () -> Void) {
        looks[ObjectIdentifier(place)] = Look(place: place, due: due, run: look)
        arm()
    }

    func cancel(_ place: Place) {
        guard looks.removeValue(forKey: ObjectIdentifier(place)) != nil else { return }
        arm()
    }

    private func arm() {
        // Of a timer that has ended the selector may know already; where there is nothing to be read then, NIO asserts. All is
        // armed anew when it has been read.
        guard !isRunning, end > loop.now else { return }
        let earliest = looks.values.lazy.map(\.due).min() ?? .distantFuture
        guard earliest != end else { return }
        end = earliest
        if let descriptor {
            KernelTimer.set(descriptor, to: earliest)
        } else {
            task?.cancel()
            guard earliest != .distantFuture else { return }
            let timer = NIOLoopBound(self, eventLoop: loop)
            task = loop.scheduleTask(deadline: earliest) { timer.value.run() }
        }
    }

    /// All that is due.
    fileprivate func run() {
        end = .distantFuture
        isRunning = true
        let now = loop.now
        // In the order in which they were due: a loop that is late has several at once.
        for (place, _) in looks.filter({ $0.value.due <= now }).sorted(by: { $0.value.due < $1.value.due }) {
            // One look may be the end of another link.
            guard let look = looks.removeValue(forKey: place) else { continue }
            look.run()
        }
        isRunning = false
        arm()
    }

    /// Hears the timer.
    private final class Bell: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let timer: LookTimer

        init(_ timer: LookTimer) { self.timer = timer }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { timer.run() }

        /// The descriptor is closed, and its number soon another's.
        func channelInactive(context: ChannelHandlerContext) { timer.doWithout() }
    }
}
