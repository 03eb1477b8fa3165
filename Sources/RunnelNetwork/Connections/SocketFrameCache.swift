import NIOCore

/// The last frame and the last run of frames made on a loop: texts for many clients are encoded once, and
/// all of them share the bytes.
///
/// Loop only.
final class SocketFrameCache {
  /// The most bytes of a frame besides its text.
  private static let headBytesMax = 10
  /// The longest text whose frame is kept, in bytes.
  private static let keptBytesMax = 65_536

  /// The longest run of texts whose frames are joined, in bytes.
  private static let joinedBytesMax = 262_144

  private var text: [UInt8] = []
  private var frame: ByteBuffer?
  private var texts: [[UInt8]] = []
  private var joined: ByteBuffer?

  /// The frame of a text in the form in which it is sent.
  ///
  /// O(1) for the same array as the last time, O(n) otherwise.
  func frame(of text: [UInt8], _ allocator: ByteBufferAllocator) -> ByteBuffer {
    if let frame, SocketFrameCache.isSame(text, self.text) { return frame }
    let made = SocketFrameCache.make(text, allocator)
    // The kept array is not freed, so no other array has its address.
    if text.count <= SocketFrameCache.keptBytesMax { (self.text, frame) = (text, made) }
    return made
  }

  /// The frames of several texts, joined; nil if they are too long for that.
  ///
  /// O(1) for the same array as the last time, O(n) otherwise.
  func frames(of texts: [[UInt8]], _ allocator: ByteBufferAllocator) -> ByteBuffer? {
    if let joined, SocketFrameCache.isSame(texts, self.texts) { return joined }
    let bytes = texts.reduce(0) { $0 + $1.count + SocketFrameCache.headBytesMax }
    if bytes > SocketFrameCache.joinedBytesMax { return nil }
    var buffer = allocator.buffer(capacity: bytes)
    for text in texts { SocketFrameCache.write(text, to: &buffer) }
    (self.texts, joined) = (texts, buffer)
    return buffer
  }

  /// True if two arrays have the same address.
  private static func isSame<Element>(_ left: [Element], _ right: [Element]) -> Bool {
    left.count == right.count && !left.isEmpty
      && left.withUnsafeBufferPointer { left in
        right.withUnsafeBufferPointer { left.baseAddress == $0.baseAddress }
      }
  }

  private static func make(_ text: [UInt8], _ allocator: ByteBufferAllocator) -> ByteBuffer {
    var buffer = allocator.buffer(capacity: text.count + headBytesMax)
    write(text, to: &buffer)
    return buffer
  }

  /// Source: RFC 6455, section 5.2: the final frame of a text, which a server does not mask.
  private static func write(_ text: [UInt8], to buffer: inout ByteBuffer) {
    buffer.writeInteger(0x81 as UInt8)
    switch text.count {
    case ..<126: buffer.writeInteger(UInt8(text.count))
    case ..<65_536:
      buffer.writeInteger(126 as UInt8)
      buffer.writeInteger(UInt16(text.count))
    default:
      buffer.writeInteger(127 as UInt8)
      buffer.writeInteger(UInt64(text.count))
    }
    buffer.writeBytes(text)
  }
}
