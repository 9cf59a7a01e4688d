import CCrypto

/// A key or a certificate as text (RFC 7468).
package struct PEMDocument: Sendable {
    /// What it is: "CERTIFICATE", "PRIVATE KEY".
    package let label: String
    /// The bytes, DER. They are a secret where it is a key.
    package let contents: Secret

    package init(label: String, contents: Secret) {
        (self.label, self.contents) = (label, contents)
    }

    /// All the documents in a text; lines between them are for people.
    ///
    /// - Throws: where a document is damaged.
    package static func all(in text: String) throws(CryptographyError) -> [PEMDocument] {
        OpenSSL.begin()
        let what = "a text cannot be read"
        let memory = try Owned(BIO_new(BIO_s_mem()), { BIO_free($0) }, what)
        let bytes = Array(text.utf8)
        guard bytes.isEmpty || BIO_write(memory.pointer, bytes, Int32(clamping: bytes.count)) == bytes.count else {
            throw CryptographyError(what)
        }
        var documents: [PEMDocument] = []
        while let document = try next(in: memory.pointer) { documents.append(document) }
        return documents
    }

    private static func next(in memory: OpaquePointer) throws(CryptographyError) -> PEMDocument? {
        var label: UnsafeMutablePointer<CChar>?
        var header: UnsafeMutablePointer<CChar>?
        var bytes: UnsafeMutablePointer<UInt8>?
        var count = 0
        ERR_clear_error()
        guard PEM_read_bio(memory, &label, &header, &bytes, &count) == 1, let label, let header, let bytes else {
            let error = ERR_peek_last_error()
            if ERR_GET_LIB(error) == ERR_LIB_PEM, ERR_GET_REASON(error) == PEM_R_NO_START_LINE {
                ERR_clear_error()
                return nil
            }
            throw CryptographyError("a document cannot be read")
        }
        defer {
            CRYPTO_free(label, #file, #line)
            CRYPTO_free(header, #file, #line)
            CRYPTO_clear_free(bytes, count, #file, #line)
        }
        // Only documents that are encrypted have a header (RFC 1421).
        guard header.pointee == 0 else {
            throw CryptographyError("a document cannot be read", reason: "it is encrypted")
        }
        return PEMDocument(
            label: String(cString: label),
            contents: Secret(count: count) { $0.copyMemory(from: UnsafeRawBufferPointer(start: bytes, count: count)) })
    }

    /// The document's text, which ends with its last line's end.
    package var text: String {
        OpenSSL.begin()
        let memory = BIO_new(BIO_s_mem())
        defer { BIO_free(memory) }
        let count = contents.withUnsafeBytes { bytes in
            PEM_write_bio(memory, label, "", bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count)
        }
        OpenSSL.check(count > 0, "a document cannot be written")
        return String(decoding: PEMDocument.contents(of: memory), as: UTF8.self)
    }

    /// What was written to a memory of OpenSSL's.
    static func contents(of memory: OpaquePointer?) -> [UInt8] {
        let count = BIO_ctrl_pending(memory)
        return [UInt8](unsafeUninitializedCapacity: count) { bytes, read in
            read = max(0, Int(BIO_read(memory, bytes.baseAddress, Int32(clamping: count))))
        }
    }
}
