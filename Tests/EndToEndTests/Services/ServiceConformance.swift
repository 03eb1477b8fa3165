import RunnelBase
import RunnelServices
import Synchronization
import Testing

/// What every provider has to do, whatever carries its calls.
struct ServiceConformance {
  let app: Feathers
  /// False if the values of queries arrive as texts.
  let isTyped: Bool
  private let messages: ServiceHandle

  init(_ app: Feathers, isTyped: Bool) {
    (self.app, self.isTyped) = (app, isTyped)
    messages = app.service("messages")
  }

  func checkAll() async throws {
    try await checkRecords()
    try await checkPages()
    try await checkQueries()
    try await checkSeveral()
    try await checkErrors()
    try await checkEmptyAndLongLists()
    try await checkCustomMethods()
    try await checkEvents()
    try await checkLiveList()
    try await checkAuthentication()
    try await checkManyAtOnce()
  }

  private func expect(
    _ code: Int, _ message: String? = nil, location: SourceLocation = #_sourceLocation,
    _ call: () async throws(FeathersError) -> some Any
  ) async {
    do throws(FeathersError) {
      let result = try await call()
      Issue.record("the call succeeded: \(result)", sourceLocation: location)
    } catch {
      #expect(error.code == code, "\(error)", sourceLocation: location)
      if let message { #expect(error.message == message, sourceLocation: location) }
    }
  }

  private func numbers(_ result: ServiceResult) -> [Int] {
    result.records.compactMap { $0["n"]?.int }
  }

  private func clear() async throws { try await messages.remove(nil) }

  private func checkRecords() async throws {
    let made = try await messages.create(["text": "a", "n": 1, "read": false])
    #expect(made["id"]?.int == 0)
    #expect(made == ["text": "a", "n": 1, "read": false, "id": 0])
    let id = try #require(made["id"].flatMap { ServiceID(json: $0) })
    #expect(try await messages.get(id) == made)
    #expect(
      try await messages.patch(id, ["n": 2]) == ["text": "a", "n": 2, "read": false, "id": 0])
    let replaced = try await messages.update(id, ["x": 1])
    #expect(replaced == ["x": 1, "id": 0])
    #expect(try await messages.remove(id) == replaced)
    await expect(404, "No record found for id '0'") { () throws(FeathersError) in
      try await messages.get(id)
    }
    // Texts that have a meaning in addresses, and those that JSON escapes.
    let text = "Zoë & co+1 😀 \"%41\"\n"
    try await messages.create(["id": "a@b:c", "text": .string(text)])
    #expect(try await messages.get("a@b:c")["text"] == .string(text))
    #expect(try await messages.find(ServiceQuery().eq("text", .string(text))).records.count == 1)
    try await clear()
  }

  private func checkPages() async throws {
    try await messages.create(.array([1, 2, 10].map { ["n": .number($0)] }))
    let page = try await messages.find(ServiceQuery().sort("n", .descending).limit(1).skip(1))
    #expect(numbers(page) == [2])
    #expect(page.page?.total == 3 && page.page?.limit == 1 && page.page?.skip == 1)
    let count = try await messages.find(["$limit": 0])
    #expect(count.page?.total == 3 && count.records == [])
    #expect(try await messages.find(["$limit": 999]).page?.limit == 50)
    #expect(try await messages.find(["$limit": "abc"]).page?.limit == 10)
    #expect(try await app.service("plain").find().page == nil)
    try await clear()
  }

