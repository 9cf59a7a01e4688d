import Logging
import NIOConcurrencyHelpers
import Testing

@testable import SkyNode

struct ServiceLogHandlerTests {
    private func lines(
        _ style: ServiceLogHandler.Style, level: Logger.Level = .info, _ body: (inout Logger) -> Void
    ) -> [String] {
        let found = NIOLockedValueBox<[String]>([])
        var logger = Logger(label: "skynode") { label in
            var handler = ServiceLogHandler(label: label, style: style, threshold: .init(level))
            handler.write = { line in found.withLockedValue { $0.append(line) } }
            return handler
        }
        body(&logger)
        return found.withLockedValue { $0 }
    }

    @Test func `a journald line has a priority and no time`() {
        let found = lines(.journal) { logger in
            logger[metadataKey: "node"] = "dome"
            logger.debug("hidden")
            logger.info("job ended", metadata: ["job": "7"])
            logger.warning("two\nlines", metadata: ["reason": "a\nb"])
            logger.critical("end")
        }
        #expect(
            found == [
                "<6>job ended job=7 node=dome", "<4>two lines node=dome reason=a b", "<2>end node=dome",
            ])
    }

    @Test func `a JSON log has one object in each line`() throws {
        let line = try #require(
            lines(.json) { $0.notice("a \"word\"\n", metadata: ["job": "7", "level": "mine"]) }.first)
        #expect(line.contains(#""job":"7","level":"notice","message":"a \"word\"\n","time":"20"#))
        #expect(!line.contains("\n"))
    }

    @Test func `a plain log line has the time`() throws {
        let line = try #require(lines(.plain) { $0.notice("hello", metadata: ["b": "2", "a": "1"]) }.first)
        #expect(line.hasSuffix("Z notice skynode a=1 b=2: hello"))
    }

    @Test func `all loggers follow one threshold`() {
        let threshold = ServiceLogHandler.Threshold(.warning)
        let found = NIOLockedValueBox<[String]>([])
        let logger = Logger(label: "x") { label in
            var handler = ServiceLogHandler(label: label, style: .journal, threshold: threshold)
            handler.write = { line in found.withLockedValue { $0.append(line) } }
            return handler
        }
        logger.info("not yet")
        threshold.level = .debug
        logger.debug("now")
        #expect(found.withLockedValue { $0 } == ["<7>now"])
    }
}
