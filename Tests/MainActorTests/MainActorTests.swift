import Foundation
import Runnel
import Testing

/// Programs whose code is on the main actor unless it says otherwise.
///
/// That these compile is most of the proof.
@Suite(.timeLimit(.minutes(5))) struct MainActorTests {
  @Test func typedRowsAreFollowedWhereTheMainActorIsTheDefault() async throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    defer {
      for end in ["", "-wal", "-shm", "-notify"] {
        // What cannot be removed stays in the folder for temporary files.
        try? FileManager.default.removeItem(atPath: file + end)
      }
    }
    let database = try await TreeDatabase.open(file: file)
    defer { database.close() }
    let players = try database.reference(withPath: "players")
    try await players.child("ana").setValue(Player(name: "Ana", points: 7))
    try await players.child("bo").setValue(Player(name: "Bo", points: 3))
    let model = PlayerModel(players)
    try await model.load()
    #expect(model.names == ["Ana", "Bo"])
    #expect(try await bestPlayer(players)?.name == "Ana")
    #expect(await playRound(in: database) == 1)
    for try await change in players.changes(as: Player.self) {
      #expect(change.items.compactMap { $0.points } == [7, 3])
      break
    }
  }
}
