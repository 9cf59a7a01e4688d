/// What a worker process is started with. The daemon writes it and the worker reads it, without the parser of command lines, which
/// takes milliseconds that a scan would wait for.
package struct WorkerArguments: Hashable, Sendable {
    /// Where the worker connects to.
    package var socket: String
    /// The name that lets it in there.
    package var cluster: String
    package var name: String
    /// How many bytes of address space it may have.
    package var memory: UInt64
    /// The number of the daemon's process.
    package var parent: Int32
    /// Where images may be read; empty for everywhere.
    package var readFolders: [String]
    /// The folder of files that commands have sent to the node; `nil` if there is none.
    package var inputs: String?

    /// The first word of such a command line.
    package static let command = "worker"
    /// Says that the daemon holds the worker back until it hands over the rules of what may be read (`StartGate`).
    package static let gate = "--gate"

    package init(
        socket: String, cluster: String, name: String, memory: UInt64, parent: Int32, readFolders: [String],
        inputs: String? = nil
    ) {
        (self.socket, self.cluster, self.name, self.memory) = (socket, cluster, name, memory)
        (self.parent, self.readFolders, self.inputs) = (parent, readFolders, inputs)
    }

    /// The command line without the program's name.
    var words: [String] {
        [
            WorkerArguments.command, "--socket", socket, "--cluster", cluster, "--name", name, "--memory", "\(memory)",
            "--parent", "\(parent)", WorkerArguments.gate,
        ] + (inputs.map { ["--inputs", $0] } ?? []) + readFolders.flatMap { ["--read-folder", $0] }
    }

    /// - Parameter words: the command line without the program's name.
    /// - Returns: `nil` if a daemon does not write that.
    package init?(_ words: [String]) {
        guard words.count >= 12, words[0] == WorkerArguments.command else { return nil }
        let names = stride(from: 1, to: 11, by: 2).map { words[$0] }
        guard names == ["--socket", "--cluster", "--name", "--memory", "--parent"], let memory = UInt64(words[8]),
            let parent = Int32(words[10]), words[11] == WorkerArguments.gate
        else { return nil }
        self.init(
            socket: words[2], cluster: words[4], name: words[6], memory: memory, parent: parent, readFolders: [])
        var rest = words.dropFirst(12)
        if rest.count >= 2, rest.first == "--inputs" {
            inputs = rest[rest.startIndex + 1]
            rest = rest.dropFirst(2)
        }
        while rest.count >= 2, rest.first == "--read-folder" {
            readFolders.append(rest[rest.startIndex + 1])
            rest = rest.dropFirst(2)
        }
        guard rest.isEmpty else { return nil }
    }
}
