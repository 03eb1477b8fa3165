/// Splits a message into frames.
///
/// A message that fits into one piece is sent alone. A longer one is sent as the number of its pieces,
/// then the pieces. Pieces are cut between Unicode scalars, so that each is valid UTF-8.
///
/// Source: wire protocol, section A2.
package enum FrameSplitter {
  /// The frames of a message in UTF-8.
  ///
  /// Complexity: O(n). A message is an object, so it is never empty and never mistaken for a
  /// number.
  package static func frames(of message: [UInt8]) -> [[UInt8]] {
    // A scalar has no more UTF-16 code units than bytes.
    if message.count <= WireLimits.pieceUnitsMax { return [message] }
    let ends = ends(of: message)
    if ends.count == 1 { return [message] }
    var frames = [Array(String(ends.count).utf8)]
    frames.reserveCapacity(ends.count + 1)
    var start = 0
    for end in ends {
      frames.append(Array(message[start..<end]))
      start = end
    }
    return frames
  }

  /// The offsets at which the pieces end.
  private static func ends(of message: [UInt8]) -> [Int] {
    var ends: [Int] = []
    var units = 0
    for (offset, byte) in message.enumerated() {
      let width = utf16Width(ofScalarStartingWith: byte)
      if units + width > WireLimits.pieceUnitsMax {
        ends.append(offset)
        units = 0
      }
      units += width
    }
    return ends + [message.count]
  }

  /// The number of UTF-16 code units of a scalar, by its first byte; 0 for its other bytes.
  private static func utf16Width(ofScalarStartingWith byte: UInt8) -> Int {
    switch byte {
    case 0x80..<0xC0: 0
    case 0xF0...: 2
    default: 1
    }
  }
}
