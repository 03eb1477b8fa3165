import RunnelBase
import Testing

/// The example of the catalog runs.
@Suite struct RunnelSyncPageTests {
  @Test func onlyMembersReadTheirRoom() throws {
    let tree = #"{"rooms": {"k": {"members": {"ana": true}}}}"#
    #expect(try mayRead("k", as: "ana", in: .init(parsing: tree)))
    #expect(try !mayRead("k", as: "bo", in: .init(parsing: tree)))
  }
}
