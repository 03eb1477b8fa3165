/// Pushes of one audience in a row, encoded once for all its members.
public struct PushRun: Hashable, Sendable {
  /// The pushes, in order.
  public let pushes: [EncodedPush]
  /// The frames of all pushes for receivers without a tag, in order.
  public let frames: [[UInt8]]
  /// The bytes of all these frames.
  public let byteCount: Int

  /// Makes a run of pushes.
  public init(_ pushes: [EncodedPush]) {
    self.pushes = pushes
    frames = pushes.flatMap { $0.frames(tag: nil) }
    byteCount = frames.reduce(0) { $0 + $1.count }
  }
}
