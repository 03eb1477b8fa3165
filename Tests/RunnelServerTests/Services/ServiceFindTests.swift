import RunnelBase
import RunnelServer
import RunnelServices
import TestSupport
import Testing

/// What `find` reads: an index serves conditions and orders, and answers as if all had been read.
///
/// Source: services protocol, sections 3.3 and 12.
@Suite struct ServiceFindTests {
  private static let rules = """
    {"rules":{".read":true,".write":true,"indexed":{".indexOn":["a","b"]}}}
    """
  private static let idField = "id"

  private func withServices(
    readMax: Int? = nil, _ body: (TestServer) async throws -> Void
  ) async throws {
    try await withServer(rules: ServiceFindTests.rules) { configuration in
      configuration.isEmulator = true
      let texts = ["indexed,multi", "plain,multi"]
      configuration.services.collections = texts.compactMap { try? ServedCollection($0) }
      if let readMax { configuration.tree.serviceReadBytesMax = readMax }
    } _: { server in
      try await body(server)
    }
  }

  // MARK: Records and queries by chance

  private struct Chance {
    var random: SeededRandom

    mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

    mutating func scalar() -> JSONValue {
      switch number(0..<9) {
      case 0: .null
      case 1: .bool(number(0..<2) == 0)
      case 2, 3: .string(["", "2", "a", "b", "é", "😀", "\u{FFFD}"][number(0..<7)])
      default: .number(JSONNumber(Int64(number(-2..<4))))
      }
    }

    mutating func value() -> JSONValue {
      switch number(0..<12) {
      case 0: .array((0..<number(0..<3)).map { _ in scalar() })
      case 1: .object([JSONMember("x", scalar())])
      default: scalar()
      }
    }

    mutating func record(_ index: Int) -> JSONValue {
      var members = [JSONMember("id", .string("k\(index)"))]
      for name in ["a", "b", "c"] where number(0..<6) > 0 {
        members.append(JSONMember(name, value()))
      }
      return .object(members)
    }

    mutating func condition() -> JSONValue {
      switch number(0..<5) {
      case 0: return ["$in": .array((0..<number(1..<4)).map { _ in scalar() })]
      case 1, 2:
        let names = ["$gt", "$gte", "$lt", "$lte"]
        var members = [JSONMember(names[number(0..<4)], scalar())]
        let other = names[number(0..<4)]
        if members[0].name != other { members.append(JSONMember(other, scalar())) }
        return .object(members)
      case 3: return ["$ne": scalar()]
      default: return value()
      }
    }

    mutating func query() -> ServiceQuery {
      var query = ServiceQuery()
      for name in ["a", "b", "c"] where number(0..<3) == 0 { query[name] = condition() }
      if number(0..<8) == 0 {
        // The last ids are those of no record.
        let ids = (0..<number(1..<4)).map { _ in JSONValue.string("k\(number(1000..<1450))") }
        query["id"] = ids.count == 1 ? ids[0] : ["$in": .array(ids)]
      }
      if number(0..<6) == 0 { query["$or"] = [["a": condition()], ["c": condition()]] }
      if number(0..<3) > 0 {
        var sort = [JSONMember(["a", "b"][number(0..<2)], number(0..<2) == 0 ? 1 : -1)]
        if number(0..<4) == 0 { sort.append(JSONMember("c", -1)) }
        if number(0..<3) == 0 { sort = [] }
        if number(0..<2) == 0 { sort.append(JSONMember("id", number(0..<2) == 0 ? 1 : -1)) }
        query["$sort"] = .object(sort)
      }
      if number(0..<3) > 0 { query["$limit"] = .number(JSONNumber(Int64(number(0..<9)))) }
      if number(0..<3) == 0 { query["$skip"] = .number(JSONNumber(Int64(number(0..<150)))) }
      return query
    }
  }

  private static let rulesOfQueries = QueryRules(
    operators: ["$and"], pages: PageRules(standard: 10, max: 50))

  /// The answer by the definition: all records are matched, sorted and cut.
  private static func expected(
    _ query: ServiceQuery, _ records: [JSONValue]
  ) throws -> JSONValue {
    let reading = try QueryReading(query, rules: rulesOfQueries)
    return try reading.answer(over: records, idField: idField, isPaged: true)
  }

  private static func sorted(_ value: JSONValue) -> JSONValue {
    switch value {
    case .array(let elements): .array(elements.map(sorted))
    case .object(let members):
      .object(members.map { JSONMember($0.name, sorted($0.value)) }.sorted { $0.name < $1.name })
    default: value
    }
  }

  @Test(arguments: [7, 8] as [UInt64])
  func anIndexAnswersAsIfAllHadBeenRead(seed: UInt64) async throws {
    try await withServices { server in
      var chance = Chance(random: SeededRandom(seed: seed))
      // As many as are not stored in one row; the keys are in this order.
      let records = (1000..<1400).map { chance.record($0) }
      let client = try SocketIOClient(server)
      for service in ["indexed", "plain"] {
        let made = try client.ask(["create", .string(service), .array(records)])
        #expect(made.array?.count == records.count)
      }
      var (pages, conditions) = (0, 0)
      for index in 0..<150 {
        let query = chance.query()
        let expected = ServiceFindTests.sorted(try ServiceFindTests.expected(query, records))
        for service in ["indexed", "plain"] {
          let answer = try client.ask(["find", .string(service), query.json])
          #expect(
            ServiceFindTests.sorted(answer) == expected,
            "seed \(seed), query \(index), \(service): \(query.json)")
        }
        if query.conditions.isEmpty { pages += 1 } else { conditions += 1 }
      }
      #expect(pages > 10 && conditions > 50, "both kinds were asked")
    }
  }

  @Test func textsOfAddressesAreReadAlikeWithAnIndexAndWithout() async throws {
    try await withServices { server in
      let client = try SocketIOClient(server)
      let records = (0..<300).map { number -> JSONValue in
        let two: JSONValue = number % 2 == 0 ? "2" : 2
        return [
          "id": JSONValue("k\(number)"), "a": JSONValue(number % 7),
          "b": JSONValue(number % 2 == 0),
          "c": JSONValue(number % 3), "mixed": two,
        ]
      }
      for service in ["indexed", "plain"] {
        _ = try client.ask(["create", .string(service), .array(records)])
        for (query, total) in [
          ("a=3", 43), ("a[$gt]=4", 85), ("b=true", 150), ("a=3&c=1", 14), ("mixed=2", 150),
          ("a=x", 0), ("a[$in][]=3&a[$in][]=4", 86), ("b=1", 0),
        ] {
          let answer = try server.request("GET", "/\(service)?\(query)&$limit=0")
          #expect(try JSONValue(parsing: answer.body)["total"]?.int == total, "\(service) \(query)")
        }
      }
    }
  }

  @Test func anIndexServesCollectionsThatAreTooLargeToBeRead() async throws {
    try await withServices(readMax: 20_000) { server in
      let client = try SocketIOClient(server)
      let text = String(repeating: "x", count: 300)
      for part in 0..<4 {
        let records: [JSONValue] = (0..<100).map { number in
          [
            "id": .string("k\(part * 100 + number)"), "text": .string(text),
            "a": .number(JSONNumber(Int64(number))),
          ]
        }
        for service in ["indexed", "plain"] {
          _ = try client.ask(["create", .string(service), .array(records)])
        }
      }
      for service in ["indexed", "plain"] {
        // Without a condition the total is known, and only the page is read.
        let page = try client.ask(["find", .string(service), ["$limit": 2]])
        #expect(page["total"]?.int == 400)
        #expect(page["data"]?.array?.count == 2)
        let count = try client.ask(["find", .string(service), ["$limit": 0, "$sort": ["text": 1]]])
        #expect(count["total"]?.int == 400)
      }
      let found = try client.ask(["find", "indexed", ["a": 7]])
      #expect(found["total"]?.int == 4)
      let newest = try client.ask(["find", "indexed", ["$sort": ["a": -1], "$limit": 3]])
      #expect(newest["data"]?.array?.compactMap { $0["id"]?.string } == ["k199", "k299", "k399"])
      let patched = try client.ask(["patch", "indexed", .null, ["done": true], ["a": 7]])
      #expect(patched.array?.count == 4)
      // The order of the workspace's pages, from either end.
      let last = try client.ask(["find", "indexed", ["$sort": ["a": -1, "id": -1], "$limit": 3]])
      #expect(last["data"]?.array?.compactMap { $0["id"]?.string } == ["k99", "k399", "k299"])
      for (direction, ids) in [(1, ["k0", "k1"]), (-1, ["k99", "k98"])] as [(JSONValue, [String])] {
        let page = try client.ask(["find", "plain", ["$sort": ["id": direction], "$limit": 2]])
        #expect(page["data"]?.array?.compactMap { $0["id"]?.string } == ids)
      }
      let named = try client.ask(["find", "plain", ["id": ["$in": ["k7", "k399"]], "a": 7]])
      #expect(named["data"]?.array?.compactMap { $0["id"]?.string } == ["k7"])
      for query in [["a": 7], ["$sort": ["a": 1]]] as [JSONValue] {
        let refused = try client.ask(["find", "plain", query])
        #expect(refused["code"]?.int == 400)
        let message = refused["message"]?.string ?? ""
        #expect(message.contains("more than 20000 bytes"), "\(message)")
        #expect(message.contains(".indexOn"), "\(message)")
      }
    }
  }

  @Test func recordIsFoundByAnIDThatIsNotItsKey() async throws {
    try await withServices { server in
      let client = try SocketIOClient(server)
      for (key, json) in [
        ("x", "{\"id\":17,\"a\":1}"), ("17", "{\"id\":4,\"a\":2}"), ("b", "{\"a\":3}"),
      ] {
        let answer = try server.request("PUT", "/plain/\(key).json", json)
        #expect(answer.status == 200)
      }
      for (id, value) in [(17, 1), (4, 2), ("b", 3)] as [(JSONValue, Int)] {
        let found = try client.ask(["find", "plain", ["id": id]])
        #expect(found["data"]?.array?.map { $0["a"]?.int } == [value])
      }
      // The ids are not the keys, so the order is that of the ids.
      let page = try client.ask(["find", "plain", ["$sort": ["id": 1]]])
      #expect(page["data"]?.array?.map { $0["a"]?.int } == [2, 1, 3])
    }
  }
}
