/// The signs of life of a WebSocket's client that are no messages: bytes that it sends, and bytes that it takes.
///
/// A ping stands behind all that was sent before it, and so does the answer of a client that still reads that.
/// So it counts as a sign if such a client takes some of it.
package struct SocketSigns: Hashable, Sendable {
  /// The bytes before a ping from which on the client may be busy with reading them.
  private static let backlogBytesMin = 4096

  /// True if bytes arrived since the last `take`.
  private var hasArrival = false
  /// The bytes that the client had taken when it was pinged behind many others; nil if it was not.
  private var takenAtPing: Int?

  /// Makes the signs of a client that has given none.
  package init() {}

  /// Bytes of the client arrived, maybe a part of a message.
  package mutating func arrived() { hasArrival = true }

  /// The client is pinged, behind `untaken` bytes, after it has taken `taken` since the beginning.
  package mutating func pinged(untaken: Int, taken: Int) {
    takenAtPing = untaken >= SocketSigns.backlogBytesMin ? taken : nil
  }

  /// Returns whether the client gave a sign since the last call; `taken` are the bytes that it has taken since
  /// the beginning.
  package mutating func take(taken: Int) -> Bool {
    let isReading = takenAtPing.map { $0 != taken } ?? false
    if isReading { takenAtPing = nil }
    defer { hasArrival = false }
    return hasArrival || isReading
  }
}
