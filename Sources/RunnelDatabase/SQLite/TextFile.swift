import Glibc

/// Tells files of text from others.
enum TextFile {
  /// The number of bytes that are looked at.
  private static let bytesMax = 256

  /// Whether a file begins with text, without control characters but tabs and ends of lines.
  ///
  /// False for an empty file, and one that cannot be read.
  /// Reads a few bytes.
  static func isText(_ file: String) -> Bool {
    let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: bytesMax)
    let count = read(descriptor, &bytes, bytesMax)
    guard count > 0 else { return false }
    return bytes[..<count].allSatisfy { byte in
      byte >= 0x20 && byte != 0x7F || [0x09, 0x0A, 0x0D].contains(byte)
    }
  }
}
