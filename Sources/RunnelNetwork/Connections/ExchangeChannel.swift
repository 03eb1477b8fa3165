public import HTTPTypes
import NIOCore

/// The answer to a request, for its handler.
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

  /// Completes the answer.
  public func end() { handler?.end(self) }

  /// Closes the connection because the answer cannot be completed, so that the client notices.
  public func abort() { handler?.abort(self) }

  /// Hands the sent bytes to the network.
  public func flush() { handler?.flush() }

  /// True if the network has room; if not, `canSendMore` is called when it has.
  public var isWritable: Bool { handler?.isWritable ?? false }

  /// The number of sent bytes that the network has not taken.
  public var unsentBytes: Int { handler?.unsentBytes ?? 0 }

  /// Sets the deadline, in milliseconds on `NetworkClock`; nil for none.
  public func setDeadline(_ time: Int64?) { timer.set(time) }

  /// Pauses reading of the body until `resumeReading`.
  public func pauseReading() { handler?.setReading(false) }

  /// Resumes reading.
  public func resumeReading() { handler?.setReading(true) }
}
