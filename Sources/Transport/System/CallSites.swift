import Distributed
import Synchronization

/// A method that this process calls on other nodes.
final class CallSite: Sendable {
    /// The methods of the actor's type.
    let methods: MethodTable
    /// The name of the method on the wire.
    let method: String
    private let type: ObjectIdentifier
    private let target: String

    fileprivate init(_ type: any Any.Type, _ target: String, _ methods: MethodTable, _ method: String) {
        self.type = ObjectIdentifier(type)
        self.target = target
        self.methods = methods
        self.method = method
    }

    fileprivate func isOf(_ type: any Any.Type, _ target: String) -> Bool {
        self.type == ObjectIdentifier(type) && self.target == target
    }
}

/// The methods that this process has called on other nodes. To ask the runtime for a type's methods, and these for a name, takes
/// longer than to encode a short message.
final class CallSites: Sendable {
    /// Those of this process.
    static let shared = CallSites()

    /// It is set once and then read without a lock. `AtomicLazyReference` does the same by calls into a library, where Thread Sanitizer
    /// does not see that they order memory.
    private final class Place: Sendable {
        private let stored = Atomic<Unmanaged<CallSite>?>(nil)

        var site: CallSite? { stored.load(ordering: .acquiring)?.takeUnretainedValue() }

        /// - Returns: what the place holds now: `site`, or what another thread has put there meanwhile.
        func storeIfNil(_ site: CallSite) -> CallSite {
            let new = Unmanaged.passRetained(site)
            let (exchanged, original) = stored.compareExchange(
                expected: nil, desired: new, ordering: .acquiringAndReleasing)
            guard !exchanged, let original else { return site }
            new.release()
            return original.takeUnretainedValue()
        }

        deinit { stored.load(ordering: .acquiring)?.release() }
    }

    /// A program calls far fewer methods. Those that find no place are looked up each time.
    private let places = (0..<256).map { _ in Place() }
    /// Places that are tried for a method.
    private static let tries = 8

    /// - Parameters:
    ///   - type: the type of the actor.
    ///   - target: the compiler's name of the method.
    /// - Throws: `TransportError.undeclaredMethod` where the method is not among those of the actor.
    func site<Act: DistributedActor>(_ type: Act.Type, _ target: String) throws -> CallSite {
        let places = places
        var found: CallSite?
        // Names differ in their lengths more often than not. The low bits of an address do not differ.
        let first = (Int(bitPattern: ObjectIdentifier(type)) >> 5) &+ 37 &* target.utf8.count
        for index in first..<(first &+ CallSites.tries) {
            let place = places[index & (places.count - 1)]
            var site = place.site
            if site == nil {
                let new = try found ?? CallSites.find(type, target)
                found = new
                // Another thread may have taken the place meanwhile, for another method.
                site = place.storeIfNil(new)
            }
            if let site, site.isOf(type, target) { return site }
        }
        return try found ?? CallSites.find(type, target)
    }

    private static func find<Act: DistributedActor>(_ type: Act.Type, _ target: String) throws -> CallSite {
        let called = RemoteCallTarget(target)
        guard let methods = (type as? any ClusterActor.Type)?.methods, let method = methods.name(of: called) else {
            throw TransportError.undeclaredMethod(called.description)
        }
        return CallSite(type, target, methods, method)
    }
}
