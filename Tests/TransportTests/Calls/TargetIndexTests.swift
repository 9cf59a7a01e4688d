import NIOCore
import Testing

@testable import Transport

@Suite struct TargetIndexTests {
    @Test func `a target is declared once and then goes by its index`() throws {
        var sender = TargetIndex()
        var receiver = DeclaredTargets()
        let targets = [CallTarget(actor: "a", method: "m"), CallTarget(actor: "a", method: "n")]
        for target in targets {
            let (index, declaration) = sender.index(of: target)
            try receiver.declare(try #require(declaration).body)
            #expect(receiver.target(index) == target)
            let (again, second) = sender.index(of: target)
            #expect(again == index && second == nil)
        }
        #expect(receiver.target(0) == nil)
        #expect(receiver.target(3) == nil)
        #expect(receiver.target(.max) == nil)
    }

    @Test func `a full table lets calls go by name`() throws {
        var sender = TargetIndex()
        for number in 0..<FrameLimits.targets {
            #expect(sender.index(of: CallTarget(actor: "a\(number)", method: "m")).index == UInt32(number + 1))
        }
        let (index, declaration) = sender.index(of: CallTarget(actor: "one more", method: "m"))
        #expect(index == 0 && declaration == nil)
    }

    @Test func `declarations that do not count up, or have no end, are refused`() throws {
        var receiver = DeclaredTargets()
        func body(_ index: UInt32) -> ByteBuffer {
            var body = ByteBuffer(integer: index)
            CallTarget(actor: "a", method: "m").write(into: &body)
            return body
        }
        #expect(throws: DeclaredTargets.Failure.self) { try receiver.declare(body(2)) }
        #expect(throws: DeclaredTargets.Failure.self) { try receiver.declare(body(0)) }
        for index in 1...UInt32(FrameLimits.targets) { try receiver.declare(body(index)) }
        #expect(throws: DeclaredTargets.Failure.self) { try receiver.declare(body(UInt32(FrameLimits.targets + 1))) }
    }
}
