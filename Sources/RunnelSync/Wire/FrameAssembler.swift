package import RunnelTree

/// Puts messages together from the frames in which they arrive.
///
/// ```
///   between messages --a number n--> awaiting n pieces --the last piece--> between messages
///         |  ^
///         +--+ any other text is a message; "0" is a sign of life
/// ```
/// The announced number of pieces does not affect memory: only received bytes are kept, up to the
/// limit.
///
/// Source: wire protocol, section A2.
package struct FrameAssembler: Sendable {
  private let bytesMax: Int
  private var message: [UInt8] = []
  private var awaitedCount = 0

  /// Makes an assembler of messages of at most `bytesMax` bytes.
  package init(bytesMax: Int) { self.bytesMax = bytesMax }

  /// True if a message is incomplete.
  package var isAwaitingPieces: Bool { awaitedCount > 0 }

  /// The number of bytes kept of an incomplete message.
  package var keptBytes: Int { message.count }

  /// Takes the text of a frame, in UTF-8.
  ///
  /// - Returns: the message that the frame completes; nil if it is still incomplete, or if the
  ///   frame is only a keep-alive.
  /// - Throws: `TreeError` (`tooBig`) if the message is longer than allowed; the caller then closes
  ///   the connection.
  package mutating func take(_ frame: [UInt8]) throws(TreeError) -> [UInt8]? {
    guard message.count + frame.count <= bytesMax else {
      (message, awaitedCount) = ([], 0)
      throw TreeError(
        .tooBig, "A message has more than \(bytesMax) bytes: write it in smaller parts.")
    }
    if awaitedCount == 0 {
      guard let count = FrameAssembler.pieceCount(frame) else { return frame }
      awaitedCount = count
      return nil
    }
    message += frame
    awaitedCount -= 1
    if awaitedCount > 0 { return nil }
    defer { message = [] }
    return message
  }

  /// The number of pieces that a text announces; nil if the text announces none.
  private static func pieceCount(_ frame: [UInt8]) -> Int? {
    guard (1...WireLimits.pieceCountDigitsMax).contains(frame.count) else { return nil }
    var count = 0
    for byte in frame {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
      count = count * 10 + Int(byte - UInt8(ascii: "0"))
    }
    return count
  }
}
