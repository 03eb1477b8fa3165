/// The limits of one connection; each is enforced with an answer that names it, or with a close.
public struct WireLimits: Hashable, Sendable {
  /// The most UTF-16 code units in one piece of a message, which is what every client takes.
  ///
  /// Source: wire protocol, section A2.
  public static let pieceUnitsMax = 16_384
  /// The most characters in a text that announces a number of pieces.
  static let pieceCountDigitsMax = 6

  /// The most bytes in one message, all its pieces together.
  public var messageBytesMax = 16_777_216
  /// The most levels of objects and arrays in one message; parsing takes 512 at most.
  public var jsonDepthMax = 512
  /// The most places and queries that one connection listens to.
  public var listensMax = 10_000
  /// The most requests that are under way; then no more is read until half of them are answered.
  public var requestsMax = 256
  /// The most requests in a second on average, beyond which reading pauses; nil for any number.
  public var requestsPerSecond: Int?
  /// The most bytes in a second on average, beyond which reading pauses; nil for any number.
  public var bytesPerSecond: Int?
  /// The most bytes that wait here because earlier requests are under way; one more closes.
  public var waitingBytesMax = 33_554_432
  /// The most bytes that were sent and not taken by the network; one message more closes.
  public var unsentBytesMax = 67_108_864
  /// The most bytes of writes that are left to be done when the connection ends.
  public var disconnectBytesMax = 1_048_576
  /// After so long without a sign of the other side it is asked for one, in milliseconds.
  public var silenceMilliseconds: Int64 = 45_000
  /// So long it may take to give one, in milliseconds.
  public var signMilliseconds: Int64 = 30_000
  /// So long all pieces of a message may take to arrive, in milliseconds.
  public var messageMilliseconds: Int64 = 120_000

  /// Makes the limits that hold unless others are chosen.
  public init() {}
}

/// A limit of one connection that was reached, by its name for people.
public enum WireLimit: String, Hashable, Sendable, CaseIterable {
  /// `messageBytesMax`.
  case messageBytes = "max-message"
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
  /// `silenceMilliseconds` and `signMilliseconds`.
  case silence = "silence-time"
  /// `messageMilliseconds`.
  case messageTime = "message-time"
}
