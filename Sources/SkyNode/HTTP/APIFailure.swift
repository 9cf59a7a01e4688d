import Base
import HTTPTypes
import HummingbirdCore
import NIOCore
import Sky
import SkyCore
import Transport

/// An error as a client sees it.
struct APIFailure: Error {
    var status: HTTPResponse.Status
    var message: String
    var headers: HTTPFields = [:]

    init(_ status: HTTPResponse.Status, _ message: String, _ headers: HTTPFields = [:]) {
        (self.status, self.message, self.headers) = (status, message, headers)
    }

    /// Puts an error in HTTP's words.
    init(_ error: any Error) {
        switch error {
        case let failure as APIFailure: self = failure
        case .notFound as APIRoute.Problem:
            self.init(.notFound, "there is nothing here; docs/openapi.yaml says what there is")
        case .method(let methods) as APIRoute.Problem:
            self.init(
                .methodNotAllowed, "allowed are \(methods.joined(separator: ", "))",
                [.allow: methods.joined(separator: ", ")])
        case let error as SkyError: self.init(.badRequest, error.message)
        case let refusal as PassingRefusal: self.init(.conflict, refusal.message)
        case let failure as CommandFailure: self.init(.badRequest, failure.message ?? "not possible")
        case is CancellationError: self.init(.serviceUnavailable, "the node is stopping")
        case let error as RemoteError
        where error.mayBeTakenOver || error.mayBeOutOfReach
            || [.noSuchActor, .leaving, .cancelled].contains(error.kind):
            self.init(.serviceUnavailable, error.message, [.retryAfter: "5"])
        case let error as RemoteError where error.isAboutUnknownJob: self.init(.notFound, error.message)
        case is TransportError:
            // The node that has the job is busy, or is lost and another one takes it over.
            self.init(.serviceUnavailable, "the node with the job does not answer now; ask again", [.retryAfter: "5"])
        case let error as RemoteError: self.init(.conflict, error.message)
        default: self.init(.internalServerError, "the node could not do it: \(type(of: error))")
        }
    }

    var response: Response {
        struct Body: Encodable { var error: String }
        return .json(Body(error: message), status: status, headers: headers)
    }
}

extension Response {
    /// A value as JSON.
    static func json(
        _ value: some Encodable, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
    ) -> Response {
        var headers = headers
        headers[.contentType] = "application/json"
        headers[.cacheControl] = "no-store"
        let text: String
        do {
            text = try JSONLine.encode(value)
        } catch {
            // An empty object would look like an answer.
            return APIFailure(.internalServerError, "the node cannot write its answer as JSON").response
        }
        return Response(
            status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: text + "\n")))
    }

    static func text(_ text: String, status: HTTPResponse.Status = .ok, type: String = "text/plain; charset=utf-8")
        -> Response
    {
        Response(
            status: status, headers: [.contentType: type, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}
