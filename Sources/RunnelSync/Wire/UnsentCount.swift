/// The bytes of a connection that the network has not taken, for the limit of a client that reads too slowly.
///
/// What a client asks for may be larger than the limit. So of its large messages the last one does not count until
/// it is taken: a client that reads gets it, and a connection holds little more than the limit and one message.
package struct UnsentCount: Hashable, Sendable {
  private let bytesMax: Int
  /// The bytes that were sent, and those that were taken, since the connection began.
  private var (sent, taken) = (0, 0)
  /// The bytes of the last large message, among those that were sent.
  private var large = 0..<0

  /// Makes a count of nothing, for a limit.
  package init(max bytesMax: Int) { self.bytesMax = bytesMax }

  /// The number of unsent bytes.
  package var bytes: Int { sent - taken }

  /// The number of those that count.
  package var countedBytes: Int { bytes - max(0, large.upperBound - max(taken, large.lowerBound)) }

  /// True if more bytes are unsent than may be.
  package var isExceeded: Bool { countedBytes > bytesMax }

  /// Adds a message that was sent.
  package mutating func add(_ count: Int) {
    if count > bytesMax / 4 { large = sent..<sent + count }
    sent += count
  }

  /// Notes that so many bytes were taken.
  package mutating func take(_ count: Int) { taken = min(sent, taken + max(0, count)) }

  /// Notes how many bytes the network has not taken.
  package mutating func settle(unsent count: Int) { take(bytes - count) }
}
