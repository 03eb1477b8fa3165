import Foundation
import RunnelBase
import RunnelTerminal
import TestSupport
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Who is connected to the server of the database, shown and disconnected.
@Suite struct ClientsTests {
  /// What was asked of the server.
  private final class Asked {
    var list: [(id: AppRequestID, request: ServerRequest)] = []
    var last: (id: AppRequestID, request: ServerRequest)? { list.last }
  }

  private static func client(
    _ id: Int64, user: String = "", listens: Int = 0, bytes: Int = 0,
    at address: String = "10.0.0.7"
  ) -> ServerClient {
    ServerClient(
      id: id, kind: "socket", address: address, user: user, listenCount: listens,
      sentBytes: bytes, since: Fixture.now - 5 * Fixture.minute)
  }

  private static func app(
    _ asked: Asked, isReadOnly: Bool = false, isRecording: Bool = false
  ) throws -> AppDriver {
    try AppDriver(
      Fixture.views(), json: Fixture.small, isReadOnly: isReadOnly, isRecording: isRecording,
      startFileTask: { task in
        if case .askServer(let id, let request, _) = task { asked.list.append((id, request)) }
      })
  }

  private func answer(_ app: AppDriver, _ asked: Asked, _ answer: Answer) throws {
    let last = try #require(asked.last)
    app.runtime.receive(.answered(last.id, answer))
  }

  private func tell(
    _ app: AppDriver, _ asked: Asked, _ clients: [ServerClient], hasMore: Bool = false
  ) throws {
    try answer(app, asked, .clients(ClientPage(clients, hasMore: hasMore)))
  }

  // MARK: Showing

  @Test func clientsAreShownWithAddressUserListensAndBytes() throws {
    let asked = Asked()
    let app = try Self.app(asked)
    app.strike("gC")
    #expect(asked.list.map { $0.request } == [.clients(countMax: ClientPage.countMax)])
    #expect(app.screen.contains { $0.contains("waiting for the server") })
    try tell(
      app, asked,
      [
        Self.client(3, user: "ana", listens: 2, bytes: 2048),
        Self.client(12, listens: 1, bytes: 1, at: "2001:db8::17"),
      ])
    let lines = app.body.filter { $0.contains("listen") }
    #expect(lines.count == 2)
    #expect(lines[0].contains("10.0.0.7      ana  2 listens  2 KiB sent"), "\(lines)")
    #expect(lines[1].contains("2001:db8::17       1 listen   1 byte sent"), "\(lines)")
    #expect(lines.allSatisfy { $0.contains("5m") && $0.contains("socket") })
    // The server's log names connections by their numbers.
    #expect(lines[0].contains("socket #3") && lines[1].contains("socket #12"), "\(lines)")
    #expect(app.screen.contains { $0.contains("2 clients") }, "\(app.screen)")
  }

  @Test func usersHaveTheRoomThatThereIs() throws {
    let asked = Asked()
    let app = try Self.app(asked)
    app.resize(columns: 200, rows: 24)
    app.strike("gC")
    let (name, endless) = (String(repeating: "n", count: 60), String(repeating: "u", count: 300))
    try tell(app, asked, [Self.client(1, user: name), Self.client(2, user: endless)])
    let lines = app.body.filter { $0.contains("listen") }
    #expect(lines.count == 2)
    #expect(lines.first?.contains(name + " ") == true, "\(lines)")
    #expect(lines.last?.contains("uuu...  0 listens") == true, "\(lines)")
    #expect(lines.allSatisfy { $0.contains("socket") }, "\(lines)")
  }

