import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Answers that do not fit the purpose of their request.
@Suite struct RequestMismatchTests {
  /// The words about mismatches after an answer to a request with a purpose.
  private func told(of answer: Answer, to purpose: Pending) throws -> [String] {
    var state = try AppDriver(Fixture.views(), json: Fixture.small).state
    let id = state.ask(.value(.root), for: purpose)
    PendingRequests.take(&state, answer, to: id)
    #expect(state.requests[id] == nil)
    return state.effects.compactMap { if case .mismatch(let words) = $0 { words } else { nil } }
  }

  @Test func mismatchIsToldByTheNamesOfPurposeAndAnswer() throws {
    let words = try told(of: .orders([]), to: .choices(.root))
    #expect(words.count == 1)
    #expect(words.first?.hasPrefix("The answer orders does not fit the request choices") == true)
  }

  @Test func answerToADroppedWriteFits() throws {
    #expect(try told(of: .written(key: nil, entry: nil), to: .dropPending) == [])
  }

  @Test func answerToACanceledRequestIsDropped() throws {
    var state = try AppDriver(Fixture.views(), json: Fixture.small).state
    let effects = state.effects.count
    PendingRequests.take(&state, .orders([]), to: AppRequestID(1_000))
    #expect(state.effects.count == effects)
  }
}
