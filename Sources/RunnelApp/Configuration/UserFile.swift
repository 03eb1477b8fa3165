import Foundation
import RunnelDatabase

/// Reads files that the user writes for the program: views, resources, configuration, themes.
enum UserFile {
  private static let chunkBytes = 1 << 16

  /// Returns the text of a file.
  ///
  /// The file is read in chunks, so that an endless file is not read forever.
  ///
  /// - Throws: `ConfigurationError` if the file is too long, or the error of the system.
  static func text(of file: String, bytesMax: Int = YAMLMeasure.bytesMax) throws -> String {
    if let kind = FileKind.otherThanFile(file) {
      throw ConfigurationError(file: file, line: nil, "This is \(kind): name a file.")
    }
    let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: file))
    // The file was only read, so an error of closing it loses nothing.
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

  /// Returns the error for a file that is too long.
  static func tooLong(
    _ file: String, bytesMax: Int = YAMLMeasure.bytesMax
  ) -> ConfigurationError {
    ConfigurationError(
      file: file, line: nil, "The file has more than \(bytesMax >> 10) KiB: make it smaller.")
  }
}
