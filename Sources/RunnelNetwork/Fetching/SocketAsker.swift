import NIOCore
import NIOHTTP1
import NIOPosix

/// Sends HTTP/1.1 requests to a server at its Unix socket, each on its own connection.
///
/// The size of the answer and the time are bounded.
public struct SocketAsker: Sendable {
  /// The method of a request.
  public enum Method: Hashable, Sendable {
    /// A read.
    case get
    /// A removal.
    case delete
  }

  /// The answer to a request.
  public struct Answer: Hashable, Sendable {
    /// The HTTP status.
    public var status: Int
    /// The body.
    public var bytes: [UInt8]
  }

  /// The most bytes of an answer.
  public static let bytesMax = 4 << 20
  private static let seconds: Int64 = 5

  private let file: String

  /// Makes an asker for the socket at a path.
  public init(file: String) { self.file = file }

  /// Checks that a server can have a socket at the path.
  ///
  /// - Throws: `NetworkError` that says why not.
  public static func check(file: String) throws(NetworkError) { _ = try SocketPath(file) }

  /// Sends a request, and blocks the thread until the answer arrives.
  ///
  /// - Precondition: the calling thread does not belong to NIO.
  ///
  /// - Parameters:
  ///   - method: the method.
  ///   - target: the path and the query.
  /// - Returns: the answer, whatever its status.
  /// - Throws: `NetworkError` that names the socket and the problem there.
  public func ask(_ method: Method, _ target: String) throws(NetworkError) -> Answer {
    let path = try SocketPath(file)
    do {
      let (loop, name) = (SharedThreads.loops.any(), path.text)
      let promise = loop.makePromise(of: NIOHTTPClientResponseFull.self)
      // On the loop, the handlers are there before any event of the connection.
      loop.flatSubmit {
        ClientBootstrap(group: loop)
          .connectTimeout(.seconds(SocketAsker.seconds))
          .connect(unixDomainSocketPath: name)
          .flatMapThrowing { channel in
            try AskHandler.ask(
              method == .get ? .GET : .DELETE, target, host: "localhost", on: channel,
              bytesMax: SocketAsker.bytesMax, seconds: SocketAsker.seconds, promise)
          }
      }
      .whenFailure { promise.fail($0) }
      // The folder of a long path is open until the connection is made.
      let answer = try withExtendedLifetime(path) { try promise.futureResult.wait() }
      return Answer(
        status: Int(answer.head.status.code),
        bytes: answer.body.map { Array($0.readableBytesView) } ?? [])
    } catch {
      throw NetworkError("\(file) does not answer: \(error).")
    }
  }
}
