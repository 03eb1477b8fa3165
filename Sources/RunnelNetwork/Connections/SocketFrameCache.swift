import NIOCore

/// The last frame made on a loop: a text for many clients is encoded once, and all of them share
/// its bytes.
///
/// Loop only.
final class SocketFrameCache {
  /// The longest text whose frame is kept, in bytes.
  private static let keptBytesMax = 65_536

  private var text: [UInt8] = []
  private var frame: ByteBuffer?

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

  /// True if two arrays have the same address.
  private static func isSame(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.count == right.count && !left.isEmpty
      && left.withUnsafeBufferPointer { left in
        right.withUnsafeBufferPointer { left.baseAddress == $0.baseAddress }
      }
  }

  /// Source: RFC 6455, section 5.2: the final frame of a text, which a server does not mask.
  private static func make(_ text: [UInt8], _ allocator: ByteBufferAllocator) -> ByteBuffer {
    var buffer = allocator.buffer(capacity: text.count + 10)
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
    return buffer
  }
}
