import Foundation
import Glibc
import RunnelBase
import RunnelClient
import RunnelDatabase
import RunnelServer
import RunnelSync
import RunnelTree
import Testing

/// Several databases on one replica, of which one holds the connection to the server.
@Suite(.timeLimit(.minutes(2))) struct ReplicaSharingTests {
  private let place: ReplicaPlace

  init() throws { place = try ReplicaPlace() }

  @Test func oneConnectsAndAnotherTakesOverWhenItEnds() async throws {
    try await withServer { server in
      let first = try await place.connect(port: server.port)
      try await first.waitUntilLive()
      let second = try await place.connect(port: server.port)
      _ = try await second.wait { $0.state == .elsewhere }
      let receipt = try await second.reference(withPath: "x").setValue(1)
      try await receipt.acknowledgement()
      #expect(try server.value("/x") == "1")
      first.close()
      try await second.waitUntilLive()
      try await second.reference(withPath: "x").setValue(2).acknowledgement()
      #expect(try server.value("/x") == "2")
      second.close()
    }
  }

  /// So nothing that the earlier program sent is done after what this one sends.
  @Test func theServerEndsTheSessionThatAnEarlierProgramHad() async throws {
    try await withServer { server in
      let first = try await place.connect(port: server.port, file: "first.db")
      try await first.waitUntilLive()
      let name = try #require(try SpeakerLock(database: place.file("first.db")).lastSession)
      try SpeakerLock(database: place.file("second.db")).noteSession(name)
      let second = try await place.connect(port: server.port, file: "second.db")
      _ = try await first.wait { !$0.isLive }
      first.close()
      second.close()
    }
  }

  @Test func theNameOfTheLastSessionIsReadAsItWasNoted() throws {
    let lock = try SpeakerLock(database: place.file())
    #expect(lock.lastSession == nil)
    lock.noteContact(isConnected: true)
    #expect(lock.lastSession == nil)
    for name in ["a", "abc", "b"] {
      lock.noteSession(name)
      lock.noteContact(isConnected: name == "a")
      #expect(lock.lastSession == name)
    }
    for name in ["", "a\nb"] {
      lock.noteSession(name)
      #expect(lock.lastSession == nil)
    }
  }

  /// An increment that was never sent is sent after a restart, whatever the origin knows of writes.
  @Test func theWriteThatMayHaveBeenSentLastIsNotedUntilTheNextConnection() throws {
    let lock = try SpeakerLock(database: place.file())
    lock.noteParting(newestWrite: 1)
    #expect(lock.newestSentWrite == nil)
    lock.noteSession("a")
    #expect(lock.newestSentWrite == nil)
    for id in [Int64.min, 7, 12] {
      lock.noteContact(isConnected: false)
      lock.noteParting(newestWrite: id)
      #expect(lock.newestSentWrite == id)
      #expect(lock.lastSession == "a")
    }
    lock.noteSession("b")
    #expect(lock.newestSentWrite == nil && lock.lastSession == "b")
  }

  @Test func onlyAHolderWithAConnectionIsConnected() throws {
    let file = place.file()
    #expect(!SpeakerLock.isConnected(database: file))
    let first = try SpeakerLock(database: file)
    #expect(first.take())
    first.noteStart()
    #expect(first.lastContact == nil)
    #expect(!SpeakerLock.isConnected(database: file))
    first.noteSession("a")
    #expect(!SpeakerLock.isConnected(database: file))
    first.noteContact(isConnected: true)
    first.noteSession("b")
    #expect(SpeakerLock.isConnected(database: file))
    first.noteContact(isConnected: false)
    #expect(!SpeakerLock.isConnected(database: file))
    #expect(first.lastSession == "b")
    // A holder that ended while it was connected.
    first.noteContact(isConnected: true)
    let contact = first.lastContact
    first.release()
    #expect(!SpeakerLock.isConnected(database: file))
    let second = try SpeakerLock(database: file)
    #expect(second.take())
    second.noteStart()
    #expect(!SpeakerLock.isConnected(database: file))
    #expect(second.lastContact == contact)
  }

  @Test func theConnectedOneRequestsTheListensOfTheOther() async throws {
    try await withServer { server in
      _ = try server.request("PUT", "/list.json", "{\"a\":1,\"b\":2,\"c\":3}")
      let first = try await place.connect(port: server.port)
      try await first.waitUntilLive()
      let second = try await place.connect(port: server.port)
      _ = try await second.wait { $0.state == .elsewhere }
      try await second.wait("list/a", for: 1)
      let last = try second.reference(withPath: "list").queryOrderedByKey()
        .queryLimited(toLast: 2)
      for try await snapshot in last.values where snapshot.value == ["b": 2, "c": 3] { break }
      _ = try server.request("PUT", "/list/a.json", "5")
      try await second.wait("list/a", for: 5)
      first.close()
      second.close()
    }
  }

  @Test func aRefusedListenIsReportedToItsListener() async throws {
    let rules = "{\"rules\":{\"open\":{\".read\":true}}}"
    try await withServer(rules: rules) { server in
      let first = try await place.connect(port: server.port)
      try await first.waitUntilLive()
      let second = try await place.connect(port: server.port)
      _ = try await second.wait { $0.state == .elsewhere }
      let error = await #expect(throws: DatabaseError.self) {
        for try await _ in try second.reference(withPath: "closed").values {}
      }
      #expect(error?.code.rawValue == "PERMISSION_DENIED")
      first.close()
      second.close()
    }
  }

  @Test func anotherTakesOverWhenTheConnectedProcessIsKilled() async throws {
    try await withServer { server in
      let (file, port) = (place.file(), server.port)
      let talking = Task {
        _ = await #expect(processExitsWith: .signal(SIGKILL)) {
          [file = file as String, port = port as Int] in
          try await ReplicaSharingTests.talkAndDie(file, port)
        }
      }
      let witness = try await place.connect(port: port, file: "witness.db")
      try await witness.wait("first", for: 1)
      let waiting = try await place.connect(port: port)
      _ = try await waiting.wait { $0.state == .elsewhere }
      try await waiting.reference(withPath: "second").setValue(2).acknowledgement()
      try await witness.reference(withPath: "end").setValue(true).acknowledgement()
      try await waiting.waitUntilLive()
      try await waiting.reference(withPath: "third").setValue(3).acknowledgement()
      #expect(try server.value("/second") == "2")
      #expect(try server.value("/third") == "3")
      await talking.value
      waiting.close()
      witness.close()
    }
  }

  /// A restored backup goes on from an older state: its writes are no repetitions of those made since.
  @Test func aReplicaRestoredFromAnOlderCopyLosesNoWrite() async throws {
    try await withServer { server in
      func write(_ values: [(String, Int)]) async throws {
        let database = try await place.connect(port: server.port)
        for (key, value) in values {
          let number = JSONValue.number(JSONNumber(Int64(value)))
          try await database.reference(withPath: key).setValue(number).acknowledgement()
        }
        database.close()
      }
      let names = ["replica.db", "replica.db-wal"]
      try await write([("a", 1)])
      let copy = names.map { FileManager.default.contents(atPath: place.file($0)) }
      try await write([("a", 11), ("b", 12), ("c", 13)])
      for name in try FileManager.default.contentsOfDirectory(atPath: place.folder) {
        try FileManager.default.removeItem(atPath: place.file(name))
      }
      for (name, data) in zip(names, copy) {
        try data?.write(to: URL(fileURLWithPath: place.file(name)))
      }
      try await write([("d", 21), ("e", 22), ("a", 23)])
      #expect(try server.value("/") == #"{"a":23,"b":12,"c":13,"d":21,"e":22}"#)
    }
  }

  private static func talkAndDie(_ file: String, _ port: Int) async throws {
    let database = try await Database.connect(
      to: "http://localhost:\(port)/?ns=test", file: file, options: ReplicaPlace.options)
    try await database.waitUntilLive()
    try await database.reference(withPath: "first").setValue(1).acknowledgement()
    try await database.wait("end", for: true)
    kill(getpid(), SIGKILL)
  }
}
