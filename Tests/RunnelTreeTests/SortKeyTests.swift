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
    "$key", "$key:desc", #"a\,b,c\\d:desc"#, "x:desc:asc", "x:asc:asc", "x:asc:desc", "a:b", "é,日本",
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
