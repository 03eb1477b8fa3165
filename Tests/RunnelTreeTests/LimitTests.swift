import Foundation
import RunnelBase
import TestSupport
import Testing

@testable import RunnelTree

/// The limits of section 2.2, on both sides, through every way in.
@Suite struct LimitTests {
  /// A way by which a value comes to stand at a place.
  enum Way: String, CaseIterable, CustomTestStringConvertible {
    case importOfValue
    case reader
    case set
    case setBelow
    case update
    case onDisconnect
    case copy

    var testDescription: String { rawValue }

    /// Puts `json` at a path that is given as text, or throws.
    func put(_ json: JSONValue, at text: String) throws {
      let pieces = text.split(separator: "/").map(String.init)
      switch self {
      case .importOfValue: _ = try Node(json: LimitTests.nested(json, in: pieces))
      case .reader:
        let bytes = LimitTests.nested(json, in: pieces).jsonBytes()
        try bytes.withUnsafeBufferPointer { buffer in
          var scanner = JSONScanner(buffer)
          _ = try NodeReader(at: .root).read(&scanner)
        }
      case .set: try carryOut(.set(Path(text), json))
      case .setBelow:
        let parent = try Path(pieces.first ?? "")
        try carryOut(.set(parent, LimitTests.nested(json, in: Array(pieces.dropFirst()))))
      case .update: try carryOut(.update(.root, [JSONMember(text, json)]))
      case .onDisconnect:
        var operations = OnDisconnect()
        try operations.update(.root, [JSONMember(text, json)])
      case .copy:
        // The last key comes with what is copied.
        let source = MemoryTree(
          try Node(json: ["s": LimitTests.nested(json, in: pieces.suffix(1))]))
        let target = try Path(pieces.dropLast().joined(separator: "/"))
        _ = try Write.copy(from: Path("s"), to: target).assignments(now: 0, reader: source)
      }
    }

    private func carryOut(_ write: Write) throws {
      _ = try write.assignments(now: 0, reader: MemoryTree())
    }
  }

  private static func nested(_ json: JSONValue, in names: [String]) -> JSONValue {
    names.reversed().reduce(json) { .object([JSONMember($1, $0)]) }
  }

  private func text(_ count: Int) -> String { String(repeating: "k", count: count) }

  private func expectRefusal(
    _ code: TreeError.Code, _ way: Way, _ json: JSONValue, at path: String, says number: Int
  ) {
    let error = #expect(throws: TreeError.self) { try way.put(json, at: path) }
    #expect(error?.code == code)
    #expect(error?.message.contains(String(number)) == true)
  }

  @Test(arguments: Way.allCases)
  func aKeyHas768BytesAndNot769(way: Way) throws {
    // A copy stands below its target, which would make the path longer.
    if way == .copy { return }
    try way.put(1, at: text(768))
    try way.put(1, at: String(repeating: "\u{E9}", count: 384))
    expectRefusal(.invalidKey, way, 1, at: text(769), says: 769)
    expectRefusal(
      .invalidKey, way, 1, at: String(repeating: "\u{E9}", count: 384) + "k", says: 769)
  }

  @Test(arguments: Way.allCases)
  func aPathHas768BytesAndNot769(way: Way) throws {
    try way.put(1, at: text(383) + "/" + text(384))
    try way.put(1, at: "a/b/" + text(764))
    expectRefusal(.invalidPath, way, 1, at: text(384) + "/" + text(384), says: 769)
    expectRefusal(.invalidPath, way, 1, at: "a/b/" + text(765), says: 769)
  }

  @Test(arguments: Way.allCases)
  func aPlaceIs32LevelsDeepAndNot33(way: Way) throws {
    let path = String(repeating: "/k", count: 32)
    try way.put(1, at: path)
    expectRefusal(.invalidPath, way, 1, at: path + "/k", says: 33)
    // The value may bring the last level.
    if way != .onDisconnect {
      expectRefusal(.invalidPath, way, ["k": 1], at: path, says: 33)
      expectRefusal(.invalidPath, way, [1], at: path, says: 33)
    }
  }

  @Test(arguments: Way.allCases)
  func aStringHas10MiBAndNotOneByteMore(way: Way) throws {
    let longest = String(repeating: "x", count: TreeLimits.stringBytesMax - 2) + "\u{E9}"
    try way.put(.string(longest), at: "a/b")
    expectRefusal(
      .invalidValue, way, .string(longest + "x"), at: "a/b", says: TreeLimits.stringBytesMax + 1)
  }

  @Test func aPushedKeyFitsItsPlaceOrNot() throws {
    var generator = PushIDGenerator()
    var random = SeededRandom(seed: 1)
    let key = generator.next(now: 1, random: &random)
    #expect(try Path(text(747)).child(key).keys.count == 2)
    #expect(throws: TreeError.self) { try Path(text(748)).child(key) }
    #expect(try Path(String(repeating: "/k", count: 31)).child(key).keys.count == 32)
    #expect(throws: TreeError.self) { try Path(String(repeating: "/k", count: 32)).child(key) }
  }

  // MARK: Many children

  /// 100,000 children, or as many as a long run asks for.
  static let childCount = LongRun.children ?? 100_000

  @Test func aNodeOfManyChildrenIsReadChangedAndWritten() throws {
    let count = LimitTests.childCount
    var text = "{"
    for index in 1..<count { text += "\"\(index)\":\(index)," }
    text += "\"last\":true,\"0\":0}"
    let bytes = Array(text.utf8)
    let node = try bytes.withUnsafeBufferPointer { buffer in
      var scanner = JSONScanner(buffer)
      return try #require(try NodeReader(at: .root).read(&scanner))
    }
    #expect(node.children.count == count + 1)
    #expect(node.children.first?.key.text == "0")
    #expect(node.children.last?.key.text == "last")
    #expect(try node[Key("7919")].leaf == .number(7919))

    let changed = node.replacing(try Path("5"), with: .empty).replacing(
      try Path("x/y"), with: Node(.bool(true)))
    #expect(changed.children.count == count + 1)
    #expect(node.differences(to: changed).map(\.path.description) == ["/5", "/x"])

    var writer = JSONWriter()
    changed.writeExport(to: &writer)
    #expect(writer.bytes.count > count * 4)
    let window = RowSlice(index: .key, limit: Query.Limit(count: 2, side: .last))
    #expect(window.rows(among: changed.children, detail: .full).map(\.key.text) == ["last", "x"])
  }
}
