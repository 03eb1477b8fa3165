/// The text of a paste while it arrives.
struct PasteBuffer {
  /// The end of a paste among bytes.
  struct End {
    /// The index of the first byte after it.
    var index: Int
    /// True if C-c ended it, which terminals remove from pastes.
    var isInterrupt: Bool
  }

  /// The marker that terminals send after a paste.
  private static let marker: [UInt8] = [0x1B, 0x5B, 0x32, 0x30, 0x31, 0x7E]

  private var bytes: [UInt8] = []
  /// The number of characters, as Unicode counts them.
  private var count = 0
  private var endsInReturn = false
  /// The number of bytes at the end that may be the beginning of the marker.
  private var matched = 0

  /// Whether the paste is longer than allowed; then nothing is kept.
  private var isTooLong: Bool { count > InputEvent.pasteScalarsMax }

  /// The event for the whole paste.
  var event: InputEvent {
    isTooLong ? .pasteTooLong(count) : .paste(String(decoding: bytes, as: UTF8.self))
  }

  /// Adds bytes up to the end of the paste; nil if it is not among them.
  ///
  /// O(n), regardless of what was added before.
  mutating func append(_ chunk: ArraySlice<UInt8>) -> End? {
    let start = chunk.startIndex
    return chunk.withUnsafeBufferPointer { buffer -> End? in
      for (offset, byte) in buffer.enumerated() {
        if matched > 0 || byte == PasteBuffer.marker[0] {
          if match(byte) { continue }
          if matched == PasteBuffer.marker.count {
            return End(index: start + offset + 1, isInterrupt: false)
          }
        }
        if byte == 0x03 { return End(index: start + offset + 1, isInterrupt: true) }
        add(byte)
      }
      return nil
    }
  }

  /// Takes a byte that may belong to the marker; returns false if it does not, or completes the
  /// marker.
  private mutating func match(_ byte: UInt8) -> Bool {
    if byte == PasteBuffer.marker[matched] {
      matched += 1
      return matched < PasteBuffer.marker.count
    }
    for held in PasteBuffer.marker.prefix(matched) { add(held) }
    matched = byte == PasteBuffer.marker[0] ? 1 : 0
    return matched == 1
  }

  /// Adds a scalar.
  mutating func append(_ scalar: Unicode.Scalar) {
    for byte in String(scalar).utf8 { add(byte) }
  }

  /// Adds a byte; CR and CR LF become LF.
  private mutating func add(_ byte: UInt8) {
    let isSecondHalf = endsInReturn && byte == UInt8(ascii: "\n")
    endsInReturn = byte == UInt8(ascii: "\r")
    if isSecondHalf { return }
    if byte & 0xC0 != 0x80 { count += 1 }
    if isTooLong {
      bytes = []
    } else {
      bytes.append(endsInReturn ? UInt8(ascii: "\n") : byte)
    }
  }
}
