/// One of the fuzz targets under libFuzzer: `Fuzz --target=beacon [libFuzzer's own flags] [folders]`, or with
/// `--seeds=FOLDER` the writer of its seeds. `make fuzz` runs them all.
///
/// A flag with two dashes is ignored by libFuzzer and passed on to the processes it starts itself, to minimise or
/// merge, so that these run the same target.
@main
enum Fuzz {
    static let target: (any FuzzTarget.Type)? = flag("target").flatMap { name in
        targets.first { $0.name == name }
    }

    static func main() throws {
        guard let target else {
            print("usage: Fuzz --target=\(targets.map { $0.name }.joined(separator: "|")) ...")
            return
        }
        if let folder = flag("seeds") { return try Seeds.write(target.seeds(), to: folder) }
        // Values that are made once are made here, because that takes longer than a run may.
        target.run(FuzzInput(UnsafeBufferPointer(start: nil, count: 0)))
        var count = CommandLine.argc
        var arguments = CommandLine.unsafeArgv
        _ = runLibFuzzer(&count, &arguments, runOneInput)
    }

    private static func flag(_ name: String) -> String? {
        CommandLine.arguments.first { $0.hasPrefix("--\(name)=") }.map { String($0.dropFirst(name.count + 3)) }
    }
}

/// The name that libFuzzer's archive looks for at link time, although its driver is started from `main` here.
@_cdecl("LLVMFuzzerTestOneInput")
func runOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let target = Fuzz.target else { return 0 }
    let begin = RunLimit.processorTime()
    target.run(FuzzInput(UnsafeBufferPointer(start: start, count: count)))
    target.limit.check(since: begin)
    return 0
}

/// libFuzzer as a library (llvm.org/docs/LibFuzzer.html). Its arguments are plain words. For these, Swift's calling convention is
/// C's on the platforms with a libFuzzer.
@_silgen_name("LLVMFuzzerRunDriver")
private func runLibFuzzer(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ run: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt
