import ArgumentParser
import CPlatform

/// The command line as the system passed it: bytes, which need not be UTF-8 and may be empty.
///
/// The parser gets U+FFFD in place of bytes that are not UTF-8. That would turn two keys into one,
/// or name another file. So such arguments are refused, except names of files that are read or
/// written by their bytes. Empty arguments are refused too: they come from shell variables that are
/// not set.
struct GivenArguments {
  /// A word after the name of the program.
  struct Word {
    /// Its number among these words, from 1.
    var number: Int
    var bytes: [UInt8]

    /// The word as the parser sees it.
    var text: String { String(decoding: bytes, as: UTF8.self) }
    /// The offset of the first byte that is not UTF-8; nil if there is none.
    var firstInvalidByte: Int? {
      var parser = Unicode.UTF8.ForwardParser()
      var input = bytes.makeIterator()
      var place = 0
      while true {
        switch parser.parseScalar(from: &input) {
        case .valid(let scalar): place += scalar.count
        case .error: return place
        case .emptyInput: return nil
        }
      }
    }
  }

  /// The command line of this process.
  static let current = GivenArguments(
    (1..<max(runnel_argument_count(), 1)).compactMap { index in
      runnel_argument(index).map { pointer in
        var bytes: [UInt8] = []
        var next = pointer
        while next.pointee != 0 {
          bytes.append(UInt8(bitPattern: next.pointee))
          next += 1
        }
        return bytes
      }
    })

  let words: [Word]

  /// The words as the parser sees them.
  var texts: [String] { words.map(\.text) }

  init(_ words: [[UInt8]]) {
    self.words = words.enumerated().map { Word(number: $0 + 1, bytes: $1) }
  }

  // MARK: Empty words

  /// Throws if a word is empty, or an option has nothing after its `=`.
  ///
  /// - Throws: `ValidationError` that names the word.
  func checkNoneIsEmpty() throws {
    // For completion, a shell passes all words of the line, and the last one may still be empty.
    if words.first?.text == "---completion" { return }
    let end = words.firstIndex { $0.text == "--" } ?? words.endIndex
    for (index, word) in words.enumerated() {
      if word.bytes.isEmpty {
        let before = index > 0 ? words[index - 1].text : ""
        throw ValidationError(
          GivenArguments.emptiness(
            after: before, isName: words.prefix(2).map(\.text) == ["account", "name"],
            isAfterOption: index <= end && before.count > 1
              && before.hasPrefix("-")))
      }
      if index < end, let name = GivenArguments.optionWithNothing(word.text) {
        throw ValidationError("the value of \(name) is empty. Is a variable of the shell not set?")
      }
    }
  }

  private static func emptiness(
    after before: String, isName: Bool, isAfterOption: Bool
  ) -> String {
    if isAfterOption {
      return "what follows \(before) is empty. Is a variable of the shell not set?"
    }
    let place = before.isEmpty ? "the first word" : "the word after \(before)"
    if isName {
      return
        "\(place) is empty. Is a variable of the shell not set? --remove takes the name away."
    }
    return
      "\(place) is empty. Is a variable of the shell not set? The root of the tree is written /, "
      + "and an empty text \"\"."
  }

  /// The name in `--name=`; nil for any other word.
  private static func optionWithNothing(_ word: String) -> String? {
    guard word.hasPrefix("-"), word.hasSuffix("=") else { return nil }
    let name = word.dropLast()
    let letters = name.drop { $0 == "-" }
    // Other words that begin with one dash may be values, for instance of a filter.
    let isOption = name.hasPrefix("--") ? !letters.isEmpty : letters.count == 1
    return isOption && letters.allSatisfy { $0.isLetter || $0 == "-" } ? String(name) : nil
  }

  // MARK: Bytes that are no UTF-8

  /// The bytes of the word that the parser turned into a text; nil if more than one word could be
  /// meant.
  func bytes(of text: String) -> [UInt8]? {
    let meant = Set(words.compactMap { $0.value(for: text) })
    return meant.count <= 1 ? meant.first ?? Array(text.utf8) : nil
  }

  /// Throws if a word is not UTF-8, unless it names a file by its bytes.
  ///
  /// - Throws: `ValidationError` that names the byte.
  func checkTexts(except names: [FileName] = []) throws {
    let known = Set(names.map(\.bytes))
    for word in words {
      guard let place = word.firstInvalidByte else { continue }
      if known.contains(where: { word.ends(with: $0) }) { continue }
      throw ValidationError(GivenArguments.refusal(of: word, at: place))
    }
  }

  private static func refusal(of word: Word, at place: Int) -> String {
    let digits = String(word.bytes[place], radix: 16, uppercase: true)
    return
      "argument \(word.number), \(FileName.shown(word.bytes)), is not UTF-8: byte \(place + 1) is 0x"
      + "\(digits). Keys, values and the names of databases are UTF-8; so set the locale of your "
      + "terminal to it, or rename the file. Only `import`, `diff --with` and `screenshot` take a file "
      + "with such a name."
  }
}

extension GivenArguments.Word {
  /// Returns the bytes of the word, or of the value after its `=`, if the parser reads them as this
  /// text.
  fileprivate func value(for text: String) -> [UInt8]? {
    if self.text == text { return bytes }
    guard self.text.hasPrefix("-"), let sign = bytes.firstIndex(of: UInt8(ascii: "=")) else {
      return nil
    }
    let value = Array(bytes[(sign + 1)...])
    return String(decoding: value, as: UTF8.self) == text ? value : nil
  }

  /// Whether these bytes are the word, or the value after its `=`.
  fileprivate func ends(with name: [UInt8]) -> Bool {
    value(for: String(decoding: name, as: UTF8.self)) == name
  }
}
