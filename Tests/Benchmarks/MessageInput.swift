import Glibc
import RunnelBase

/// A history of messages: the same for the same count, as a document and as separate records.
struct MessageInput {
  /// The name of the collection in the document.
  static let collection = "messages"

  private static let digits = Array(
    "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")
  private static let authors = ["ana", "bo", "chris", "dora", "emil", "fatima", "gus", "hiroko"]
  private static let words = [
    "bring", "the", "long", "ladder", "on", "Saturday", "please", "and", "water", "tomatoes",
    "before", "noon", "who", "has", "keys", "shed", "rain", "is", "coming", "thanks", "über", "für",
  ]
  private static let start: Int64 = 1_700_000_000_000

  /// Each message's key and its JSON, in the order of keys.
  let records: [(key: String, json: String)]

  init(count: Int) {
    var random = SeededRandom(seed: 1)
    records = (0..<count).map { number in
      (MessageInput.key(number, &random), MessageInput.json(number, &random))
    }
  }

  /// A key of 20 signs, as a Firebase client makes them: they ascend.
  private static func key(_ number: Int, _ random: inout SeededRandom) -> String {
    var key: [Character] = []
    var rest = number
    for _ in 0..<8 {
      key.append(digits[rest % 64])
      rest /= 64
    }
    let tail = (0..<10).map { _ in digits[Int.random(in: 0..<64, using: &random)] }
    return "-O" + String(key.reversed() + tail)
  }

  private static func json(_ number: Int, _ random: inout SeededRandom) -> String {
    let count = Int.random(in: 2...18, using: &random)
    let text = (0..<count)
      .map { _ in words[Int.random(in: 0..<words.count, using: &random)] }.joined(separator: " ")
    let author = authors[Int.random(in: 0..<authors.count, using: &random)]
    let likes = Int.random(in: 0..<1_000_000, using: &random)
    return #"{"created":\#(start + Int64(number) * 1000),"from":"\#(author)","#
      + #""likes":\#(likes),"text":"\#(text)"}"#
  }

  /// The whole history as one document.
  func document() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(records.count * 160)
    bytes += Array(#"{"\#(MessageInput.collection)":{"#.utf8)
    for (index, record) in records.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      bytes += Array("\"\(record.key)\":".utf8)
      bytes += Array(record.json.utf8)
    }
    return bytes + Array("}}".utf8)
  }

  /// Writes the document to a file.
  static func write(_ document: [UInt8], to path: String) throws {
    guard let file = fopen(path, "w") else { throw BenchmarkError.system("open \(path)") }
    let count = fwrite(document, 1, document.count, file)
    guard fclose(file) == 0, count == document.count else {
      throw BenchmarkError.system("write \(path)")
    }
  }
}
