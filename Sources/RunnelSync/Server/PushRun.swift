/// Pushes of one audience in a row, encoded once for all its members.
package struct PushRun: Hashable, Sendable {
  /// The pushes, in order.
  package let pushes: [EncodedPush]
  /// The frames of all pushes for receivers without a tag, in order.
  package let frames: [[UInt8]]
  /// The bytes of all these frames.
  package let byteCount: Int

  /// Makes a run of pushes.
  package init(_ pushes: [EncodedPush]) {
    self.pushes = pushes
    frames = pushes.flatMap { $0.frames(tag: nil) }
    byteCount = frames.reduce(0) { $0 + $1.count }
  }
}
