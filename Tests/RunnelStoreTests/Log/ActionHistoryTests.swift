import Testing

@testable import RunnelStore

private struct Append: Action { var number: Int }

@Suite struct ActionHistoryTests {
  private func history(_ numbers: some Sequence<Int>) -> ActionHistory<[Int]> {
    var history = ActionHistory([Int]()) { state, action in
      if let action = action as? Append { state.append(action.number) }
    }
    for number in numbers { history.append(Append(number: number)) }
    return history
  }

  @Test func everyStateCanBeReturnedTo() {
    let history = history(0..<200)
    for count in 0...200 { #expect(history.state(after: count) == Array(0..<count)) }
  }

  @Test(arguments: [0, 1, 63, 64, 65, 128, 150])
  func cutHistoryGoesOnInAnotherWay(count: Int) {
    var history = history(0..<150)
    history.cut(after: count)
    #expect(history.actions.count == count)
    for number in 1000..<1100 { history.append(Append(number: number)) }
    for more in 0...100 {
      #expect(history.state(after: count + more) == Array(0..<count) + Array(1000..<(1000 + more)))
    }
  }

  @Test func storeTravelsInTime() {
    let store = Store(state: []) { (state: inout [Int], action) in
      if let action = action as? Append { state.append(action.number) }
    }
    for number in 0..<3 { store.dispatch(Append(number: number)) }
    store.restore(history(0..<3).state(after: 1))
    #expect(store.state == [0])
  }
}