  @Test func listIsAskedForAgainAndTheCursorStaysOnItsClient() throws {
    let asked = Asked()
    let app = try Self.app(asked)
    app.strike("gC")
    try tell(app, asked, [Self.client(1, user: "ana"), Self.client(2, user: "bo")])
    app.strike("j")
    #expect(app.cursorLine.contains("bo"))
    #expect(
      StateReducer.deadline(app.state).map { $0 <= Fixture.now + ClientsScreen.restMilliseconds }
        == true)
    app.wait(milliseconds: ClientsScreen.restMilliseconds)
    #expect(asked.list.count == 2)
    // It is not asked twice at once.
    app.wait(milliseconds: 60_000)
    #expect(asked.list.count == 2)
    try tell(app, asked, [Self.client(2, user: "bo"), Self.client(3, user: "eve")])
    #expect(app.cursorLine.contains("bo"))
    app.strike("Esc")
    app.wait(milliseconds: 60_000)
    #expect(asked.list.count == 2)
  }

  @Test func answerThatComesAfterTheListWasClosedIsForNobody() throws {
    let asked = Asked()
    let app = try Self.app(asked)
    app.strike("gC Esc")
    try tell(app, asked, [Self.client(1)])
    #expect(app.state.layers.isEmpty)
    app.strike("gC")
    #expect(asked.list.count == 2)
    app.runtime.receive(.answered(asked.list[0].id, .clients(ClientPage([], hasMore: false))))
    #expect(app.screen.contains { $0.contains("waiting for the server") })
  }

  @Test func replicaAsksNobodyWhoIsConnected() throws {
    let asked = Asked()
    let app = try Self.app(asked)
    app.take(.origin(OriginFacts(.live)))
    app.strike("gC")
    #expect(asked.list.isEmpty && app.state.layers.isEmpty)
    #expect(app.toast.contains("not known in a replica"))
  }

  @Test func nobodyAndMoreThanAreToldAreSaid() throws {
    let asked = Asked()
    let app = try Self.app(asked)
    app.strike("gC")
    try tell(app, asked, [])
    #expect(app.screen.contains { $0.contains("nobody is connected") })
    app.wait(milliseconds: ClientsScreen.restMilliseconds)
    try tell(app, asked, [Self.client(1), Self.client(2)], hasMore: true)
    #expect(app.screen.contains { $0.contains("Connected to the server") && $0.contains("2+") })
  }

  @Test func serverThatDoesNotAnswerIsToldAndAskedAgain() throws {
    let asked = Asked()
    let app = try Self.app(asked)
    app.strike("gC")
    try answer(app, asked, .refused(Refusal("no server serves this database")))
    #expect(app.screen.contains { $0.contains("no server serves this database") })
    app.strike("d")
    #expect(app.toast == "nobody is connected")
    app.wait(milliseconds: ClientsScreen.restMilliseconds)
    try tell(app, asked, [Self.client(4, user: "dan")])
    #expect(app.cursorLine.contains("dan"))
  }

  // MARK: Disconnecting

  @Test func clientIsDisconnectedAfterAQuestion() throws {
    let asked = Asked()
    let app = try Self.app(asked)
    app.strike("gC")
    try tell(app, asked, [Self.client(17, user: "ana"), Self.client(18)])
    app.strike("d")
    #expect(app.screen.contains { $0.contains("ana at 10.0.0.7") })
    app.wait(milliseconds: 200)
    app.strike("n")
    #expect(asked.list.count == 1)
    app.strike("d")
    app.wait(milliseconds: 200)
    app.strike("y")
    #expect(asked.last?.request == .disconnect(17))
    try answer(app, asked, .disconnected(true))
    #expect(app.toast == "disconnected")
    #expect(asked.last?.request == .clients(countMax: ClientPage.countMax))
    try tell(app, asked, [Self.client(18)])
    #expect(!app.screen.contains { $0.contains("ana") })
  }

  @Test func clientThatIsGoneOrAServerThatRefusesIsSaid() throws {
    let asked = Asked()
    let app = try Self.app(asked)
    app.strike("gC")
    try tell(app, asked, [Self.client(17)])
    for (told, text): (Answer, String) in [
      (.disconnected(false), "it was already disconnected"),
      (.refused(Refusal("no answer")), "no answer"),
    ] {
      app.strike("d")
      app.wait(milliseconds: 200)
      app.strike("y")
      let request = try #require(asked.list.last { $0.request == .disconnect(17) })
      app.runtime.receive(.answered(request.id, told))
      #expect(app.toast == text)
    }
  }

  @Test func readOnlyWorkspaceShowsAndDoesNotDisconnect() throws {
    let asked = Asked()
    let app = try Self.app(asked, isReadOnly: true)
    app.strike("gC")
    try tell(app, asked, [Self.client(17)])
    app.strike("d")
    #expect(asked.list.count == 1)
    #expect(!app.toast.isEmpty)
  }

  // MARK: Recording, and the socket

  @Test func sessionWithClientsIsReplayed() throws {
    let asked = Asked()
    let app = try Self.app(asked, isRecording: true)
    app.strike("gC")
    try tell(app, asked, [Self.client(17, user: "ana", listens: 3, bytes: 99)], hasMore: true)
    app.strike("d")
    app.wait(milliseconds: 200)
    app.strike("y")
    try answer(app, asked, .disconnected(true))
    let replay = try SessionReplay(parsing: app.recording, file: "s.log")
    #expect(replay.canvas().textLines() == app.screen)
  }

  @Test func placesWithoutAServerAreToldApart() throws {
    let folder = NSTemporaryDirectory() + "runnel-clients-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    // What is left is in the folder for temporary files.
    defer { try? FileManager.default.removeItem(atPath: folder) }
    func problem(_ places: [ServerPlace]) -> String {
      guard case .refused(let refusal) = ServerPlace.answer(to: .clients(countMax: 1), at: places)
      else { return "" }
      return refusal.message
    }
    let place = ServerPlace(socket: folder + "/x.admin.sock", database: nil)
    #expect(problem([place]) == "no server serves this database: `runnel serve` does")
    try Data().write(to: URL(fileURLWithPath: place.socket))
    #expect(problem([place]).contains(place.socket))
  }

  @Test func whatIsToldOfAConnectionIsRead() throws {
    let told = """
      {"id":3,"kind":"stream","database":"chat","address":"::1","user":"ana",
      "since":"2026-08-24T18:20:00.500Z","listens":1,"bytes":77}
      """
    let client = try #require(ServerClient(told: JSONValue(parsing: told)))
    #expect(client.since == Fixture.now + 500)
    #expect((client.id, client.listenCount, client.sentBytes) == (3, 1, 77))
    for (part, wrong) in [
      ("\"id\":3", "\"id\":\"3\""), ("\"listens\":1", "\"listens\":null"), ("500Z", "500"),
      ("08-24", "13-24"),
    ] {
      let broken = try JSONValue(parsing: told.replacingOccurrences(of: part, with: wrong))
      #expect(ServerClient(told: broken) == nil)
    }
  }
}
