import Foundation
import Glibc
import Testing

/// What docs/OPERATING.md says about keys, done word by word on machines with the package's service (`Tests/Trials/keys/machines.sh`),
/// where somebody's credential was revoked before.
@Suite(
    .serialized, .timeLimit(.minutes(Skynode.minutes(4))),
    .enabled(if: Lab.namespaceObstacle == nil, "machines need namespaces: \(Lab.namespaceObstacle ?? "")"))
struct WalkThroughTests {
    private static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../..").standardized

    private let operating: [String]

    init() throws {
        let file = WalkThroughTests.package.appendingPathComponent("docs/OPERATING.md")
        operating = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
    }

    /// The blocks of code between a line that begins so and the next heading.
    private func blocks(after beginning: String) throws -> [[String]] {
        let start = try #require(operating.firstIndex { $0.hasPrefix(beginning) }, "\(beginning)")
        let section = operating[(start + 1)...].prefix { !$0.hasPrefix("#") }
        return section.split { !$0.hasPrefix("    ") }.map { $0.map { String($0.dropFirst(4)) } }
    }

    /// Runs a script of the operator's, which ends with the first command that fails.
    private func run(_ script: String) async throws -> Ended {
        let folder = try ScratchFolder()
        // The service's user runs the program from a folder below.
        chmod(folder.path, 0o755)
        try FileManager.default.createDirectory(atPath: folder.file("machines"), withIntermediateDirectories: true)
        try Data(script.utf8).write(to: URL(fileURLWithPath: folder.file("script")))
        let machines = WalkThroughTests.package.appendingPathComponent("Tests/Trials/keys/machines.sh").path
        let ended = try await RunningProcess(
            machines, [Skynode.path, folder.file("machines"), folder.file("script")]
        ).end()
        #expect(ended.status == 0, "\(ended.output + ended.errors)")
        return ended
    }

    /// The shell's words for a text.
    private func quoted(_ text: String) -> String { "'" + text.replacing("'", with: "'\\''") + "'" }

    /// The line by which alice is revoked.
    private var revoke: String {
        get throws {
            let line = try #require(try blocks(after: "### A person leaves, or a laptop is stolen").first?.first)
            #expect(line.hasPrefix("$ skynode key revoke alice && systemctl reload skynode"))
            return String(line.dropFirst(2))
        }
    }

    /// Alice has a credential, which is revoked as the documentation says.
    private func revocation() throws -> String {
        let leaves = try blocks(after: "### A person leaves, or a laptop is stolen")
        let revoke = try self.revoke
        let show = try #require(leaves.first?.first { $0.hasPrefix("$ journalctl") })
        let said = try #require(leaves.first?.suffix(2))
        let laptop = try #require(leaves.last?.first)
        #expect(laptop == "$ skynode jobs --cluster-key laptop.pem")
        return """
            ssh dome-1 'umask 077; skynode key issue alice' > laptop.pem; chmod 600 laptop.pem
            cp -p $MACHINES/dome-1/etc/skynode/cluster.key old.key
            ssh dome-1 \(quoted(revoke))
            for machine in dome-1 dome-2; do
                until grep -q 'credentials were revoked' $MACHINES/$machine/log; do sleep 0.05; done
            done
            until grep -q 'configuration read again' $MACHINES/dome-1/log; do sleep 0.05; done
            [ "$(ssh dome-1 \(quoted(String(show.dropFirst(2)))))" = \(quoted(said.joined(separator: "\n"))) ]
            status=0; \(laptop.dropFirst(2)) 2>laptop.error || status=$?
            [ $status = 3 ]
            sed 's/^/laptop: /; s/10.83.0.2/10.83.0.1/' laptop.error

            """
    }

    /// Each machine says once for each file what it leaves out, and nothing is wrong.
    private let inOrder = """
        for machine in dome-1 dome-2; do
            grep -q 'revocations of another cluster key are left out' $MACHINES/$machine/log
            if grep -E 'error|warning' $MACHINES/$machine/log; then exit 1; fi
        done

        """

