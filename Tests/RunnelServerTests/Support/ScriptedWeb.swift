import Foundation
import HTTPTypes
import RunnelNetwork
import Synchronization
import TestSupport

/// A web server with scripted answers.
final class ScriptedWeb: NetworkService {
  /// One answer.
  struct Answer: Sendable {
    var status = 200
    var headers: [String: String] = [:]
    var body = ""
  }

  private let answers: Mutex<[Answer]>
  /// A request as it arrived.
  struct Request: Hashable, Sendable {
    var method: String
    var target: String
    var credential: String?
    var body = ""
  }

  private let taken = Mutex<[Request]>([])

  init(_ answers: [Answer]) { self.answers = Mutex(answers) }

  /// The received requests.
  var requests: [Request] { taken.withLock { $0 } }

  /// The targets of the received requests.
  var asked: [String] { requests.map(\.target) }

  /// Adds answers after the remaining ones.
  func add(_ more: Answer...) { answers.withLock { $0 += more } }

  func reached(_ limit: NetworkLimit, by peer: NetworkPeer) {}

  func acceptsSocket(_ request: HTTPRequest, from peer: NetworkPeer) -> Bool { false }

  func openSocket(
    _ request: HTTPRequest, from peer: NetworkPeer, _ channel: SocketChannel
  ) -> any SocketHandling {
    preconditionFailure("No WebSocket is accepted.")
  }

  func openExchange(
    _ request: HTTPRequest, from peer: NetworkPeer, _ channel: ExchangeChannel
  ) -> any ExchangeHandling {
    let arrived = Request(
      method: request.method.rawValue, target: request.path ?? "",
      credential: request.headerFields[.authorization])
    let answer = answers.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    return Exchange(answer ?? Answer(status: 500), channel) { [weak self] body in
      var request = arrived
      request.body = String(decoding: body, as: UTF8.self)
      self?.taken.withLock { $0.append(request) }
    }
  }

  private final class Exchange: ExchangeHandling {
    private let answer: Answer
    private let channel: ExchangeChannel
    private let arrived: ([UInt8]) -> Void
    private var body: [UInt8] = []

    init(_ answer: Answer, _ channel: ExchangeChannel, _ arrived: @escaping ([UInt8]) -> Void) {
      (self.answer, self.channel, self.arrived) = (answer, channel, arrived)
    }

    func opened() {}

    func receivedAll() {
      arrived(body)
      var head = HTTPResponse(status: HTTPResponse.Status(code: answer.status))
      for (name, value) in answer.headers {
        if let name = HTTPField.Name(name) { head.headerFields[name] = value }
      }
      head.headerFields[.contentLength] = String(answer.body.utf8.count)
      channel.send(head)
      channel.send(Array(answer.body.utf8))
      channel.end()
      channel.flush()
    }

    func received(_ piece: [UInt8]) { body += piece }
    func canSendMore() {}
    func timeIsUp() {}
    func closed() {}
  }
}

/// Runs `body` with a scripted web server and its port on this machine.
func withWeb(
  _ answers: [ScriptedWeb.Answer] = [], tls: TLSFiles? = nil,
  _ body: (ScriptedWeb, Int) async throws -> Void
) async throws {
  let web = ScriptedWeb(answers)
  let server = try NetworkServer(
    [NetworkAddress(host: "127.0.0.1", port: 0)], tls: tls, limits: NetworkLimits(), service: web)
  let port = try await server.start().bound.first?.port ?? 0
  do {
    try await body(web, port)
  } catch {
    await server.end()
    throw error
  }
  await server.end()
}

/// Makes the files of a certificate for this machine, in a new folder.
func certificateFiles() throws -> TLSFiles {
  let folder =
    FileManager.default.temporaryDirectory.path + "/runnel-tls-\(UUID().uuidString)"
  try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  let files = TLSFiles(certificate: folder + "/certificate.pem", key: folder + "/key.pem")
  try Data(TestCertificate.certificate.utf8).write(to: URL(fileURLWithPath: files.certificate))
  try Data(TestCertificate.key.utf8).write(to: URL(fileURLWithPath: files.key))
  return files
}
