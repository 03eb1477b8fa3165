import Testing

@testable import RunnelStore

private struct Set: Action { var number: Int }

private final class Log {
  var numbers: [Int] = []
}

@Suite struct SelectionTests {
  private struct State {
    var number = 0
    var half: Int { number / 2 }
  }

  /// What a selection tells of the numbers 0, 1, 1, 5, 6, 4, 20.
  private func told(
    _ selection: (Selection<State, State>) -> Selection<State, Int>
  ) -> [Int] {
    let store = Store(state: State()) { state, action in
      if let set = action as? Set { state.number = set.number }
    }
    let log = Log()
    _ = store.subscribe(selecting: selection) { log.numbers.append($0) }
    for number in [1, 1, 5, 6, 4, 20] { store.dispatch(Set(number: number)) }
    return log.numbers
  }

  @Test func selectTellsThePartOfEveryState() {
    #expect(told { $0.select(\.number) } == [0, 1, 1, 5, 6, 4, 20])
  }

  @Test func skipRepeatsLeavesOutWhatEqualsTheValueBefore() {
    #expect(told { $0.select(\.number).skipRepeats() } == [0, 1, 5, 6, 4, 20])
    #expect(told { $0.select(\.half).skipRepeats() } == [0, 2, 3, 2, 10])
  }

  @Test func skipWhenComparesWithTheValueBeforeWhetherToldOrNot() {
    #expect(told { $0.select(\.number).skip { abs($0 - $1) < 3 } } == [0, 5, 20])
  }

  @Test func onlyWhenIsTheOppositeOfSkipWhen() {
    #expect(told { $0.select(\.number).only { $0 < $1 } } == [0, 1, 5, 6, 20])
  }

  @Test func stepsAreTakenInTheirOrder() {
    #expect(
      told { $0.select(\.number).only { $0 < $1 }.select { $0 / 2 }.skipRepeats() }
        == [0, 2, 3, 10])
    #expect(
      told { $0.skip { $0.half == $1.half }.select(\.number).only { $0 > $1 } } == [0, 4])
  }

  @Test func firstValuePassesEveryStep() {
    #expect(told { $0.select(\.number).only { _, _ in false } } == [0])
  }

  @Test func twoSubscriptionsOfOneSelectionRememberApart() {
    let store = Store(state: 0) { state, _ in state += 1 }
    let log = Log()
    for _ in 0..<2 {
      _ = store.subscribe(to: { $0 / 2 }) { log.numbers.append($0) }
    }
    for _ in 0..<3 { store.dispatch(Set(number: 0)) }
    #expect(log.numbers == [0, 0, 1, 1])
  }
}
