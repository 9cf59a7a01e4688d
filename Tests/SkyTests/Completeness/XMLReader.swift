import Foundation
import FoundationXML

/// Whether bytes are XML, and what elements it has.
final class XMLReader: NSObject, XMLParserDelegate {
    private var names: [String] = []
    private(set) var isSound = false

    init(_ bytes: [UInt8]) {
        super.init()
        let parser = XMLParser(data: Data(bytes))
        parser.delegate = self
        isSound = parser.parse()
    }

    func count(_ name: String) -> Int { names.count { $0 == name } }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String] = [:]
    ) {
        names.append(name)
    }
}
