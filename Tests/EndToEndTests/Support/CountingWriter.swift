import RunnelBase
import TestSupport
import Testing

/// A client that adds to a number of its own, and sends what was not answered again, under the same name.
struct CountingWriter {
  /// The numbers of the requests that leave something to be done are the rounds from here on.
  private static let farewellStart = 1_000_000

  let name: String
  private(set) var sent = 0
  private(set) var unanswered: [Int] = []
  /// The rounds whose farewell was acknowledged.
  private(set) var farewells: Set<Int> = []

  init(name: String) { self.name = name }

  /// Adds writes that are to be sent.
  mutating func add(_ count: Int) {
    for _ in 0..<count {
      sent += 1
      unanswered.append(sent)
    }
  }

  /// The request that a write is sent as.
  func message(_ number: Int) -> String {
    """
    {"t":"d","d":{"r":\(number),"a":"p","b":{"p":"/count/\(name)",\
    "d":{".sv":{"increment":1}},"w":["\(name)",\(number)]}}}
    """
  }

  /// What is done when the connection of a round ends.
  func farewell(_ round: Int) -> String {
    """
    {"t":"d","d":{"r":\(CountingWriter.farewellStart + round),"a":"o","b":{"p":"/gone/\(name)/r\(round)",\
    "d":{".sv":{"increment":1}}}}}
    """
  }

  /// Sends what was not answered.
  func send(on client: RawClient) throws {
    for number in unanswered { try client.sendText(message(number)) }
  }

  private mutating func take(_ answer: String) throws {
    let data = try JSONValue(parsing: answer)["d"]
    guard data?["b"]?["s"] == "ok", let number = data?["r"]?.int else { return }
    if number >= CountingWriter.farewellStart {
      farewells.insert(number - CountingWriter.farewellStart)
    } else {
      unanswered.removeAll { $0 == number }
    }
  }

  /// Takes so many answers, or all that come until the connection ends or nothing is unanswered.
  mutating func takeAnswers(_ client: RawClient, countMax: Int = .max) throws {
    var count = 0
    while count < countMax, !unanswered.isEmpty {
      // The server may be gone.
      guard let answer = try? client.readMessage() else { return }
      try take(answer)
      count += 1
    }
  }

  /// Checks that each write was done once, and each farewell that was acknowledged.
  func check(counts: JSONValue, gone: JSONValue, roundCount: Int) {
    #expect(counts[name]?.int == sent, "\(name)")
    for round in 0..<roundCount {
      // One whose answer did not arrive may have been kept, or not.
      let count = gone[name]?["r\(round)"]?.int ?? 0
      #expect(count <= 1, "\(name), round \(round)")
      if farewells.contains(round) { #expect(count == 1, "\(name) \(round)") }
    }
  }
}
