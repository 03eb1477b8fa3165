import Foundation
import RunnelDatabase

/// Files that the user writes for the program: views, resources, the configuration, themes.
enum UserFile {
  private static let chunkBytes = 1 << 16

  /// The text of a file.
  ///
  /// It is read piece by piece, so that one without an end is not read for ever.
  ///
  /// - Throws: `ConfigurationError` if it is too long, or what the system says.
  static func text(of file: String, bytesMax: Int = YAMLMeasure.bytesMax) throws -> String {
    if let kind = FileKind.otherThanFile(file) {
      throw ConfigurationError(file: file, line: nil, "This is \(kind): name a file.")
    }
    let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: file))
    // Nothing was written that could be lost.
    defer { try? handle.close() }
    var bytes = Data()
    while let chunk = try handle.read(upToCount: chunkBytes), !chunk.isEmpty {
      bytes += chunk
      if bytes.count > bytesMax { throw tooLong(file, bytesMax: bytesMax) }
    }
    guard let text = String(data: bytes, encoding: .utf8) else {
      throw CocoaError(.fileReadInapplicableStringEncoding)
    }
    return text
  }

  /// What is said of a file that is too long.
  static func tooLong(
    _ file: String, bytesMax: Int = YAMLMeasure.bytesMax
  ) -> ConfigurationError {
    ConfigurationError(
      file: file, line: nil, "The file has more than \(bytesMax >> 10) KiB: make it smaller.")
  }
}
