import Testing

/// Programs that may have less than they need.
@Suite(.serialized, .timeLimit(.minutes(Skynode.minutes(3)))) struct LimitTests {
    @Test(
        arguments: ["-n 4", "-n 6", "-n 12", "-n 20", "-v 200000", "-v 350000"],
        ["serve --listen 127.0.0.1:0", "scan --alone", "jobs --node 127.0.0.1:1 --reconnect-for 1s"])
    func `a limit that is too low is named, with what is needed`(limit: String, command: String) async throws {
        let folder = try ScratchFolder()
        let file = command.hasPrefix("scan") ? " '\(folder.file("none.fits"))'" : ""
        let ended = try await Skynode.shell("ulimit \(limit) && cd '\(folder.path)' && \"$0\" \(command)\(file)")
        #expect(ended.status == 2 && ended.output.isEmpty)
        let option = String(limit.prefix(2))
        #expect(
            ended.errors.count == 1 && ended.errors[0].hasPrefix("skynode: only ")
                && ended.errors[0].contains("needed: ulimit \(option) "), "\(ended.errors)")
    }

    @Test func `a limit of open files is raised where that is allowed`() async throws {
        let ended = try await Skynode.shell("ulimit -S -n 12 && \"$0\" jobs --node 127.0.0.1:1 --reconnect-for 1s")
        #expect(ended.status == 3, "\(ended.errors)")
    }

    @Test(arguments: ["-n 8", "-v 350000"])
    func `a limit that is too low for work is enough for the version`(limit: String) async throws {
        let ended = try await Skynode.shell("ulimit \(limit) && \"$0\" version")
        #expect(ended.status == 0, "\(ended.errors)")
    }
}
