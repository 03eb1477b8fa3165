import Foundation
import RunnelBase

/// How fast JSON is parsed and written, beside Foundation.
struct JSONBenchmark {
  private static let bytesMax = 50_000_000

  let document: [UInt8]

  func run(into report: inout Report) throws {
    let sample = try JSONBenchmark.part(of: document)
    let data = Data(sample)
    var times = [Double](repeating: .infinity, count: 4)
    for _ in 0..<3 {
      try measure(&times[0]) { _ = try JSONValue(parsing: sample) }
      try measure(&times[1]) { _ = try JSONSerialization.jsonObject(with: data) }
    }
    let value = try JSONValue(parsing: sample)
    let object = try JSONSerialization.jsonObject(with: data)
    for _ in 0..<3 {
      measure(&times[2]) { _ = value.jsonBytes() }
      try measure(&times[3]) { _ = try JSONSerialization.data(withJSONObject: object) }
    }
    for (words, ours, theirs) in [("parse", times[0], times[1]), ("write", times[2], times[3])] {
      report.add(
        "\(words) JSON", Format.rate(bytes: sample.count, in: ours),
        baseline: Format.rate(bytes: sample.count, in: theirs) + " of Foundation",
        ratio: theirs / ours, aim: .atLeast(5))
    }
  }

  /// The best time counts: what disturbs only adds.
  private func measure(_ best: inout Double, _ body: () throws -> Void) rethrows {
    let start = Timing.now
    try body()
    best = min(best, Timing.seconds(since: start))
  }

  /// The beginning of the document, up to a whole message.
  private static func part(of document: [UInt8]) throws -> [UInt8] {
    if document.count <= bytesMax { return document }
    let head = document[..<bytesMax]
    guard let end = head.lastIndex(of: UInt8(ascii: "}")) else {
      throw BenchmarkError("The document has no messages.")
    }
    return Array(head[...end]) + Array("}}".utf8)
  }
}
