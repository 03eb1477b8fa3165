import RunnelDatabase
import RunnelTree

/// Formats words as they are typed in a shell.
enum ShellText {
  /// Returns a word, quoted if a shell would change it.
  static func quoted(_ word: String) -> String {
    let isPlain =
      !word.isEmpty
      && word.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: ":"),
          UInt8(ascii: ","), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
          true
        default: false
        }
      }
    if isPlain { return word }
    return "'"
      + word.split(separator: "'", omittingEmptySubsequences: false)
      .joined(separator: #"'\''"#) + "'"
  }
}

extension IndexAdvice {
  /// Returns the advice for an order without an index.
  func text(forFile file: String) -> String {
    let words = [
      "runnel", "index", "add", definition.pattern, definition.order.description, "--database",
      file,
    ]
    return """
      No index keeps this order, so all \(scannedCount) children were read. To declare one:
        \(words.map(ShellText.quoted).joined(separator: " "))
      A view with `order: \(definition.order)` declares it too.
      """
  }
}
