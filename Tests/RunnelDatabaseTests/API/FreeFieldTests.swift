import Foundation
import RunnelBase
import RunnelDatabase
import RunnelTree
import Testing

/// Fields of records whose values are JSON, decimal numbers, or cases of enums.
@Suite struct FreeFieldTests {
  private struct Card: Codable, Equatable {
    var title: String
    var extra: JSONValue?
    var more: [JSONValue] = []
    var named: [String: JSONValue] = [:]
  }

  private func refusal(_ value: some Encodable) throws -> DataCodingError? {
    #expect(throws: DataCodingError.self) { try NodeEncoder().json(value, at: Path("machines/b")) }
  }

  // MARK: JSON

  @Test func recordWithAFreeFieldIsReadBack() throws {
    var card = Card(title: "a", extra: ["n": .number(JSONNumber(.max)), "x": 0.1])
    card.more = [1, "b", ["c": true]]
    card.named = ["k": 2.5, "l": ["m": "n"]]
    let node = try NodeEncoder().encode(card)
    #expect(node.json["extra"]?["n"]?.int == .max)
    #expect(try NodeDecoder().decode(Card.self, from: node) == card)
    let without = try NodeEncoder().encode(Card(title: "b"))
    #expect(try NodeDecoder().decode(Card.self, from: without) == Card(title: "b"))
  }

  @Test func freeFieldKeepsPrioritiesAndServerValues() throws {
    let extra: JSONValue = ["a": [".value": 1, ".priority": 2], "b": 3]
    let node = try NodeEncoder().encode(Card(title: "a", extra: extra))
    #expect(try NodeDecoder().decode(Card.self, from: node).extra == extra)
    let timed = try NodeEncoder().json(["at": ServerValue.timestamp.json])
    #expect(timed == ["at": ServerValue.timestamp.json])
  }

  @Test func anyNodeIsReadAsJSON() throws {
    for json: JSONValue in [nil, 1, "a", ["a": ["0": true, "1": 2]], ["a": 1, ".priority": 3]] {
      #expect(try NodeDecoder().decode(JSONValue.self, from: Node(json: json)) == json)
    }
    #expect(try NodeDecoder().decode(JSONValue?.self, from: .empty) == nil)
    #expect(try NodeDecoder().decode(JSONNumber.self, from: Node(json: 0.5)) == JSONNumber(0.5))
  }

  // MARK: Enums

  private enum Job: Codable, Equatable {
    case idle
    case running(percent: Int)
    case paused(reason: String?)
  }

  private struct Machine: Codable, Equatable {
    var job: Job?
    var jobs: [Job] = []
  }

  @Test func caseThatWouldBeLostIsRefusedWithItsPlace() throws {
    #expect(try refusal(Machine(job: .idle))?.path == "/machines/b/job")
    let listed = Machine(jobs: [.running(percent: 1), .idle])
    #expect(try refusal(listed)?.path == "/machines/b/jobs/1")
    #expect(try refusal(Job.idle)?.path == "/machines/b")
    #expect(try refusal(Job.paused(reason: nil))?.path == "/machines/b")
    let message = try refusal(Machine(job: .idle))?.description
    #expect(message?.contains("idle") == true && message?.contains("String") == true)
  }

  @Test func caseWithValuesIsReadBack() throws {
    let machine = Machine(job: .running(percent: 3), jobs: [.paused(reason: "x")])
    let node = try NodeEncoder().encode(machine)
    #expect(try NodeDecoder().decode(Machine.self, from: node) == machine)
  }

  @Test func emptyStructureIsNoRefusal() throws {
    struct Inner: Codable, Equatable { var x: Int? }
    struct Outer: Codable, Equatable { var inner = Inner() }
    #expect(try NodeEncoder().encode(Outer()).isEmpty)
    #expect(try NodeDecoder().decode(Outer.self, from: .empty) == Outer())
  }

  // MARK: Decimal numbers

  @Test(arguments: ["0", "19.99", "-0.01", "123456789.25", "9223372036854775807", "1e20", "1e-9"])
  func decimalNumberIsANumber(text: String) throws {
    let decimal = try #require(Decimal(string: text))
    let node = try NodeEncoder().encode(decimal)
    guard case .number(let number)? = node.leaf else {
      Issue.record("It is no number.")
      return
    }
    #expect(number.double == Double(text))
    #expect(try NodeDecoder().decode(Decimal.self, from: node) == decimal)
  }

  @Test func decimalNumberWithMoreDigitsIsRefused() throws {
    let long = try #require(Decimal(string: "1234567890.12345678901234567"))
    #expect(try refusal(["price": long])?.path == "/machines/b/price")
    #expect(try refusal(["price": Decimal.nan])?.path == "/machines/b/price")
  }

  /// Older versions stored these parts.
  @Test func decimalNumberInPartsIsStillRead() throws {
    let decimal = try #require(Decimal(string: "19.99"))
    let parts: JSONValue = [
      "exponent": -2, "isCompact": true, "isNegative": false, "length": 1,
      "mantissa": [1999, 0, 0, 0, 0, 0, 0, 0],
    ]
    #expect(try NodeDecoder().decode(Decimal.self, from: Node(json: parts)) == decimal)
  }
}
