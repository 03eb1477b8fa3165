import Testing

@testable import RunnelStore

private struct Add: Action { var number: Int }
private struct Ignored: Action {}

/// What was told to whom, in order.
private final class Log {
  var lines: [String] = []
}

@Suite struct StoreTests {
  private struct State {
    var numbers: [Int] = []
    var sum: Int { numbers.reduce(0, +) }
  }

  private static func reduce(_ state: inout State, _ action: any Action) {
    if let add = action as? Add { state.numbers.append(add.number) }
  }

  private func store(_ middleware: [Middleware<State>] = []) -> Store<State> {
    Store(state: State(), middleware: middleware, reducer: StoreTests.reduce)
  }

  @Test func actionsChangeTheStateInTheirOrder() {
    let store = store()
    for number in 1...5 { store.dispatch(Add(number: number)) }
    #expect(store.state.numbers == [1, 2, 3, 4, 5])
  }

  @Test func subscriberIsToldThePresentPartAtOnceAndThenItsChanges() {
    let store = store()
    let log = Log()
    _ = store.subscribe(to: \.sum) { log.lines.append("\($0)") }
    store.dispatch(Add(number: 2))
    store.dispatch(Add(number: 0))
    store.dispatch(Ignored())
    store.dispatch(Add(number: 3))
    #expect(log.lines == ["0", "2", "5"])
  }

  @Test func subscribersAreToldInTheOrderInWhichTheyCame() {
    let store = store()
    let log = Log()
    for name in ["a", "b", "c"] {
      _ = store.subscribe(to: \.sum) { log.lines.append("\(name)\($0)") }
    }
    log.lines = []
    store.dispatch(Add(number: 1))
    #expect(log.lines == ["a1", "b1", "c1"])
  }

  @Test func unsubscribedIsToldNothingMore() {
    let store = store()
    let log = Log()
    let first = store.subscribe(to: \.sum) { log.lines.append("a\($0)") }
    let second = store.subscribe(to: \.sum) { log.lines.append("b\($0)") }
    store.unsubscribe(first)
    store.unsubscribe(first)
    store.dispatch(Add(number: 1))
    #expect(log.lines == ["a0", "b0", "b1"])
    #expect(first != second)
  }

  @Test func actionOfASubscriberWaitsUntilAllAreTold() {
    let store = store()
    let log = Log()
    _ = store.subscribe(to: \.sum) { [unowned store] sum in
      log.lines.append("a\(sum)")
      if sum == 1 { store.dispatch(Add(number: 10)) }
    }
    _ = store.subscribe(to: \.sum) { log.lines.append("b\($0)") }
    log.lines = []
    store.dispatch(Add(number: 1))
    #expect(log.lines == ["a1", "b1", "a11", "b11"])
  }

  @Test func subscriptionOfASubscriberBegins() {
    let store = store()
    let log = Log()
    _ = store.subscribe(to: \.sum) { [unowned store] sum in
      guard sum == 1 else { return }
      _ = store.subscribe(to: \.sum) { log.lines.append("late \($0)") }
    }
    store.dispatch(Add(number: 1))
    store.dispatch(Add(number: 1))
    #expect(log.lines == ["late 1", "late 2"])
  }

  @Test func subscriberMayRemoveItself() {
    let store = store()
    let log = Log()
    var token: StoreToken?
    token = store.subscribe(to: \.sum) { [unowned store] sum in
      log.lines.append("\(sum)")
      if sum > 0, let token { store.unsubscribe(token) }
    }
    store.dispatch(Add(number: 1))
    store.dispatch(Add(number: 1))
    #expect(log.lines == ["0", "1"])
  }

  // MARK: Middleware

  @Test func middlewareChangesActionsInItsOrder() {
    let store = store([
      { action, _, _ in (action as? Add).map { Add(number: $0.number + 1) } ?? action },
      { action, _, _ in (action as? Add).map { Add(number: $0.number * 10) } ?? action },
    ])
    store.dispatch(Add(number: 1))
    #expect(store.state.numbers == [20])
  }

  @Test func middlewareKeepsActionsBack() {
    let log = Log()
    let store = store([
      { action, _, _ in (action as? Add)?.number == 13 ? nil : action },
      { action, _, _ in
        log.lines.append("\((action as? Add)?.number ?? -1)")
        return action
      },
    ])
    for number in [1, 13, 2] { store.dispatch(Add(number: number)) }
    #expect(store.state.numbers == [1, 2])
    #expect(log.lines == ["1", "2"])
  }

  @Test func actionOfMiddlewareComesAfterThePresentOne() {
    let store = store([
      { action, _, dispatch in
        if (action as? Add)?.number == 1 { dispatch(Add(number: 2)) }
        return action
      }
    ])
    store.dispatch(Add(number: 1))
    #expect(store.state.numbers == [1, 2])
  }

  @Test func middlewareSeesTheStateBeforeItsAction() {
    let log = Log()
    let store = store([
      { action, state, _ in
        log.lines.append("\(state.sum)")
        return action
      }
    ])
    store.dispatch(Add(number: 3))
    store.dispatch(Add(number: 4))
    #expect(log.lines == ["0", "3"])
  }

  @Test func reducerThatDispatchesStopsTheProgram() async {
    await #expect(processExitsWith: .failure) {
      final class Box { var store: Store<Int>? }
      let box = Box()
      box.store = Store(state: 0) { _, _ in box.store?.dispatch(Ignored()) }
      box.store?.dispatch(Ignored())
    }
  }

  @Test func longQueuesDoNotGrowTheStack() {
    let store = store()
    _ = store.subscribe(to: \.numbers.count) { [unowned store] count in
      if count < 5_000 { store.dispatch(Add(number: 1)) }
    }
    #expect(store.state.numbers.count == 5_000)
  }
}
