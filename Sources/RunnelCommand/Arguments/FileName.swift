import ArgumentParser
import RunnelBase

/// The name of a file that is read or written as a whole, as the bytes in the command line.
struct FileName: ExpressibleByArgument, Hashable {
  /// The bytes that the system knows the file by; none is zero.
  let bytes: [UInt8]

  init(bytes: [UInt8]) { self.bytes = bytes }

  init?(argument: String) {
    guard !argument.isEmpty, let bytes = GivenArguments.current.bytes(of: argument) else {
      return nil
    }
    self.bytes = bytes
  }

  /// The name as a text; nil if it is not UTF-8.
  var text: String? { String(validating: bytes, as: UTF8.self) }

  /// True for the name that stands for standard input or output.
  var isStandard: Bool { bytes == Array("-".utf8) }
  /// The name as messages show it.
  var shown: String { FileName.shown(bytes) }

  /// The name as the system takes it.
  var cString: [CChar] { (bytes + [0]).map { CChar(bitPattern: $0) } }

  /// Returns bytes as a message shows them: bytes that are not UTF-8 as `\xFF`, control characters
  /// as `\u001b`.
  static func shown(_ bytes: [UInt8]) -> String {
    if let text = String(validating: bytes, as: UTF8.self) {
      return ControlCharacters.escapedLine(text)
    }
    var result = ""
    var rest = bytes[...]
    while !rest.isEmpty {
      let letter = (1...min(4, rest.count)).lazy
        .compactMap { String(validating: rest.prefix($0), as: UTF8.self) }.first
      if let letter {
        result += ControlCharacters.escapedLine(letter)
        rest = rest.dropFirst(letter.utf8.count)
      } else if let byte = rest.popFirst() {
        result += "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }
    return result
  }
}

/// A command that takes names of files by their bytes.
protocol FileNaming {
  /// The names that the command was given.
  var fileNames: [FileName] { get }
}
