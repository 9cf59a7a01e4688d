import Foundation
import NIOCore
import Testing

@testable import SkyCore
@testable import SkyNode
@testable import Transport

/// The errors of a command that finds no node or cannot start one, and the defaults.
struct SessionWordsTests {
    private struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    @Test(arguments: [
        ("connect(...): Connection refused (errno: 111)", "connection refused"), ("ECONNREFUSED", "connection refused"),
        ("Connect Timeout 4 s", "no answer"), ("Network is unreachable", "the network is unreachable"),
        ("sendto: errno: 101", "the network is unreachable"), ("No route to host", "no route to the host"),
        ("errno: 113", "no route to the host"), ("dnsAError", "unknown host"), ("unknown(host: x)", "unknown host"),
        ("something else", "something else"),
    ])
    func `a failed connection is reported with its reason`(text: String, words: String) {
        #expect(ClusterSession.reason(Failure(description: text)) == words)
    }

    @Test func `a wrong key is distinguished from other failures`() {
        for words in ["it has another cluster key", "its certificate is too old", "the cluster's key"] {
            #expect(LinkCause(HandshakeFailure.broken(words)).isAboutKeys)
        }
        #expect(LinkCause(HandshakeFailure.broken("it speaks HTTP")) == .notNode)
    }

    @Test func `a node that cannot start gives advice`() {
        func words(_ code: Int32) -> String? {
            StartFailure.command(
                IOError(errnoCode: code, reason: "bind"), listen: .hostPort(host: "10.0.0.1", port: 80)
            )
            .message
        }
        #expect(words(98)?.hasPrefix("cannot listen on 10.0.0.1:80: the port is busy; is a node running") == true)
        #expect(words(99) == "cannot listen on 10.0.0.1:80: this machine has no such address")
        #expect(words(13)?.hasSuffix("ports below 1024 are for root") == true)
        let other = StartFailure.command(Failure(description: "odd\u{1}"), listen: nil)
        #expect(other.message == "cannot listen on its address: odd?" && other.status == .usage)
    }

    // MARK: - Defaults

    @Test func `a node's name is made fit for a file name`() {
        #expect(Defaults.fileName("dome-2.hill") == "dome-2.hill" && Defaults.fileName("a/b c") == "a_b_c")
        #expect(Defaults.fileName("..") == "_." && Defaults.fileName("") == "")
    }

    @Test func `a path is made absolute, and a node has a name and slots`() {
        #expect(Defaults.absolute("/a/b") == "/a/b")
        #expect(Defaults.absolute("a").hasSuffix("/a") && Defaults.absolute("a").hasPrefix("/"))
        #expect(Hello.isValidName(Defaults.name) && (1...1024).contains(Defaults.slots))
        #expect(Defaults.dataHome?.hasPrefix("/") == true)
        #expect(Defaults.environment("SKYNODE_NO_SUCH_VARIABLE") == nil && Defaults.environment("PATH") != nil)
    }
}
