import RunnelBase
import RunnelSync
import RunnelTree
import Testing

@testable import RunnelClient

/// What is read from a server by HTTP beside the connection: keys without what stands below them.
@Suite struct OriginReaderTests {
  private func reader(_ server: TestServer, _ access: OriginAccess = .nobody) throws -> OriginReader
  {
    let address = try OriginAddress("http://localhost:\(server.port)/chat?ns=test")
    return try #require(OriginReader(address, as: access, OriginOptions(environment: [:])))
  }

  private func keys(_ numbers: Range<Int>) -> [Key] {
    numbers.map { Key(unchecked: "k\(1000 + $0)") }
  }

  @Test func levelIsReadPageByPageInTheOrderOfTheKeys() async throws {
    try await withServer { server in
      let members = (0..<25).map { "\"k\(1000 + $0)\":{\"text\":\"\($0)\"}" }.joined(separator: ",")
      _ = try server.request("PUT", "/log.json?ns=test", "{\(members)}")
      let reader = try reader(server)
      let log = try Path("/log")
      #expect(try await reader.level(of: log, limit: 10) == .keys(keys(0..<10), hasMore: true))
      let second = try await reader.level(of: log, after: Key("k1009"), limit: 10)
      #expect(second == .keys(keys(10..<20), hasMore: true))
      let last = try await reader.level(of: log, after: Key("k1019"), limit: 10)
      #expect(last == .keys(keys(20..<25), hasMore: false))
      #expect(try await reader.level(of: log, after: Key("k1024"), limit: 10) == .empty)
      #expect(try await reader.level(of: .root, limit: 10) == .keys([Key("log")], hasMore: false))
    }
  }

  @Test func keysThatReadAsOtherValuesBeginAPageToo() async throws {
    try await withServer { server in
      let names = ["1", "2", "10", "1,2", "a b", "null", "true", "é"]
      let members = names.map { "\"\($0)\":1" }.joined(separator: ",")
      _ = try server.request("PUT", "/odd.json?ns=test", "{\(members)}")
      let reader = try reader(server)
      var found: [Key] = []
      for _ in 0...names.count {
        let level = try await reader.level(of: Path("/odd"), after: found.last, limit: 1)
        guard case .keys(let keys, let hasMore) = level else { break }
        found += keys
        if !hasMore { break }
      }
      #expect(found == (try names.map { try Key($0) }).sorted())
    }
  }

  @Test func placeIsSeenWithoutWhatStandsBelow() async throws {
    try await withServer { server in
      let long = String(repeating: "x", count: 2 * OriginReader.glanceBytesMax)
      let many = (0..<5000).map { "\"k\(1000 + $0)\":1" }.joined(separator: ",")
      _ = try server.request(
        "PUT", "/p.json?ns=test",
        "{\"n\":7,\"t\":true,\"o\":{\"a\":{\"b\":1},\"c\":2},\"long\":\"\(long)\",\"many\":{\(many)}}"
      )
      let reader = try reader(server)
      #expect(try await reader.glance(at: Path("/p/n")) == .value(7))
      #expect(try await reader.glance(at: Path("/p/t")) == .value(true))
      #expect(try await reader.glance(at: Path("/p/o")) == .keys(2, isAll: true))
      #expect(try await reader.glance(at: Path("/p/long")) == .value(nil))
      #expect(try await reader.glance(at: Path("/p/none")) == .empty)
      guard case .keys(let count, isAll: false) = try await reader.glance(at: Path("/p/many"))
      else {
        Issue.record("5,000 keys are more than a glance reads")
        return
      }
      #expect(count > 100 && count < 5000)
      #expect(try await reader.level(of: Path("/p/n"), limit: 10) == .value(7))
    }
  }

  @Test func placeThatTheRulesForbidIsRefusedWithTheReason() async throws {
    let rules = #"{"rules":{"open":{".read":true}}}"#
    try await withServer(rules: rules) { server in
      let reader = try reader(server)
      #expect(try await reader.level(of: Path("/open"), limit: 10) == .empty)
      let refusal = await #expect(throws: OriginReadFailure.self) {
        try await reader.level(of: Path("/shut"), limit: 10)
      }
      #expect(refusal?.cause == .forbidden)
      let hidden = await #expect(throws: OriginReadFailure.self) { try await reader.rules() }
      #expect(hidden?.cause == .forbidden)
      #expect(try await reader.ruledIdentity() == JSONValue.null)
    }
  }

  @Test func administratorReadsTheRules() async throws {
    let rules = #"{"rules":{"open":{".read":true}}}"#
    try await withServer(rules: rules) { server in
      let reader = try reader(server, .token("owner"))
      #expect(String(decoding: try await reader.rules(), as: UTF8.self).contains("open"))
      #expect(try await reader.ruledIdentity() == nil)
      #expect(try await reader.level(of: Path("/shut"), limit: 10) == .empty)
    }
  }

  @Test func serverThatIsGoneIsToldAsUnreachable() async throws {
    let server = try await TestServer()
    let reader = try reader(server)
    await server.stop()
    let failure = await #expect(throws: OriginReadFailure.self) {
      try await reader.level(of: .root, limit: 10)
    }
    #expect(failure?.cause == .unreachable)
  }
}
