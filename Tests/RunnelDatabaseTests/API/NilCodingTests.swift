import RunnelBase
import RunnelDatabase
import RunnelTree
import Testing

@Suite struct NilCodingTests {
  private struct Inner: Codable { var note: String? }

  private struct Everything: Codable {
    var bool: Bool?
    var string: String?
    var double: Double?
    var float: Float?
    var int: Int?
    var int8: Int8?
    var int16: Int16?
    var int32: Int32?
    var int64: Int64?
    var uint: UInt?
    var uint8: UInt8?
    var uint16: UInt16?
    var uint32: UInt32?
    var uint64: UInt64?
    var inner: Inner?
    var list: [Int]?
  }

  @Test func nilIsAbsentUnlessAskedFor() throws {
    #expect(try NodeEncoder().json(Everything()) == .object([]))
    guard case .object(let members) = try NodeEncoder(nils: .null).json(Everything()) else {
      Issue.record("It is no object.")
      return
    }
    #expect(
      members.map(\.name).sorted()
        == Mirror(reflecting: Everything()).children
        .compactMap(\.label).sorted())
    #expect(members.allSatisfy { $0.value == .null })
  }

  @Test(arguments: [
    [nil, nil, 1], [nil, nil, nil, 1], [nil, 1, nil, nil, 2], [1, nil, nil, 2],
    [Int?](repeating: nil, count: 999) + [1],
    [Int?](repeating: nil, count: 2_000) + Array(0..<2_001),
  ])
  func gapsOfAnArrayComeBack(_ values: [Int?]) throws {
    let node = try NodeEncoder().encode(values)
    #expect(try NodeDecoder().decode([Int?].self, from: node) == values)
    let lists = values.map { $0.map { [$0] } ?? [] }
    let nested = try NodeEncoder().encode(["days": lists])
    #expect(try NodeDecoder().decode([String: [[Int]]].self, from: nested) == ["days": lists])
  }

  enum Color: String, Codable { case red, green, blue }

  @Test(arguments: [Color.red, .green, .blue])
  func emptyValuesOfADictionaryWithOtherKeysComeBack(_ empty: Color) throws {
    var lists: [Color: [Int]] = [.red: [1], .green: [2], .blue: [3]]
    lists[empty] = []
    #expect(
      try NodeDecoder().decode([Color: [Int]].self, from: NodeEncoder().encode(lists)) == lists)
    let one = [empty: Int?.none]
    #expect(
      try NodeDecoder().decode([Color: Int?].self, from: NodeEncoder().encode(one)) == one)
  }

  @Test func anArrayThatCouldNotBeReadAgainIsNotWritten() throws {
    let values = [Int?](repeating: nil, count: 2_000) + [1]
    let error = #expect(throws: DataCodingError.self) {
      try NodeEncoder().json(["a": ["b": values]], at: try Path("c/d"))
    }
    #expect(error?.path == "/c/d/a/b")
    #expect(error?.description.contains("only 1 of the 2001 elements") == true)
  }

  @Test func whatIsNotNilIsWrittenAsEver() throws {
    var value = Everything()
    (value.bool, value.string, value.double, value.float) = (true, "x", 1.5, 0.1)
    (value.int, value.int8, value.int16, value.int32, value.int64) = (1, 2, 3, 4, 5)
    (value.uint, value.uint8, value.uint16, value.uint32, value.uint64) = (6, 7, 8, 9, 10)
    value.inner = Inner(note: nil)
    value.list = [1]
    let absent = try NodeEncoder().json(value)
    let null = try NodeEncoder(nils: .null).json(value)
    #expect(absent["inner"] == .object([]) && null["inner"] == ["note": nil])
    for name in ["bool", "string", "double", "float", "int", "uint64", "list"] {
      #expect(absent[name] != nil && absent[name] == null[name])
    }
  }
}
