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

  private func store() -> Store<State> {
    Store(state: State(), reducer: StoreTests.reduce)
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

  @Test func longQueuesDoNotGrowTheStack() {
    let store = store()
    _ = store.subscribe(to: \.numbers.count) { [unowned store] count in
      if count < 5_000 { store.dispatch(Add(number: 1)) }
    }
    #expect(store.state.numbers.count == 5_000)
  }

  @Test func subscriberThatDispatchesAtOnceIsNotToldWithinBeingTold() {
    let store = store()
    let log = Log()
    _ = store.subscribe(to: \.sum) { [unowned store] sum in
      log.lines.append("(\(sum)")
      if sum < 2 { store.dispatch(Add(number: 1)) }
      log.lines.append(")")
    }
    #expect(log.lines == ["(0", ")", "(1", ")", "(2", ")"])
  }

  @Test func removedWhileOthersAreToldIsToldNothingMore() {
    let store = store()
    let log = Log()
    var last: StoreToken?
    _ = store.subscribe(to: \.sum) { [unowned store] sum in
      log.lines.append("a\(sum)")
      if sum == 1, let last { store.unsubscribe(last) }
    }
    last = store.subscribe(to: \.sum) { log.lines.append("b\($0)") }
    store.dispatch(Add(number: 1))
    #expect(log.lines == ["a0", "b0", "a1"])
  }

  @Test func subscriberOfTheWholeIsToldEveryState() {
    let store = store()
    let log = Log()
    _ = store.subscribe { log.lines.append("\($0.sum)") }
    store.dispatch(Ignored())
    store.dispatch(Add(number: 4))
    #expect(log.lines == ["0", "0", "4"])
  }

  @Test func stateIsTheOneThatIsBeingTold() {
    let store = store()
    let log = Log()
    _ = store.subscribe(to: \.sum) { [unowned store] sum in
      store.dispatch(Ignored())
      if sum == 1 { store.dispatch(Add(number: 5)) }
      log.lines.append("\(sum) \(store.state.sum)")
    }
    store.dispatch(Add(number: 1))
    #expect(log.lines == ["0 0", "1 1", "6 6"])
  }

  // MARK: Restoring

  @Test func restoredStateIsToldAndPassesNoReducer() {
    let store = store()
    let log = Log()
    _ = store.subscribe(to: \.sum) { log.lines.append("\($0)") }
    store.dispatch(Add(number: 1))
    store.restore(State(numbers: [7, 8]))
    store.dispatch(Add(number: 1))
    #expect(log.lines == ["0", "1", "15", "16"])
  }

  @Test func restoringWaitsForItsTurn() {
    let store = store()
    let log = Log()
    _ = store.subscribe(to: \.sum) { [unowned store] sum in
      if sum == 1 {
        store.dispatch(Add(number: 1))
        store.restore(State(numbers: [50]))
        store.dispatch(Add(number: 1))
      }
      log.lines.append("\(sum)")
    }
    store.dispatch(Add(number: 1))
    #expect(log.lines == ["0", "1", "2", "50", "51"])
  }

  // MARK: Mistakes

  @Test func reducerThatDispatchesStopsTheProgramWithTheReason() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      final class Box { var store: Store<Int>? }
      let box = Box()
      box.store = Store(state: 0) { _, _ in box.store?.dispatch(Ignored()) }
      box.store?.dispatch(Add(number: 1))
    }
    let said = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(said.contains("The reducer dispatches Ignored while it reduces Add."))
  }

  @Test func reducerThatReadsTheStoreStopsTheProgramWithTheReason() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      final class Box { var store: Store<Int>? }
      let box = Box()
      box.store = Store(state: 0) { state, _ in state = box.store?.state ?? 0 }
      box.store?.dispatch(Ignored())
    }
    let said = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(said.contains("reads the state of its store while it reduces Ignored"))
  }

  @Test func commandWithoutItsMiddlewareStopsTheProgramWithTheReason() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let store = Store(state: 0) { _, _ in }
      store.dispatch(Thunk<Int> { _, _ in })
    }
    let said = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(said.contains("give the store the middleware thunkMiddleware()"))
  }
}
