import Foundation
import Runnel
import Testing

/// Streams where programs use them.
///
/// That these compile is most of the proof.
@Suite(.timeLimit(.minutes(5))) final class IsolationTests {
  private let file: String
  private let database: TreeDatabase
  private let list: Reference

  init() async throws {
    file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    database = try await TreeDatabase.open(file: file)
    list = try database.reference(withPath: "l")
    try await list.setValue(["a": 1, "b": 2])
  }

  deinit {
    database.close()
    // A file that cannot be removed is the system's to clean.
    for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file + end) }
  }

  private actor Board {
    private let session: StreamSession
    private let stream: QueryStream<TreeRecord>

    init(_ list: Reference) {
      session = StreamSession(list.database)
      stream = session.stream(of: list)
    }

    func load() async throws -> Int {
      try await session.waitUntil { stream.loadState == .loaded }
      return stream.items.count
    }
  }

  @MainActor private final class Controller {
    private let session: StreamSession
    private let stream: QueryStream<TreeRecord>
    private var token: StreamToken?
    private(set) var titles: [String] = []

    init(_ list: Reference) {
      session = StreamSession(list.database)
      stream = session.stream(of: list)
      token = stream.observe { [weak self] change in
        self?.titles = change.items.map(\.key)
      }
    }

    func load() async throws {
      try await session.waitUntil { !titles.isEmpty }
    }
  }

  private nonisolated func countNonisolated(_ list: Reference) async throws -> Int {
    let session = StreamSession(list.database)
    let stream = session.stream(of: list)
    try await session.waitUntil { stream.loadState == .loaded }
    return stream.items.count
  }

  @Test func streamsLiveInAnActor() async throws {
    #expect(try await Board(list).load() == 2)
  }

  @Test func streamsLiveOnTheMainActor() async throws {
    let controller = await Controller(list)
    try await controller.load()
    #expect(await controller.titles == ["a", "b"])
  }

  @Test func streamsLiveInNonisolatedCode() async throws {
    #expect(try await countNonisolated(list) == 2)
  }

  @Test func streamsLiveInTheTasksOfAGroup() async throws {
    let list = list
    let counts = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<3 {
        group.addTask {
          let session = StreamSession(list.database)
          let stream = session.stream(of: list)
          try await session.waitUntil { stream.loadState == .loaded }
          return stream.items.count
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(counts == [2, 2, 2])
  }
}
