public import HTTPTypes
import NIOCore

/// The answer to a request, as who serves it uses it.
///
/// Loop only.
public final class ExchangeChannel {
  /// The loop.
  public let loop: NetworkLoop
  private weak var handler: RequestHandler?
  private let timer: LoopTimer

  init(_ handler: RequestHandler, _ timer: LoopTimer, _ eventLoop: any EventLoop) {
    (self.handler, self.timer) = (handler, timer)
    loop = NetworkLoop(eventLoop)
  }

  /// Sends the head of the answer.
  public func send(_ head: HTTPResponse) { handler?.send(head, of: self) }

  /// Sends a piece of the body.
  public func send(_ piece: [UInt8]) { handler?.send(piece, of: self) }

  /// The answer is complete.
  public func end() { handler?.end(self) }

  /// The answer cannot be completed: the connection is closed, so that it is not taken for all of it.
  public func abort() { handler?.abort(self) }

  /// Hands to the network what was sent.
  public func flush() { handler?.flush() }

  /// True if the network takes more now; if not, `canSendMore` is called when it does.
  public var isWritable: Bool { handler?.isWritable ?? false }

  /// The bytes that were sent and that the network has not taken.
  public var unsentBytes: Int { handler?.unsentBytes ?? 0 }

  /// Sets the deadline, in milliseconds on `NetworkClock`; nil for none.
  public func setDeadline(_ time: Int64?) { timer.set(time) }

  /// Reads no more of the body until `resumeReading`.
  public func pauseReading() { handler?.setReading(false) }

  /// Reads again.
  public func resumeReading() { handler?.setReading(true) }
}
