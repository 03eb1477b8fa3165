/// Finds a text in other texts, in time linear in both.
///
/// Both are compared in UTF-8, which finds the same matches as UTF-16 code units.
///
/// Source: Knuth, Morris and Pratt, "Fast Pattern Matching in Strings" (1977).
struct RuleTextSearch {
  private let part: [UInt8]
  /// For each prefix of the part, by its length: the length of its longest border (a shorter prefix
  /// that is also its end).
  private let borders: [Int]

  init(_ part: String) {
    let bytes = Array(part.utf8)
    var borders = [Int](repeating: 0, count: bytes.count + 1)
    var length = 0
    for index in bytes.indices.dropFirst() {
      while length > 0, bytes[index] != bytes[length] { length = borders[length] }
      if bytes[index] == bytes[length] { length += 1 }
      borders[index + 1] = length
    }
    self.part = bytes
    self.borders = borders
  }

  /// True if the part occurs in a text; the empty part occurs in every text.
  func isFound(in text: String) -> Bool {
    part.isEmpty || !places(in: text, atMost: 1).isEmpty
  }

  /// The byte offsets at which the part occurs in a text, without overlaps.
  ///
  /// An empty part occurs before each character and at the end.
  func places(in text: String, atMost limit: Int = .max) -> [Int] {
    var places: [Int] = []
    if part.isEmpty {
      for (index, byte) in text.utf8.enumerated() where byte & 0xC0 != 0x80 { places.append(index) }
      return places + [text.utf8.count]
    }
    var length = 0
    for (index, byte) in text.utf8.enumerated() {
      while length > 0, byte != part[length] { length = borders[length] }
      if byte == part[length] { length += 1 }
      if length == part.count {
        places.append(index + 1 - part.count)
        if places.count == limit { return places }
        length = 0
      }
    }
    return places
  }

  /// The text with the occurrences at these offsets replaced.
  func replacing(_ places: [Int], in text: String, with new: String) -> String {
    let bytes = Array(text.utf8)
    var result: [UInt8] = []
    var start = 0
    for place in places {
      result += bytes[start..<place]
      result += new.utf8
      start = place + part.count
    }
    result += bytes[start...]
    return String(decoding: result, as: UTF8.self)
  }
}
