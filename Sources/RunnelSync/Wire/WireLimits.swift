/// The limits of one connection; reaching one gives an answer that names it, or closes the
/// connection.
package struct WireLimits: Hashable, Sendable {
  /// The most UTF-16 code units in one piece of a message, which every client accepts.
  ///
  /// Source: wire protocol, section A2.
  package static let pieceUnitsMax = 16_384
  /// The most characters in a text that announces a number of pieces.
  static let pieceCountDigitsMax = 6

  /// The most bytes in one message, all its pieces together.
  package var messageBytesMax = 16_777_216
  /// The most bytes of the values of one write, as JSON.
  package var writeBytesMax = 268_435_456
  /// The most levels of objects and arrays in one message; parsing takes 512 at most.
  package var jsonDepthMax = 512
  /// The most listens of one connection.
  package var listensMax = 10_000
  /// The most requests under way; at that number reading pauses until half of them are answered.
  package var requestsMax = 256
  /// The most requests in a second on average, beyond which reading pauses; nil for any number.
  package var requestsPerSecond: Int?
  /// The most bytes in a second on average, beyond which reading pauses; nil for any number.
  package var bytesPerSecond: Int?
  /// The most bytes of waiting requests; one byte more closes the connection.
  package var waitingBytesMax = 33_554_432
  /// The most bytes that were sent and not taken by the network; a further message closes the
  /// connection.
  package var unsentBytesMax = 67_108_864
  /// The most bytes of writes in disconnect requests.
  package var disconnectBytesMax = 1_048_576
  /// The time without a sign of life after which the client is asked for one, in milliseconds.
  package var silenceMilliseconds: Int64 = 45_000
  /// The longest time that the client may take to answer that question, in milliseconds.
  package var signMilliseconds: Int64 = 30_000
  /// The longest time that all pieces of a message may take to arrive, in milliseconds.
  package var messageMilliseconds: Int64 = 120_000

  /// Makes the default limits.
  package init() {}
}

/// A limit of one connection that was reached, by its name for people.
package enum WireLimit: String, Hashable, Sendable, CaseIterable {
  /// `messageBytesMax`.
  case messageBytes = "max-message"
  /// `writeBytesMax`.
  case writeBytes = "max-write"
  /// `jsonDepthMax`.
  case jsonDepth = "max-json-depth"
  /// `listensMax`.
  case listens = "listens-per-connection"
  /// `requestsMax`.
  case requests = "max-requests"
  /// `requestsPerSecond`.
  case requestRate = "requests-per-second"
  /// `bytesPerSecond`.
  case byteRate = "bytes-per-second"
  /// `waitingBytesMax`.
  case waitingBytes = "max-waiting"
  /// `unsentBytesMax`.
  case unsentBytes = "max-unsent"
  /// `disconnectBytesMax`.
  case disconnectBytes = "max-disconnect"
  /// The most levels of any tree.
  case depth = "max-depth"
  /// `silenceMilliseconds` and `signMilliseconds`.
  case silence = "silence-time"
  /// `messageMilliseconds`.
  case messageTime = "message-time"
}
