import NIOCore
import NIOHTTP1
import NIOPosix

/// Asks a server of this machine at its Unix socket, by HTTP/1.1: each request on a connection of its own.
///
/// Everything is bounded: the size of the answer, and the time.
public struct SocketAsker: Sendable {
  /// What may be asked.
  public enum Method: Hashable, Sendable {
    /// Read.
    case get
    /// End, or remove.
    case delete
  }

  /// An answer.
  public struct Answer: Hashable, Sendable {
    /// The status of HTTP.
    public var status: Int
    /// The body.
    public var bytes: [UInt8]
  }

  /// The most bytes of an answer.
  public static let bytesMax = 4 << 20
  private static let seconds: Int64 = 5

  private let file: String

  /// Makes one that asks at a socket.
  public init(file: String) { self.file = file }

  /// Asks, and blocks the thread until the answer is there: no thread of the network may call it.
  ///
  /// - Parameters:
  ///   - method: what is to be done.
  ///   - target: the path, with what is asked after it.
  /// - Returns: the answer, whatever its status.
  /// - Throws: `NetworkError` that names the socket and what went wrong there.
  public func ask(_ method: Method, _ target: String) throws(NetworkError) -> Answer {
    do {
      let loop = MultiThreadedEventLoopGroup.singleton.any()
      let promise = loop.makePromise(of: NIOHTTPClientResponseFull.self)
      ClientBootstrap(group: loop)
        .connectTimeout(.seconds(SocketAsker.seconds))
        .connect(unixDomainSocketPath: file)
        .flatMapThrowing { channel in
          try AskHandler.ask(
            method == .get ? .GET : .DELETE, target, host: "localhost", on: channel,
            bytesMax: SocketAsker.bytesMax, seconds: SocketAsker.seconds, promise)
        }
        .whenFailure { promise.fail($0) }
      let answer = try promise.futureResult.wait()
      return Answer(
        status: Int(answer.head.status.code),
        bytes: answer.body.map { Array($0.readableBytesView) } ?? [])
    } catch {
      throw NetworkError("\(file) does not answer: \(error).")
    }
  }
}