  private func checkQueries() async throws {
    try await messages.create(
      .array((1...5).map { ["n": .number($0), "kind": $0 < 3 ? "low" : "high"] }))
    let sorted = ServiceQuery().sort("kind").sort("n", .descending)
    #expect(numbers(try await messages.find(sorted)) == [5, 4, 3, 2, 1])
    #expect(numbers(try await messages.find(ServiceQuery().ne("kind", "low"))) == [3, 4, 5])
    let either = ServiceQuery().or(["kind": "low"], ["kind": ["$in": ["none", "high"]]])
    #expect(numbers(try await messages.find(either)).count == 5)
    let some = try await messages.find(["$select": ["n"], "kind": "low"])
    #expect(some.records.allSatisfy { $0["kind"] == nil && $0["id"] != nil && $0["n"] != nil })
    // Over REST a number is a text, which equals no number.
    let typed = try await messages.find(["n": ["$gt": 2, "$lte": 4]])
    #expect(numbers(typed) == (isTyped ? [3, 4] : []))
    await expect(400, "Invalid filter value $foo") { () throws(FeathersError) in
      try await messages.find(["$foo": 1])
    }
    if isTyped {
      #expect(try await messages.find(["none": nil]).records.count == 5)
    } else {
      await expect(400) { () throws(FeathersError) in try await messages.find(["none": nil]) }
    }
    try await clear()
  }

  private func checkSeveral() async throws {
    let made = try await messages.create([["text": "a"], ["text": "b"], ["text": "b"]])
    #expect(made.array?.count == 3)
    let changed = try await messages.patch(nil, ["flag": 1], ["text": "b"])
    #expect(changed.array?.count == 2)
    #expect(changed.array?.allSatisfy { $0["flag"] == 1 } == true)
    await expect(400, "You can not replace multiple instances. Did you mean 'patch'?") {
      () throws(FeathersError) in try await messages.update(nil, ["x": 1])
    }
    #expect(try await messages.remove(nil, ["text": "b"]).array?.count == 2)
    await expect(405, "Can not create multiple entries") { () throws(FeathersError) in
      try await app.service("plain").create([["a": 1]])
    }
    try await clear()
  }

  private func checkErrors() async throws {
    do throws(FeathersError) {
      try await messages.create(["text": "bad"])
      Issue.record("the call succeeded")
    } catch {
      #expect(
        error == FeathersError(.badRequest, "bad thing", data: ["hint": 1], errors: ["text": "bad"])
      )
    }
    await expect(404) { () throws(FeathersError) in try await app.service("nosuch").find() }
    await expect(404) { () throws(FeathersError) in try await messages.get("none") }
    // A record that does not match the query is not found: the lever of conditional writes.
    let made = try await messages.create(["text": "a"])
    let id = made["id"].flatMap { ServiceID(json: $0) }
    await expect(404) { () throws(FeathersError) in
      try await messages.patch(id, ["text": "c"], ["text": "b"])
    }
    #expect(try await messages.patch(id, ["text": "c"], ["text": "a"])["text"] == "c")
    try await clear()
  }

  /// Cases 7 and 8.
  private func checkEmptyAndLongLists() async throws {
    let names = (0..<21).map { JSONValue.string("k\($0)") }
    try await messages.create(.array(names.prefix(6).map { ["key": $0] } + [["key": "other"]]))
    #expect(try await messages.find(["key": ["$in": []]]).records == [])
    #expect(try await messages.remove(nil, ["key": ["$in": []]]) == [])
    #expect(try await messages.find(["$limit": 0]).page?.total == 7)
    let long = ServiceQuery().in("key", names)
    #expect(try await messages.find(long).records.count == 6)
    if isTyped {
      #expect(try await messages.find(long.sort("key").limit(2)).records.count == 2)
    } else {
      await expect(400) { () throws(FeathersError) in
        try await messages.find(long.sort("key").limit(2))
      }
    }
    try await clear()
  }

  private func checkCustomMethods() async throws {
    let answer = try await messages.call("archive", ["a": 1], ["q": "1"])
    #expect(answer == ["archived": ["a": 1], "query": ["q": "1"]])
    #expect(try await messages.call("archive", [:]) == .null)
    await expect(405) { () throws(FeathersError) in
      try await app.service("plain").call("archive", ["a": 1])
    }
  }

  private func checkEvents() async throws {
    let seen = Mutex<[String]>([])
    let listeners = [ServiceEvent.created, .patched, .updated, .removed].map { event in
      messages.on(event) { record in
        seen.withLock { $0.append("\(record.event.rawValue) \(record.data["text"] ?? .null)") }
      }
    }
    defer { listeners.forEach { messages.off($0) } }
    let made = try await messages.create(["text": "one"])
    // The event of a call comes before its answer.
    #expect(seen.withLock(\.count) == 1)
    let id = made["id"].flatMap { ServiceID(json: $0) }
    try await messages.patch(id, ["text": "two"])
    try await messages.update(id, ["text": "three"])
    messages.off(listeners[1])
    try await messages.patch(id, ["text": "four"])
    try await messages.create([["text": "five"], ["text": "six"]])
    try await messages.remove(nil, ["text": "six"])
    let expected = [
      "created one", "patched two", "updated three", "created five", "created six",
      "removed six",
    ].map { text in
      let words = text.split(separator: " ")
      return "\(words[0]) \(JSONValue.string(String(words[1])))"
    }
    #expect(seen.withLock { $0 } == expected)
    try await clear()
  }

  /// A list that is kept current by the events of the calls.
  private func checkLiveList() async throws {
    try await messages.create(.array([1, 3, 5, 7].map { ["n": .number($0)] }))
    let live = try messages.live(ServiceQuery().sort("n").limit(3), mode: .page)
    defer { live.end() }
    try await wait(for: live, [1, 3, 5], total: 4)
    let made = try await messages.create(["n": 2])
    try await wait(for: live, [1, 2, 3], total: 5)
    // What is behind the last row only the server knows.
    try await messages.remove(made["id"].flatMap { ServiceID(json: $0) })
    if isTyped { try await wait(for: live, [1, 3, 5], total: 4) }
    try await clear()
    try await wait(for: live, [], total: 0)
  }

  private func wait(for live: LiveFind, _ numbers: [Int], total: Int) async throws {
    let isThere = try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask {
        for await list in live.lists
        where list.rows.compactMap({ $0["n"]?.int }) == numbers && list.total == total {
          return true
        }
        return false
      }
      group.addTask {
        try await Task.sleep(for: .seconds(20))
        return false
      }
      defer { group.cancelAll() }
      return try await group.next() ?? false
    }
    #expect(isThere, "\(live.list.rows), \(live.list.total ?? -1)")
  }

  private func checkAuthentication() async throws {
    let secret = app.service("secret")
    await expect(401, "Not authenticated") { () throws(FeathersError) in try await secret.find() }
    await expect(401, "Invalid login") { () throws(FeathersError) in
      try await app.authenticate(["strategy": "local", "email": "a@b.c", "password": "no"])
    }
    let answer = try await app.authenticate([
      "strategy": "local", "email": "a@b.c", "password": "pw",
    ])
    #expect(answer["user"]?["email"] == "a@b.c")
    #expect(app.authentication.token == answer["accessToken"]?.string)
    guard case .signedIn(let user, _) = app.authentication.state else {
      Issue.record("\(app.authentication.state)")
      return
    }
    #expect(user["id"] == 7)
    #expect(try await secret.find().records == [])
    try await app.reAuthenticate()
    await app.logout()
    #expect(app.authentication.state == .signedOut && app.authentication.token == nil)
    await expect(401) { () throws(FeathersError) in try await secret.find() }
  }

  private func checkManyAtOnce() async throws {
    let messages = messages
    try await withThrowingTaskGroup(of: (Int, JSONValue).self) { group in
      for number in 0..<40 {
        group.addTask { (number, try await messages.create(["n": .number(number)])) }
      }
      for try await (number, record) in group { #expect(record["n"]?.int == number) }
    }
    #expect(try await messages.find(["$limit": 0]).page?.total == 40)
    try await clear()
  }
}

extension JSONValue {
  fileprivate static func number(_ number: Int) -> JSONValue { .number(JSONNumber(Int64(number))) }
}
