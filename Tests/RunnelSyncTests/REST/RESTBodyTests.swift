import RunnelSync
import TestSupport
import Testing

/// What the head of a request says of its body.
@Suite struct RESTBodyTests {
  private static let tooLarge = "exceeds the maximum size"

  private func isRefusedAtHead(_ method: String, length: Int) -> Bool {
    var limits = RESTExchange.Limits()
    limits.writeBytesMax = 20
    let head = RESTRequest.Header("Content-Length", "\(length)")
    var exchange = RESTExchange(RESTRequest(method, "/n.json", headers: [head]), limits: limits)
    _ = exchange.begin(now: WireTime(calendar: 0, uptime: 0))
    return exchange.isEnded
  }

  @Test(arguments: ["PUT", "POST", "PATCH"])
  func bodyThatIsTooLargeByItsHeadIsRefusedBeforeItArrives(method: String) throws {
    #expect(isRefusedAtHead(method, length: 21))
    #expect(!isRefusedAtHead(method, length: 20))
    var world = try RESTWorld()
    world.limits.writeBytesMax = 20
    let answer = world.ask(method, "/n.json", nil, ["Content-Length": "21"])
    #expect(answer.status == 400 && answer.body.contains(RESTBodyTests.tooLarge))
    #expect(world.reached == [.writeBytes])
  }

  @Test func largePutOfAnAdministratorHasItsOwnLimit() throws {
    var world = try RESTWorld()
    world.limits.writeBytesMax = 20
    world.limits.spoolBytesMin = 20
    world.limits.spoolBytesMax = 100
    let value = "\"" + String(repeating: "x", count: 98) + "\""
    let small = world.ask(
      "PUT", "/n.json", value, ["Authorization": "Bearer owner", "Content-Length": "100"])
    #expect(small.status == 200 && world.spooled == 100)
    let large = world.ask(
      "PUT", "/n.json", nil, ["Authorization": "Bearer owner", "Content-Length": "101"])
    #expect(large.status == 400 && large.body.contains(RESTBodyTests.tooLarge))
    #expect(world.reached == [.importBytes])
  }

  /// The size from which it is kept in a file is no limit, and that of others' writes is not either.
  @Test func putOfAnAdministratorIsNotLimitedAsThatOfOthers() throws {
    var world = try RESTWorld()
    (world.limits.writeBytesMax, world.limits.spoolBytesMin) = (20, 50)
    let owner: KeyValuePairs = ["Authorization": "Bearer owner"]
    let declared: KeyValuePairs = ["Authorization": "Bearer owner", "Content-Length": "32"]
    let value = "\"" + String(repeating: "x", count: 30) + "\""
    #expect(world.ask("PUT", "/n.json", value, declared).status == 200)
    #expect(world.ask("PUT", "/n.json", value, owner).status == 200)
    #expect(world.spooled == 0)
    #expect(world.ask("PUT", "/n.json", value, ["Content-Length": "32"]).status == 400)
    #expect(world.ask("POST", "/n.json", value, owner).status == 400)
    #expect(world.reached == [.writeBytes, .writeBytes])
    world.limits.spoolBytesMax = 31
    let answer = world.ask("PUT", "/n.json", value, owner)
    #expect(answer.status == 400)
    #expect(answer.body.contains("has 31 bytes at most (--max-import)"))
    #expect(world.reached.last == .importBytes)
  }

  @Test(arguments: ["PUT", "POST", "PATCH"])
  func compressedBodyIsRefused(method: String) throws {
    var world = try RESTWorld()
    let answer = world.ask(method, "/n.json", "{\"a\":1}", ["Content-Encoding": "gzip"])
    #expect(answer.status == 415)
    #expect(answer.body.contains("Content-Encoding"))
    #expect(world.ask("GET", "/n.json").body == "null")
    let plain = world.ask(method, "/n.json", "{\"a\":1}", ["Content-Encoding": "identity"])
    #expect(plain.status == 200)
  }
}
