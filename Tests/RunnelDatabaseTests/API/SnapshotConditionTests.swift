import RunnelBase
import RunnelTree
import Testing

@testable import RunnelDatabase

/// Snapshots as conditions of writes.
@Suite(.timeLimit(.minutes(5)), .fewAtOnce) struct SnapshotConditionTests {
  private let folder: TemporaryFolder
  private let list: Reference

  init() async throws {
    folder = try TemporaryFolder()
    list = try await folder.open().reference(withPath: "l")
    try await list.setValue(["a": 1, "b": 2, "c": ["x": 3]])
  }

  private func code(_ write: () async throws -> Void) async -> DatabaseError.Code? {
    do {
      try await write()
      return nil
    } catch {
      return (error as? DatabaseError)?.code
    }
  }

  @Test func theSnapshotOfAPartOfAPlaceIsRefused() async throws {
    let parts = try [
      list.queryLimited(toFirst: 1), list.queryOrderedByKey().queryStarting(atValue: "b"),
      list.queryLimited(toFirst: 100),
    ]
    for part in parts {
      let seen = try await part.get()
      #expect(
        await code { try await list.child("a").setValue(9, ifUnchangedSince: seen) } == .refused)
      let missing = try seen.child("d")
      #expect(
        await code { try await list.child("d").setValue(9, ifUnchangedSince: missing) } == .refused)
    }
    #expect(try await list.get().value == ["a": 1, "b": 2, "c": ["x": 3]])
  }

  @Test func theSnapshotsOfItsChildrenAreConditions() async throws {
    let seen = try await list.queryLimited(toLast: 1).get()
    let child = try seen.child("c")
    try await list.child("a").setValue(9, ifUnchangedSince: seen.child("c/y"))
    try await list.child("c").setValue(4, ifUnchangedSince: child)
    #expect(
      await code { try await list.child("c").setValue(5, ifUnchangedSince: child) } == .changed)
    #expect(try await list.get().value == ["a": 9, "b": 2, "c": 4])
  }

  @Test func theSnapshotOfAnOrderedQueryIsOfTheWholePlace() async throws {
    let seen = try await list.queryOrderedByValue().get()
    try await list.child("a").setValue(9, ifUnchangedSince: seen)
    #expect(
      await code { try await list.child("a").setValue(8, ifUnchangedSince: seen) } == .changed)
  }

  @Test func aPriorityThatOthersSetIsAChange() async throws {
    let place = try list.child("a")
    let seen = try await place.get()
    let above = try await list.get()
    try await place.setPriority(3)
    for snapshot in [seen, above] {
      #expect(
        await code { try await place.setValue(9, ifUnchangedSince: snapshot) } == .changed)
    }
    #expect(try await place.get().exportValue == [".value": 1, ".priority": 3])
    try await place.setValue(9, ifUnchangedSince: place.get())
    #expect(try await place.get().exportValue == 9)
  }

  /// A condition in JSON says nothing about them.
  @Test func conditionsWithAValueCompareNoPriorities() async throws {
    let place = try list.child("a")
    try await place.setPriority(3)
    try await place.database.perform(
      .set(place.path, 9), if: [WriteCondition(place.path, 1)])
    #expect(try await place.get().value == 9)
  }
}
