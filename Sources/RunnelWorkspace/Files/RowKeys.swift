package import RunnelTree

/// The keys of the rows in a file that has none, by their places in it.
///
/// A list is read with the numbers of its places as keys. When a row is gone, those behind it have other
/// places in the file that is written, but still their keys.
package struct RowKeys: Hashable, Sendable {
  /// The keys of a file as it was read: the number of each place.
  package static let asRead = RowKeys(nil)

  /// The keys by place, nil for an element without a row and without a known key; nil for the numbers of
  /// the places.
  private let keys: [Key?]?

  private init(_ keys: [Key?]?) { self.keys = keys }

  /// Makes the keys of a file that was written.
  package init(_ keys: [Key?]) { self.init(.some(keys)) }

  /// The key of the row at a place; nil if there is none.
  package func key(at place: Int) -> Key? {
    guard let keys else { return Key(unchecked: String(place)) }
    return keys.indices.contains(place) ? keys[place] : nil
  }

  // MARK: Text

  private static let numbers = "numbers"

  /// The keys as a text: a line for each, with `=` before it and a break behind; `3-9` stands for the numbers from 3 to 9.
  package var text: String {
    guard let keys else { return RowKeys.numbers }
    var lines: [String] = []
    var run: ClosedRange<Int>?
    func endRun() {
      guard let ended = run else { return }
      lines.append("\(ended.lowerBound)-\(ended.upperBound)")
      run = nil
    }
    for key in keys {
      if let number = key.flatMap(RowKeys.number) {
        if let begun = run, begun.upperBound + 1 == number {
          run = begun.lowerBound...number
          continue
        }
        endRun()
        run = number...number
        continue
      }
      endRun()
      lines.append(key.map { "=" + $0.text } ?? "")
    }
    endRun()
    return lines.map { $0 + "\n" }.joined()
  }

  /// Reads a text that was made of keys; nil for any other text.
  package init?(text: String) {
    if text == RowKeys.numbers {
      self = .asRead
      return
    }
    var keys: [Key?] = []
    guard text.isEmpty || text.hasSuffix("\n") else { return nil }
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
      if line.isEmpty {
        keys.append(nil)
      } else if line.hasPrefix("=") {
        keys.append(Key(unchecked: String(line.dropFirst())))
      } else {
        let ends = line.split(separator: "-").map { Int($0) }
        guard ends.count == 2, let first = ends[0], let last = ends[1], first <= last else {
          return nil
        }
        keys += (first...last).map { Key(unchecked: String($0)) }
      }
    }
    self.init(keys)
  }

  /// The number that a key is as a place in a list; nil for other keys.
  package static func number(_ key: Key) -> Int? {
    guard let number = key.integer, number >= 0, String(number) == key.text else { return nil }
    return Int(number)
  }
}
