import RunnelBase
import RunnelClient
import RunnelDatabase
import RunnelServer
import RunnelTree
import Testing

/// Writes on replicas of a real server that are done only if a place is as it was read.
@Suite(.timeLimit(.minutes(2))) struct ClientConditionTests {
  private let place: ReplicaPlace

  init() throws { place = try ReplicaPlace() }

  private func expectChanged(_ receipt: WriteReceipt) async {
    let error = await #expect(throws: DatabaseError.self) { try await receipt.acknowledgement() }
    #expect(error?.code == .changed)
  }

  @Test func whatOthersWroteIsNotOverwritten() async throws {
    try await withServer { server in
      _ = try server.request("PUT", "/form.json", "{\"text\":\"old\"}")
      let database = try await place.connect(port: server.port)
      try await database.waitUntilLive()
      let form = try database.reference(withPath: "form")
      let seen = try await form.get()
      _ = try server.request("PUT", "/form.json", "{\"text\":\"theirs\"}")
      await expectChanged(try await form.setValue(["text": "mine"], ifUnchangedSince: seen))
      #expect(try server.value("/form/text") == "\"theirs\"")
      #expect(try await form.get(from: .cache).value == ["text": "theirs"])
      #expect(try await database.pendingWrites().isEmpty)
      let read = try await form.get()
      let receipt = try await form.updateChildValues(["by": "me"], ifUnchangedSince: read)
      try await receipt.acknowledgement()
      #expect(try json(server.value("/form")) == ["by": "me", "text": "theirs"])
      database.close()
    }
  }

  /// Nobody listens, so the replica does not hear of what others write: as on a link that lags.
  @Test func severalPlacesAreComparedEachByItself() async throws {
    try await withServer { server in
      _ = try server.request("PUT", "/form.json", "{\"a\":1,\"b\":2,\"c\":3}")
      let database = try await place.connect(port: server.port)
      try await database.waitUntilLive()
      let form = try database.reference(withPath: "form")
      _ = try await form.get()
      _ = try server.request("PUT", "/form/a.json", "7")
      let (a, b) = (try Path("/form/a"), try Path("/form/b"))
      let write = Write.update(try Path("/form"), [JSONMember("a", 10), JSONMember("b", 20)])
      await expectChanged(
        try await database.perform(write, ifHere: [WriteCondition(a, 1), WriteCondition(b, 2)]))
      #expect(try json(server.value("/form")) == ["a": 7, "b": 2, "c": 3])
      // What stands there was told with the refusal.
      #expect(try await form.get(from: .cache).value == ["a": 7, "b": 2, "c": 3])
      // Another field is none that is replaced.
      _ = try server.request("PUT", "/form/c.json", "8")
      let receipt = try await database.perform(
        write, ifHere: [WriteCondition(a, 7), WriteCondition(b, 2)])
      try await receipt.acknowledgement()
      #expect(try json(server.value("/form")) == ["a": 10, "b": 20, "c": 8])
      database.close()
    }
  }

  @Test(arguments: [false, true])
  func aWriteWithoutAConnectionIsComparedLater(isChanged: Bool) async throws {
    try await withServer { server in
      _ = try server.request("PUT", "/form.json", "{\"text\":\"old\"}")
      var database = try await place.connect(port: server.port)
      try await database.waitUntilLive()
      let seen = try await database.reference(withPath: "form").get()
      try await database.goOffline()
      _ = try await database.reference(withPath: "form")
        .setValue(["text": "mine"], ifUnchangedSince: seen)
      database.close()
      if isChanged { _ = try server.request("PUT", "/form/text.json", "\"theirs\"") }
      database = try await place.connect(port: server.port)
      // Writes are answered in their order.
      try await database.reference(withPath: "other").setValue(1).acknowledgement()
      #expect(try await database.pendingWrites().isEmpty)
      let text = isChanged ? "theirs" : "mine"
      #expect(try server.value("/form/text") == "\"\(text)\"")
      let shown = try await database.reference(withPath: "form").get(from: .cache)
      #expect(shown.value == ["text": .string(text)])
      database.close()
    }
  }

  /// Each is made upon the one before, so one that was done, and is sent again, must not be refused.
  @Test func cutConnectionsRefuseNothing() async throws {
    let seed = UInt64.random(in: 0...(.max))
    var random = SeededRandom(seed: seed)
    try await withServer { server in
      let proxy = try await CuttingProxy.start(to: server.port)
      let database = try await place.connect(port: proxy.port)
      try await database.waitUntilLive()
      let count = try database.reference(withPath: "count")
      var receipts: [WriteReceipt] = []
      for number in 1...50 {
        let seen = try await count.get(from: .cache)
        receipts.append(
          try await count.setValue(
            .number(JSONNumber(Int64(number))), ifUnchangedSince: seen))
        if Int.random(in: 0..<10, using: &random) == 0 { proxy.cut() }
      }
      for receipt in receipts {
        do { try await receipt.acknowledgement() } catch { Issue.record("\(error), seed \(seed)") }
      }
      #expect(try server.value("/count") == "50", "seed \(seed)")
      database.close()
      await proxy.stop()
    }
  }
}
