import RunnelBase
import RunnelSync
import RunnelTree
import Testing

@Suite struct OriginAddressTests {
  @Test(arguments: [
    ("https://a.example/?ns=chat", "https://a.example/?ns=chat", "chat"),
    ("HTTPS://Chat.Example:443", "https://chat.example/", "chat"),
    ("http://localhost:9000/?ns=x-1_y", "http://localhost:9000/?ns=x-1_y", "x-1_y"),
    ("http://[::1]:80/", "http://[::1]/", "[::1]"), ("http://a:8/b#c", "http://a:8/", "a"),
    ("feathers+http://127.0.0.1:3030", "feathers+http://127.0.0.1:3030/", "127.0.0.1:3030"),
    ("http://10.0.0.1/?ns=a", "http://10.0.0.1/?ns=a", "a"),
  ])
  func anAddressIsRead(text: String, name: String, title: String) throws {
    let address = try OriginAddress(text)
    #expect(address.name == name)
    #expect(address.title == title)
  }

  @Test func thePathIsAPlace() throws {
    let address = try OriginAddress("https://a.example/users/%C3%B6%20x/?ns=n")
    #expect(address.place == (try Path("/users/ö x")))
    #expect(address.target(try Path("/y")) == "/users/%C3%B6%20x/y.json?ns=n")
    #expect(try OriginAddress("https://a.b").target(.root) == "/.json")
  }

  @Test func thePathMayStandUnencoded() throws {
    let address = try OriginAddress("http://localhost:9000/stände/am Markt?ns=fest")
    #expect(address.place == (try Path("/stände/am Markt")))
    #expect(address.namespace == "fest")
    #expect(address.target(.root) == "/st%C3%A4nde/am%20Markt.json?ns=fest")
  }

  @Test(arguments: [
    "", "a.example", "ftp://a/", "https://", "https://a:0/", "https://a:x/", "https://a b/",
    "https://ä/", "https://a/%ff", "https://a/a.b", "https://a/?ns=", "https://a/?ns=a/b",
    "https://a/?n=1", "https://a_b!/", "https://a/?ns=ä", "https://a/?ns=a b", "https://a/b\u{7}",
    "https://a/b\u{7f}", "https://a:٣/", "https://a/ä\n",
  ])
  func whatIsNoAddressIsSaid(text: String) {
    #expect(throws: TreeError.self) { try OriginAddress(text) }
  }

  @Test(arguments: [
    "https://me:hush@a/", "https://a/?auth=hush", "https://a/?ns=x&auth=hush",
    "https://a/?ns=hush!", "https://a/?hush=1", "https://a:hush/", "https://hush!/",
    "https://a b/?auth=hush", "https://a/hush.", "https://me:x/hush.@a/", "https://a/%ff?auth=hush",
  ])
  func secretsInAnAddressAreRefusedAndNotRepeated(text: String) {
    let error = #expect(throws: TreeError.self) { try OriginAddress(text) }
    #expect(error?.message.contains("hush") == false)
  }
}

@Suite struct QueryParametersTests {
  private func text(_ query: Query) throws -> String {
    try query.requestParameters().map { "\($0.name)=\($0.value)" }.joined(separator: "&")
  }

  @Test func queriesAreParameters() throws {
    let list = Query(try Path("/list"))
    #expect(try text(list) == "")
    #expect(try text(list.ordered(by: .key)) == "")
    let key = try list.ordered(by: .key).starting(at: .leaf(.string("a")))
    #expect(
      try text(key.limited(to: 2, from: .first)) == "orderBy=\"$key\"&startAt=\"a\"&limitToFirst=2")
    let height = try list.ordered(by: .child(try Path("h/x")))
    #expect(
      try text(height.starting(at: .leaf(.number(3)), isInclusive: false))
        == "orderBy=\"h/x\"&startAfter=3")
    #expect(
      try text(height.ending(at: .leaf(.bool(true)), key: Key("k"), isInclusive: true))
        == "orderBy=\"h/x\"&endAt=true,\"k\"")
    #expect(
      try text(height.equal(to: .null).limited(to: 1, from: .last))
        == "orderBy=\"h/x\"&startAt=null&endAt=null&limitToLast=1")
    #expect(
      try text(list.ordered(by: .value).ending(at: .leaf(.number(1)), isInclusive: false))
        == "orderBy=\"$value\"&endBefore=1")
  }

  @Test func whatServersHaveNoWordsForIsRefused() throws {
    let query = try Query(.root).ordered(by: SortKey.list("a:desc"))
    #expect(throws: TreeError.self) { try query.requestParameters() }
  }
}
