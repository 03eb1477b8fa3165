import RunnelTree
import Testing

@Suite struct SortKeyTests {
  private func code(_ text: String) -> TreeError.Code? {
    #expect(throws: TreeError.self) { try QueryIndex(SortKey.list(text)) }?.code
  }

  private func index(_ text: String) throws -> QueryIndex { try QueryIndex(SortKey.list(text)) }

  // MARK: Text

  @Test(arguments: [
    "created", "created:desc", "created:desc,likes", "a/b,$key:desc", "$value:desc", "$priority",
    "$key", "$key:desc", #"a\,b,c\\d:desc"#, "x:desc:asc", "x:asc:asc", "x:asc:desc", "a:b:asc",
    "é,日本", #"\ at:desc"#, #"p\ ,q r"#,
  ])
  func aListReadsBackFromItsText(text: String) throws {
    #expect(try SortKey.list(text).map(\.description).joined(separator: ",") == text)
  }

  @Test func aDirectionAndABackslashAreRead() throws {
    #expect(try SortKey.list("a:asc") == [SortKey(.child(Path("a")))])
    #expect(try SortKey.list("a:desc") == [SortKey(.child(Path("a")), isDescending: true)])
    #expect(try SortKey.list(#"a\,b"#) == [SortKey(.child(Path("a,b")))])
    #expect(
      try SortKey.list(#"a\\,b"#) == [SortKey(.child(Path(#"a\"#))), SortKey(.child(Path("b")))])
    #expect(try SortKey.list("x:desc:asc") == [SortKey(.child(Path("x:desc")))])
    #expect(try SortKey.list("/a//b/") == [SortKey(.child(Path("a/b")))])
  }

  @Test func blanksAroundACommaDoNotCount() throws {
    let keys = try SortKey.list("pinned:desc,at")
    for text in ["pinned:desc, at", " pinned:desc ,at ", "pinned:desc\t,\n at"] {
      #expect(try SortKey.list(text) == keys, "\(text)")
    }
    #expect(try SortKey.list("last name, at").map(\.description) == ["last name", "at"])
    #expect(try SortKey.list(#"\ at"#) == [SortKey(.child(Path(" at")))])
    #expect(try IndexDefinition("/p/$x", by: "pinned:desc, at").order == QueryIndex(keys))
    let nameless = #expect(throws: TreeError.self) { try IndexDefinition("/a/$/b", by: "at") }
    #expect(nameless?.code == .invalidKey && nameless?.message.contains("needs a name") == true)
  }

  @Test(arguments: [
    "pinned: desc,at", "pinned:DESC,at", "at:down", "at:", "a:b", "$key:down", "pinned :desc",
  ])
  func anUnknownDirectionIsRefused(text: String) {
    let error = #expect(throws: TreeError.self) { try SortKey.list(text) }
    #expect(error?.code == .invalidQuery)
    #expect(error?.message.contains(text.split(separator: ",")[0]) == true)
    #expect(throws: TreeError.self) { try IndexDefinition("/p/$x/", by: text) }
  }

  @Test func aColonThatABackslashPrecedesBelongsToTheName() throws {
    #expect(try SortKey.list(#"a\:b"#) == [SortKey(.child(Path("a:b")))])
    #expect(try SortKey.list("a:b:asc") == [SortKey(.child(Path("a:b")))])
  }

  @Test(arguments: [("#p:desc, at", " at"), ("#a:b,c:desc", "a:b"), ("#c:desc,at:down", "at:down")])
  func anOrderOfAnEarlierFileIsReadAsItWas(stored: String, name: String) throws {
    let definition = try IndexDefinition(pattern: "/p/$x", storedOrder: stored)
    #expect(definition.order.sortKeys.contains { $0.field.description == name })
    let again = try IndexDefinition(pattern: "/p/$x", storedOrder: definition.storedOrder)
    #expect(again == definition)
  }

  @Test func whatIsNoOrderIsRefused() {
    for text in ["", ",", "a,", ",a", "/", ":desc", "$keys", "$", "a,a", "a,b,a:desc", "$key,a"] {
      #expect(code(text) == .invalidQuery, "\(text)")
    }
    #expect(code("a.b") == .invalidKey)
    #expect(code(String(repeating: "a/", count: 33)) == .invalidPath)
    #expect(throws: TreeError.self) { try QueryIndex([]) }
    #expect(throws: TreeError.self) { try QueryIndex([SortKey(.child(.root))]) }
  }

  @Test func anOrderHasAtMostEightComponents() throws {
    let names = (0...SortKey.countMax).map { "f\($0)" }
    #expect(throws: Never.self) { try index(names.dropLast().joined(separator: ",")) }
    #expect(code(names.joined(separator: ",")) == .invalidQuery)
  }

  // MARK: Forms

  @Test func aSingleAscendingComponentIsThePlainIndex() throws {
    #expect(try index("a/b") == .child(Path("a/b")))
    #expect(try index("a/b,$key") == .child(Path("a/b")))
    #expect(try index("$value") == .value)
    #expect(try index("$priority,$key:asc") == .priority)
    #expect(try index("$key") == .key)
    #expect(try index("a,b,$key") == index("a,b"))
    #expect(try index("a:desc") != .child(Path("a")))
    let query = try Query(.root).ordered(by: SortKey.list("a"))
    #expect(try query == Query(.root).ordered(by: .child(Path("a"))))
    #expect(try query.starting(at: [.null]) == query.starting(at: .null))
  }

  @Test(arguments: [
    ("a", "a"), ("a:desc", "a:desc"), ("a:desc,$key:desc", "a"), ("a,$key:desc", "a:desc"),
    ("a:desc,b,$key:desc", "a,b:desc"), ("$key:desc", "$key"),
    ("$priority:desc,$key:desc", "$priority"),
  ])
  func anOrderWhoseKeyDescendsIsAnotherReadBackwards(text: String, forward: String) throws {
    #expect(try index(text).forward == index(forward))
    #expect(try index(forward).forward == index(forward))
    #expect(try index(text).description == text)
  }
}
