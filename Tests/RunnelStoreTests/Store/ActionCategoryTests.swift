import RunnelBase
import RunnelStore
import RunnelTree
import Testing

/// Categories of actions, which let one reducer handle actions of many types.
@Suite struct ActionCategoryTests {
  private func actions() throws -> [any Action] {
    let query = Query(try Path("groups"))
    let request = RequestSummary(id: "r", kind: .create, path: try Path("groups/a"))
    let entry = ObjectEntry(id: try Key("a"), object: Group(name: "A"))
    let error = TreeError(.malformedData, "no name")
    return [
      RequestPending<Group>(request),
      RequestSucceeded<Group>(request, answer: .object(nil)),
      RequestAcknowledged<Group>(request),
      RequestFailed<Group>(request, error: error),
      RequestCancelled<Group>(request),
      ObjectSubscribed<Group>(query, isSubscribed: true),
      ObjectsLoaded<Group>(query, entries: [entry]),
      ObjectAdded(query, entry, previous: nil),
      ObjectChanged(query, entry),
      ObjectMoved(query, entry, previous: nil),
      ObjectRemoved<Group>(query, id: try Key("a"), object: nil),
      ObjectErrored<Group>(query, path: try Path("groups/a"), error: error),
      ObjectErrored<Group>(query, path: query.path, error: error),
      ObjectObserved<Group>(try Path("groups/a"), .began),
      ConnectionChanged(isConnected: true),
    ]
  }

  @Test func everyActionAboutDataHasItsPlace() throws {
    let paths = try actions().compactMap { ($0 as? any DataAction)?.path.description }
    #expect(paths.filter { $0 == "/groups" }.count == 3)
    #expect(paths.filter { $0 == "/groups/a" }.count == 11)
  }

  @Test func aChildThatIsNotAnObjectIsNotASeriousFailure() throws {
    let failures = try actions().compactMap { $0 as? any FailureAction }
    #expect(failures.map(\.isSerious) == [true, false, true])
  }
}
