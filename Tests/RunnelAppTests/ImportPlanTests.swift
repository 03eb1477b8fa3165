import RunnelBase
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

@Suite struct ImportPlanTests {
  @Test(arguments: [ImportPlan.Format.jsonl, .csv])
  func progressIsToldAndEndsTheReading(_ format: ImportPlan.Format) throws {
    let lines = (0..<900).map { format == .csv ? "\($0),x" : #"{"a":\#($0)}"# }
    let text = ((format == .csv ? ["a,b"] : []) + lines).joined(separator: "\n")
    var parts: [Double] = []
    let plan = try ImportPlan(text, as: format) { part in
      parts.append(part)
      return true
    }
    #expect(plan.rows.count == 900)
    #expect(parts.count >= 4 && parts == parts.sorted() && parts.allSatisfy { 0...1 ~= $0 })
    var count = 0
    #expect(throws: ImportPlan.Unreadable(message: "the reading was stopped")) {
      try ImportPlan(text, as: format) { _ in
        count += 1
        return count < 3
      }
    }
    #expect(count == 3)
  }

  @Test func listOfObjectsIsRead() throws {
    let plan = try ImportPlan(#"[{"a":1},{"$key":"k","a":2},3]"#)
    #expect(plan.rows.map(\.key) == [nil, "k"])
    #expect(plan.rows.map(\.value) == [["a": 1], ["a": 2]])
    #expect(plan.refused.map(\.place) == ["record 3"])
  }

  @Test func objectOfObjectsNamesTheKeys() throws {
    let plan = try ImportPlan(#"{"x":{"a":1},"y":{"a":2}}"#)
    #expect(plan.rows.map(\.key) == ["x", "y"])
    #expect(!plan.isSingle)
  }

  @Test func objectWithValuesIsOneRecord() throws {
    let plan = try ImportPlan("  {\"a\":1,\n \"b\":{}} ")
    #expect(plan.isSingle)
    #expect(plan.rows.map(\.value) == [["a": 1, "b": [:]]])
  }

  @Test func wrongLinesAreLeftOutWithTheirPlace() throws {
    let plan = try ImportPlan("{\"a\":1}\n\n{\"a\":\n[1]\n{\"$value\":5}\n")
    #expect(plan.rows.map(\.place) == ["line 1", "line 5"])
    #expect(plan.rows.map(\.value) == [["a": 1], 5])
    #expect(plan.refused.map(\.place) == ["line 3", "line 4"])
  }

  @Test func columnWhoseNameAnotherOneHasGetsOne() throws {
    let plan = try ImportPlan("a,b,a,a 2,a\n1,2,3,4,\n", as: .csv)
    #expect(plan.rows.map(\.value) == [["a": 1, "b": 2, "a 2'": 3, "a 2": 4]])
    #expect(
      plan.remarks == [
        "1 column whose name another one has in the first line is called \"a 2'\"."
      ])
    // Names that would be one key are the same name.
    let keys = try ImportPlan("a.b,a%2Eb\n1,2\n", as: .csv)
    #expect(keys.rows.map(\.value) == [["a%2Eb": 1, "a%2Eb 2": 2]])
  }

  @Test func namesThatNoKeyMayHaveAreWrittenAsInAddresses() throws {
    let plan = try ImportPlan("von/an,$key,Art.\nx,a.b,1\n", as: .csv)
    #expect(plan.rows.map(\.key) == ["a%2Eb"])
    #expect(plan.rows.map(\.value) == [["von%2Fan": "x", "Art%2E": 1]])
    #expect(plan.renamed == ["von/an", "a.b", "Art."])
    let lines = try ImportPlan(
      #"{"t":{".sv":"timestamp"},"n":{"a.b":[{"c/d":1}]},"v":{".value":5},".priority":3}"#,
      as: .jsonl)
    #expect(
      lines.rows.map(\.value) == [
        [
          "t": [".sv": "timestamp"], "n": ["a%2Eb": [["c%2Fd": 1]]], "v": [".value": 5],
          ".priority": 3,
        ]
      ])
    #expect(try ImportPlan("a,b\n1,2\n", as: .csv).renamed.isEmpty)
  }

  @Test func fieldOfTextsStaysOneWhateverItsName() throws {
    let plan = try ImportPlan("a.b\n12\n", as: .csv, texts: ["a%2Eb"])
    #expect(plan.rows.map(\.value) == [["a%2Eb": "12"]])
  }

