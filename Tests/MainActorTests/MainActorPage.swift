// LiveLists.md shows what stands between the marks; a test holds the two equal. This target has the main
// actor as its default isolation, as packages of applications have.

// example begin
import Runnel

nonisolated struct Player: Codable, Sendable {  // without `nonisolated` it is the main actor's
  var name: String
  var points: Int
}

final class PlayerModel {  // on the main actor, as all that says nothing else
  private(set) var names: [String] = []
  private let session: StreamSession
  private let stream: QueryStream<DecodedRecord<Player>>

  init(_ players: Reference) {
    session = StreamSession(players.database)
    stream = session.stream(of: players, as: Player.self)
    _ = stream.observe { [weak self] change in
      self?.names = change.items.compactMap { $0.name }
    }
  }

  func load() async throws {
    try await session.waitUntil { stream.loadState == .loaded }
  }
}

func bestPlayer(_ players: Reference) async throws -> Player? {
  let best = try players.queryOrdered(byChild: "points").queryLimited(toLast: 1)
  return try await best.get().children.first?.decode(Player.self)
}
// example end

// example begin
nonisolated struct Game: Sendable {
  var round = 0
}

nonisolated struct NextRound: Action {}

nonisolated func play(game: inout Game, action: any Action) {
  if action is NextRound { game.round += 1 }
}

func playRound(in database: Database) async -> Int {
  let store = DatabaseStore(database, state: Game(), reducer: play)
  await store.dispatch(NextRound())
  return await store.state.round
}
// example end
