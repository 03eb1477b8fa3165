import RunnelBase
import Testing

@Suite struct JSONScannerTests {
  /// Gives a scanner of a text to a closure.
  private func scan<Result>(
    _ text: String, _ body: (inout JSONScanner) throws -> Result
  ) rethrows -> Result {
    try Array(text.utf8).withUnsafeBufferPointer { bytes in
      var scanner = JSONScanner(bytes)
      return try body(&scanner)
    }
  }

  @Test func kindIsSeenWithoutReading() throws {
    let kinds: [(String, JSONScanner.Kind)] = [
      ("null", .null), ("true", .bool), ("false", .bool), ("-1", .number), ("9", .number),
      ("\"\"", .string), ("[]", .array), ("{}", .object),
    ]
    for (text, kind) in kinds {
      try scan("  " + text) { scanner throws in
        #expect(try scanner.peekKind() == kind)
        #expect(try scanner.peekKind() == kind)
        #expect(scanner.offset == 2)
      }
    }
  }

  @Test func objectIsWalkedMemberByMember() throws {
    try scan(" { \"a\" : 1 , \"b\\n\" : [ true , null ] , \"c\" : \"x\" } ") { scanner in
      try scanner.enterObject()
      #expect(try scanner.nextMember() == "a")
      #expect(try scanner.readNumber() == 1)
      #expect(try scanner.nextMember() == "b\n")
      try scanner.enterArray()
      #expect(scanner.depth == 2)
      #expect(try scanner.nextElement())
      #expect(try scanner.readBool())
      #expect(try scanner.nextElement())
      try scanner.readNull()
      #expect(try !scanner.nextElement())
      #expect(try scanner.nextMember() == "c")
      #expect(try scanner.readString() == "x")
      #expect(try scanner.nextMember() == nil)
      #expect(scanner.depth == 0)
      try scanner.finish()
      #expect(scanner.offset == 51)
    }
  }

  @Test func emptyContainersAreLeftAtOnce() throws {
    try scan("[{},[ ]]") { scanner in
      try scanner.enterArray()
      #expect(try scanner.nextElement())
      try scanner.enterObject()
      #expect(try scanner.nextMember() == nil)
      #expect(try scanner.nextElement())
      try scanner.enterArray()
      #expect(try !scanner.nextElement())
      #expect(try !scanner.nextElement())
      try scanner.finish()
    }
  }

  @Test func wrongKindIsAnError() throws {
    func code(_ text: String, _ read: (inout JSONScanner) throws -> Void) throws -> String {
      try #require(throws: JSONError.self) { try scan(text, read) }.message
    }
    #expect(try code("1") { _ = try $0.readString() } == "expected a string")
    #expect(try code("\"1\"") { _ = try $0.readNumber() } == "expected a number")
    #expect(try code("1") { _ = try $0.readBool() } == "expected 'true'")
    #expect(try code("1") { try $0.readNull() } == "expected 'null'")
    #expect(try code("[]") { try $0.enterObject() } == "expected an object")
    #expect(try code("{}") { try $0.enterArray() } == "expected an array")
    #expect(
      try code("1 2") {
        _ = try $0.readNumber()
        try $0.finish()
      } == "nothing may follow the document's one value; remove this")
  }

  static let values = [
    "1", "-12.5e3", "true", "null", "\"\"", "\"abc\"", "\"é\\uD83D\\uDE00€\"", "[]", "{}", "[1, 2]",
    "{\"a\": {\"b\": [1, \"two\", 3.0]}, \"c\": null}",
  ]

  @Test(arguments: values)
  func budgetOfAllBytesReadsAndOneLessRefuses(text: String) throws {
    let size = text.utf8.count
    let value = try JSONValue(parsing: text)
    for (before, after) in [("", ""), (" \n", " "), ("[", ", 99]"), ("[", "]")] {
      try scan(before + text + after) { scanner in
        if before == "[" {
          try scanner.enterArray()
          #expect(try scanner.nextElement())
        }
        for budget in -1..<size {
          #expect(try scanner.readValue(maxBytes: budget) == nil, "budget \(budget)")
          #expect(scanner.offset == before.utf8.count)
          #expect(scanner.depth == (before == "[" ? 1 : 0))
        }
        #expect(try scanner.readValue(maxBytes: size) == value)
        #expect(scanner.offset == before.utf8.count + size)
      }
      try scan(before + text + after) { scanner in
        if before == "[" {
          try scanner.enterArray()
          #expect(try scanner.nextElement())
        }
        #expect(try scanner.readValue(maxBytes: .max) == value)
      }
    }
  }

  @Test func refusedValueCanBeEnteredAndTheBudgetIsGone() throws {
    try scan("{\"large\":{\"x\":[1,2,3]},\"small\":1}") { scanner in
      try scanner.enterObject()
      #expect(try scanner.nextMember() == "large")
      #expect(try scanner.readValue(maxBytes: 5) == nil)
      try scanner.enterObject()
      #expect(try scanner.nextMember() == "x")
      #expect(try scanner.readValue() == [1, 2, 3])
      #expect(try scanner.nextMember() == nil)
      #expect(try scanner.nextMember() == "small")
      #expect(try scanner.readValue(maxBytes: 5) == 1)
      #expect(try scanner.nextMember() == nil)
      try scanner.finish()
    }
  }

  @Test func faultWithinTheBudgetIsThrown() throws {
    let error = try #require(throws: JSONError.self) {
      try scan("[1,,2]") { try $0.readValue(maxBytes: 6) }
    }
    #expect(error.offset == 3)
  }

  @Test func skippingStopsWhereReadingDoes() throws {
    for (text, _) in JSONParsingTests.accepted {
      let offsets = try scan(text + " ") { scanner in
        var other = scanner
        _ = try scanner.readValue()
        try other.skipValue()
        return (scanner.offset, other.offset)
      }
      #expect(offsets.0 == offsets.1, "\(text)")
    }
  }

  @Test func skippingRefusesWhatReadingRefuses() throws {
    for rejected in JSONParsingTests.rejected {
      let error = try #require(throws: JSONError.self) {
        try scan(rejected.text) { scanner in
          try scanner.skipValue()
          try scanner.finish()
        }
      }
      #expect(error.code == rejected.code, "\(rejected.text)")
      #expect(error.offset == rejected.offset, "\(rejected.text)")
    }
  }
}