    @Test func `a stolen key is changed on all machines at once`() async throws {
        let stolen = try blocks(after: "### A machine with the cluster key is stolen")
        #expect(stolen.count == 2 && stolen[0].count == 3, "\(stolen)")
        let refused = stolen[1]
        #expect(refused.count == 2 && refused[0].hasPrefix("$ "))
        let ended = try await run(
            try revocation() + """
                for machine in dome-1 dome-2; do both $machine 'skynode nodes'; done
                \(stolen[0].joined(separator: "\n"))
                for machine in dome-1 dome-2; do both $machine 'skynode nodes'; done
                status=0; \(refused[0].dropFirst(2)) 2>refused || status=$?
                [ $status = 3 ]
                sed 's/^/refused: /' refused

                """ + inOrder)
        #expect(ended.output.contains("refused: " + refused[1]), "\(ended.output)")
        let laptop = try blocks(after: "### A person leaves, or a laptop is stolen").last?.dropFirst() ?? []
        #expect(ended.output.contains("laptop: " + laptop.joined()), "\(ended.output)")
    }

    @Test func `a key is changed in three rounds without a stop`() async throws {
        let block = try #require(
            try blocks(after: "**Changing the key**").first { $0.contains { $0.contains("--check-config") } })
        #expect(block.count == 5, "\(block)")
        func line(_ words: String) throws -> String { try #require(block.first { $0.contains(words) }, "\(words)") }
        let (install, move) = (try line("install -m 640"), try line("mv "))
        let restart = try line("--check-config && systemctl restart skynode")
        let (list, lastList) = (try line("# rounds 1 and 2"), try line("# round 3"))
        // The table says what is in the configuration in each round.
        let rows = operating.filter { $0.contains(/^\| [123] \| `/) }
        #expect(rows.count == 3, "\(rows)")
        var script = try revocation()
        let revoke = try self.revoke
        script += """
            skynode key new > new.key
            for person in one two three; do skynode key issue $person --cluster-key new.key -o $person.pem; done
            ssh dome-1 'skynode simulate --tasks 100 --duration 300ms --detach' > job
            for machine in dome-1 dome-2; do
                ssh $machine mkdir /etc/brought
                scp -p new.key $machine:/etc/brought/new.key
                ssh $machine \(quoted("cd /etc/brought\n\(install)"))
                ssh $machine rm -r /etc/brought
            done

            """
        for (index, row) in rows.enumerated() {
            let words = row.matches(of: /`([^`]*)`/).map { String($0.1) }
            #expect(words.count == (index < 2 ? 2 : 1), "\(row)")
            let accept = words.count > 1 ? "accept-key: \(words[1])" : "# accept-key:"
            for machine in ["dome-1", "dome-2"] {
                if index == 2 { script += "ssh \(machine) \(quoted(move))\n" }
                script += """
                    sed -i -E '/accept-key:/d; s|^cluster-key: .*|cluster-key: \(words[0])\\n\(accept)|' \
                    $MACHINES/\(machine)/etc/skynode/skynode.yaml
                    ssh \(machine) \(quoted(restart))
                    both \(machine) \(quoted(index < 2 ? list : lastList))

                    """
            }
            // In each round somebody leaves.
            let person = ["one", "two", "three"][index]
            script += """
                ssh dome-\(1 + index % 2) \(quoted(revoke.replacing("alice", with: person)))
                for machine in dome-1 dome-2; do
                    until grep -q 'persons=\(person): credentials were revoked' $MACHINES/$machine/log; do sleep 0.05; done
                done

                """
        }
        script += """
            ssh dome-1 "skynode jobs watch $(cat job) --format json" | tail -n 1
            status=0; skynode nodes --cluster-key old.key --node dome-1:7420 2>/dev/null || status=$?
            [ $status = 3 ]
            for person in one two three; do
                for machine in dome-1 dome-2; do
                    status=0; skynode jobs --cluster-key $person.pem --node $machine:7420 2>refusal || status=$?
                    [ $status = 3 ] || { echo "$person is in again" >&2; exit 1; }
                    grep -q "the credential of user $person has been revoked" refusal
                done
            done

            """
        let ended = try await run(script + inOrder)
        let end = try #require(EventLine.end(of: ended.output))
        #expect(end.completed == 100 && end.failed == 0, "no task is lost")
    }
}
