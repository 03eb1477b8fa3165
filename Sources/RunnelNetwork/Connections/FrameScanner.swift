import NIOCore

/// Finds the ends of frames and messages in the bytes of a WebSocket.
///
/// Control frames may come between the frames of a message, and do not end it.
///
/// Source: RFC 6455, sections 5.2 and 5.4.
struct FrameScanner {
  /// The number of messages and single control frames that have ended.
  private(set) var endCount = 0
  /// The number of bytes of the head that have come, and that there are as far as is known.
  private var head = (seen: 0, count: 2)
  private var first: UInt8 = 0
  private var lengthBytes = 0
  private var length: UInt64 = 0
  /// The number of bytes of the frame that are still to come.
  private var rest = 0
  /// True between the frames of a message.
  private var isInMessage = false

  /// True if a frame or a message has begun and not ended.
  var isIncomplete: Bool { isInMessage || head.seen > 0 || rest > 0 }

  /// Takes bytes.
  ///
  /// O(n) in the frames: what is in them is not looked at.
  mutating func take(_ bytes: UnsafeRawBufferPointer) {
    var index = 0
    while index < bytes.count {
      if rest > 0 {
        let count = min(rest, bytes.count - index)
        index += count
        rest -= count
        if rest == 0 { endFrame() }
      } else {
        takeHead(bytes[index])
        index += 1
      }
    }
  }

  private mutating func takeHead(_ byte: UInt8) {
    switch head.seen {
    case 0: first = byte
    case 1:
      let short = byte & 0x7F
      lengthBytes = short == 127 ? 8 : short == 126 ? 2 : 0
      length = lengthBytes == 0 ? UInt64(short) : 0
      head.count = 2 + lengthBytes + (byte & 0x80 == 0 ? 0 : 4)
    case ..<(2 + lengthBytes): length = length << 8 | UInt64(byte)
    default: break
    }
    head.seen += 1
    if head.seen < head.count { return }
    head = (0, 2)
    rest = Int(clamping: length)
    if rest == 0 { endFrame() }
  }

  private mutating func endFrame() {
    let isControl = first & 0x08 != 0
    if !isControl { isInMessage = first & 0x80 == 0 }
    if !isInMessage { endCount += 1 }
  }
}