  @Test func columnWithoutANameGetsOne() throws {
    let plan = try ImportPlan("a,,column 2,\n1,2,3,\n4,,6,\n", as: .csv)
    #expect(
      plan.rows.map(\.value) == [
        ["a": 1, "column 2'": 2, "column 2": 3], ["a": 4, "column 2": 6],
      ])
    #expect(plan.remarks == ["1 column without a name in the first line is called \"column 2'\"."])
    let many = try ImportPlan(",b,\n1,2,3\n", as: .csv)
    #expect(many.rows.map(\.value) == [["column 1": 1, "b": 2, "column 3": 3]])
    #expect(many.remarks.count == 1 && many.remarks[0].contains("\"column 1\", \"column 3\""))
  }

  @Test func emptyListsAndObjectsAreCounted() throws {
    let plan = try ImportPlan("{\"a\":1,\"tags\":[]}\n{\"b\":{\"c\":{}},\"a\":2}\n", as: .jsonl)
    let remarks = plan.remarks(.tree)
    #expect(remarks.count == 1)
    #expect(
      remarks.first?.hasPrefix("2 empty lists or objects ([] or {}), the first in tags,") == true)
    #expect(plan.remarks(.services).isEmpty, "services keep them")
    #expect(try ImportPlan(#"[{"a":1}]"#).remarks(.tree).isEmpty)
  }

  @Test func cellsAreReadAsWhatTheyLookLike() throws {
    let plan = try ImportPlan(
      "$key,a,b,c\r\n7,12,true,007\r\nk,\"x, \"\"y\"\"\nz\",,\"{\"\"d\"\":1}\"\r\n", as: .csv)
    #expect(plan.rows.map(\.key) == ["7", "k"])
    #expect(
      plan.rows.map(\.value) == [
        ["a": 12, "b": true, "c": "007"], ["a": "x, \"y\"\nz", "c": ["d": 1]],
      ])
  }

  @Test func columnOfAmountsHoldsNumbers() throws {
    let plan = try ImportPlan("item,price\na,9.50\nb,120.00\nc,7\nd,\n", as: .csv)
    #expect(
      plan.rows.map(\.value) == [
        ["item": "a", "price": 9.5], ["item": "b", "price": 120], ["item": "c", "price": 7],
        ["item": "d"],
      ])
  }

  @Test(arguments: ["01125", "12345678901234567890123"])
  func columnWithACodeHoldsTexts(code: String) throws {
    let plan = try ImportPlan("sku\n39473\n\(code)\n", as: .csv)
    #expect(plan.rows.map(\.value) == [["sku": "39473"], ["sku": .string(code)]])
  }

  @Test func columnOfWordsAndNumbersHoldsBoth() throws {
    let plan = try ImportPlan("n\n5\nnone\n1.50\n", as: .csv)
    #expect(plan.rows.map(\.value) == [["n": 5], ["n": "none"], ["n": "1.50"]])
  }

  @Test func trueAndFalseOfSpreadsheetsAreNoTexts() throws {
    let plan = try ImportPlan("n,paid\na,TRUE\nb,false\nc,FALSE\nd,\ne,True\n", as: .csv)
    #expect(plan.rows.compactMap { $0.value["paid"] } == [true, false, false, true])
    let texts = try ImportPlan("n,paid\na,TRUE\nb,half\n", as: .csv)
    #expect(texts.rows.compactMap { $0.value["paid"] } == ["TRUE", "half"])
    let words = try ImportPlan("n,paid\na,TRUE\n", as: .csv, texts: ["paid"])
    #expect(words.rows.compactMap { $0.value["paid"] } == ["TRUE"])
  }

  @Test func fieldOfTextsStaysOne() throws {
    let plan = try ImportPlan("a,b\n12,12\n", as: .csv, texts: ["a"])
    #expect(plan.rows.map(\.value) == [["a": "12", "b": 12]])
  }

  @Test func linesAreCountedThroughQuotes() throws {
    let plan = try ImportPlan("a,b\n\"1\n2\",x\n1,2,3\n", as: .csv)
    #expect(plan.rows.map(\.place) == ["line 2"])
    #expect(plan.refused.map(\.place) == ["line 4"])
  }

  @Test(arguments: ["", "5", "[", "{\"a\"", "[]", "a,b\n", "a\n\"x"])
  func whatHasNoRecordIsRefused(text: String) {
    #expect(throws: ImportPlan.Unreadable.self) { try ImportPlan(text) }
  }

  @Test func whatIsExportedIsReadAgain() throws {
    let values: [JSONValue] = [["a": 1, "b": "x,\"y\"\n漢"], ["a": true, "b": "-"]]
    for format in [ExportFormat.json, .jsonl, .csv] {
      var writer = ExportWriter(
        format,
        columns: try [.key, FieldPath("a"), FieldPath("b")])
      var bytes = writer.begin()
      for (index, value) in values.enumerated() {
        bytes += writer.bytes(of: .init(unchecked: "k\(index)"), try .init(json: value))
      }
      bytes += writer.end()
      let plan = try ImportPlan(
        String(decoding: bytes, as: UTF8.self),
        as: ImportPlan.format(ofFile: "x." + format.fileExtension))
      #expect(plan.rows.map(\.key) == ["k0", "k1"], "\(format)")
      #expect(plan.rows.map(\.value) == values, "\(format)")
    }
  }
}
