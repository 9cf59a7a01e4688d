import Glibc
import NIOCore
import NIOPosix

/// When the links of one event loop are to be checked. One timer of the kernel's (timerfd_create(2)) serves all of them, and it
/// can be put off.
///
/// NIO's own timer cannot be put off: where an answer has made a check needless, the loop wakes up for it all the same. On an idle
/// node that was one wake-up in four. Everything here happens on the loop.
final class CheckTimer {
    /// A link's place in the timer.
    final class Place {}

    private struct Check {
        /// The place is kept, so that no other object gets its identity.
        let place: Place
        var due: NIODeadline
        var run: () -> Void
    }

    private let loop: any EventLoop
    /// `nil` where NIO's timer is used instead, because there are no descriptors left or the loop is a test's.
    private(set) var descriptor: CInt?
    private var task: Scheduled<Void>?
    private var checks: [ObjectIdentifier: Check] = [:]
    /// When the timer ends.
    private var end = NIODeadline.distantFuture
    private var isRunning = false
    /// Whether a channel has the descriptor, and closes it.
    private var isTaken = false

    /// Each thread has its own timer, so that nothing is shared.
    nonisolated(unsafe) private static let ofThread = ThreadSpecificVariable<CheckTimer>()

    /// The timer of a loop, for a caller on that loop.
    static func of(_ loop: any EventLoop) -> CheckTimer {
        loop.preconditionInEventLoop()
        if let timer = ofThread.currentValue, timer.loop === loop { return timer }
        let timer = CheckTimer(loop)
        // A loop of a test may share its thread with others.
        if timer.descriptor != nil { ofThread.currentValue = timer }
        return timer
    }

    /// - Parameter isKernels: `false` for a timer that uses the loop's own timer.
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
                // If the channel has it, the channel has closed the descriptor, and the number may be another file's.
                if !timer.value.isTaken { close(descriptor) }
                timer.value.doWithout()
            }
    }

    /// Uses the loop's own timer instead.
    fileprivate func doWithout() {
        (descriptor, end) = (nil, .distantFuture)
        arm()
    }

    /// Runs `check` at a time, and no longer at the time that was set before.
    func set(_ place: Place, at due: NIODeadline, _ check: @escaping () -> Void) {
        checks[ObjectIdentifier(place)] = Check(place: place, due: due, run: check)
        arm()
    }

    func cancel(_ place: Place) {
        guard checks.removeValue(forKey: ObjectIdentifier(place)) != nil else { return }
        arm()
    }

    private func arm() {
        // The selector may already know that a timer has ended. If there is nothing to be read then, NIO asserts. All checks are
        // armed anew when the timer has been read.
        guard !isRunning, end > loop.now else { return }
        let earliest = checks.values.lazy.map(\.due).min() ?? .distantFuture
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

    /// Runs all checks that are due.
    fileprivate func run() {
        end = .distantFuture
        isRunning = true
        let now = loop.now
        // The checks run in the order in which they were due: a loop that is late has several at once.
        for (place, _) in checks.filter({ $0.value.due <= now }).sorted(by: { $0.value.due < $1.value.due }) {
            // One check may end another link.
            guard let check = checks.removeValue(forKey: place) else { continue }
            check.run()
        }
        isRunning = false
        arm()
    }

    /// Hears when the timer ends.
    private final class Bell: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let timer: CheckTimer

        init(_ timer: CheckTimer) { self.timer = timer }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { timer.run() }

        /// The descriptor is closed, and its number may soon be another file's.
        func channelInactive(context: ChannelHandlerContext) { timer.doWithout() }
    }
}
