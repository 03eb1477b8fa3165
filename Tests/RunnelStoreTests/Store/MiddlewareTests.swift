import Testing

@testable import RunnelStore

private struct Add: Action { var number: Int }

/// What happened, in order.
private final class Log {
  var lines: [String] = []
}

/// Keeps functions that a middleware was given.
private final class Kept {
  var next: DispatchFunction?
  var dispatch: DispatchFunction?
  var getState: (() -> [Int]?)?
}

@Suite struct MiddlewareTests {
  private func store(_ middleware: Middleware<[Int]>...) -> Store<[Int]> {
    Store(state: [], middleware: middleware) { state, action in
      if let add = action as? Add { state.append(add.number) }
    }
  }

  /// Changes the numbers of actions.
  private func mapping(_ change: @escaping (Int) -> Int) -> Middleware<[Int]> {
    { _, _ in
      { next in
        { action in
          next((action as? Add).map { Add(number: change($0.number)) } ?? action)
        }
      }
    }
  }

  @Test func firstMiddlewareSeesAnActionFirst() {
    let store = store(mapping { $0 + 1 }, mapping { $0 * 10 })
    store.dispatch(Add(number: 1))
    #expect(store.state == [20])
  }

  @Test func combinedMiddlewareIsThatInTheSameOrder() {
    let store = store(
      combineMiddleware(mapping { $0 + 1 }, mapping { $0 * 10 }), mapping { $0 + 2 })
    store.dispatch(Add(number: 1))
    #expect(store.state == [22])
  }

  @Test func actionThatIsNotHandedOnChangesAndTellsNothing() {
    let log = Log()
    let store = store { _, _ in
      { next in { action in if (action as? Add)?.number != 13 { next(action) } } }
    }
    _ = store.subscribe { log.lines.append("\($0)") }
    for number in [1, 13, 2] { store.dispatch(Add(number: number)) }
    #expect(log.lines == ["[]", "[1]", "[1, 2]"])
  }

  @Test func actionThatIsHandedOnTwiceIsToldOnce() {
    let log = Log()
    let store = store { _, _ in
      { next in
        { action in
          next(action)
          next(action)
        }
      }
    }
    _ = store.subscribe { log.lines.append("\($0)") }
    store.dispatch(Add(number: 1))
    #expect(log.lines == ["[]", "[1, 1]"])
  }

  @Test func dispatchedByMiddlewareBeforeNextComesFirstAndThroughTheWholeChain() {
    let store = store(
      mapping { $0 + 1 },
      { dispatch, _ in
        { next in
          { action in
            if (action as? Add)?.number == 2 { dispatch(Add(number: 10)) }
            next(action)
          }
        }
      })
    store.dispatch(Add(number: 1))
    #expect(store.state == [11, 2])
  }

  @Test func dispatchedByMiddlewareIsDoneWhenItReturnsAndEachStateIsTold() {
    let log = Log()
    let store = store { dispatch, getState in
      { next in
        { action in
          next(action)
          guard (action as? Add)?.number == 1 else { return }
          dispatch(Add(number: 2))
          log.lines.append("read \(getState() ?? [])")
        }
      }
    }
    _ = store.subscribe { log.lines.append("a\($0)") }
    _ = store.subscribe { log.lines.append("b\($0)") }
    log.lines = []
    store.dispatch(Add(number: 1))
    #expect(log.lines == ["a[1]", "b[1]", "a[1, 2]", "b[1, 2]", "read [1, 2]"])
  }

  @Test func stateIsTheOldOneBeforeNextAndTheNewOneAfterIt() {
    let log = Log()
    let store = store { _, getState in
      { next in
        { action in
          log.lines.append("\(getState() ?? [-1])")
          next(action)
          log.lines.append("\(getState() ?? [-1])")
        }
      }
    }
    store.dispatch(Add(number: 3))
    store.dispatch(Add(number: 4))
    #expect(log.lines == ["[]", "[3]", "[3]", "[3, 4]"])
  }

  @Test func nextMayBeCalledLater() {
    let (log, kept) = (Log(), Kept())
    let store = store { _, _ in
      { next in
        kept.next = next
        return { _ in }
      }
    }
    _ = store.subscribe { log.lines.append("\($0)") }
    store.dispatch(Add(number: 1))
    kept.next?(Add(number: 2))
    #expect(log.lines == ["[]", "[2]"])
  }

  @Test func nextThatIsCalledBySubscribersWaits() {
    let (log, kept) = (Log(), Kept())
    let store = store { _, _ in
      { next in
        kept.next = next
        return next
      }
    }
    _ = store.subscribe { state in
      if state == [1] { kept.next?(Add(number: 2)) }
      log.lines.append("a\(state)")
    }
    _ = store.subscribe { log.lines.append("b\($0)") }
    store.dispatch(Add(number: 1))
    #expect(log.lines == ["a[]", "b[]", "a[1]", "b[1]", "a[1, 2]", "b[1, 2]"])
  }

  @Test func functionsThatOutliveTheStoreDoNothing() {
    let kept = Kept()
    var made: Store<[Int]>? = store { dispatch, getState in
      kept.dispatch = dispatch
      kept.getState = getState
      return { next in
        kept.next = next
        return next
      }
    }
    #expect(kept.getState?() == [])
    weak let gone = made
    made = nil
    #expect(gone == nil)
    kept.dispatch?(Add(number: 1))
    kept.next?(Add(number: 1))
    #expect(kept.getState?() == nil)
  }

  // MARK: Reducers

  @Test func combinedReducersSeeWhatThoseBeforeThemMade() {
    let add: Reducer<[Int]> = { state, action in
      if let add = action as? Add { state.append(add.number) }
    }
    let double: Reducer<[Int]> = { state, _ in state = state.map { $0 * 2 } }
    let store = Store(state: [], reducer: combineReducers(add, double))
    store.dispatch(Add(number: 1))
    store.dispatch(Add(number: 2))
    #expect(store.state == [4, 4])
  }

  @Test func reducerOfAPartLeavesTheRest() {
    struct Whole: Equatable {
      var sum = 0
      var name = "x"
    }
    let sum: Reducer<Int> = { state, action in state += (action as? Add)?.number ?? 0 }
    let store = Store(state: Whole(), reducer: reducing(\Whole.sum, by: sum))
    store.dispatch(Add(number: 5))
    #expect(store.state == Whole(sum: 5, name: "x"))
  }

  // MARK: Thunks

  @Test func thunkReadsTheStateThatItsActionsMade() {
    let store = store(thunkMiddleware(), mapping { $0 + 100 })
    store.dispatch(Add(number: 1))
    store.dispatch(
      Thunk<[Int]> { dispatch, getState in
        dispatch(Thunk<[Int]> { dispatch, _ in dispatch(Add(number: 2)) })
        dispatch(Add(number: 10 * (getState()?.count ?? 0)))
      })
    #expect(store.state == [101, 102, 120])
  }

  @Test func actionOfASubscriberWaitsUntilTheThunkHasReturned() {
    let log = Log()
    let store = store(thunkMiddleware())
    _ = store.subscribe { [unowned store] state in
      log.lines.append("a\(state)")
      if state == [1] { store.dispatch(Add(number: 9)) }
    }
    _ = store.subscribe { log.lines.append("b\($0)") }
    log.lines = []
    store.dispatch(
      Thunk<[Int]> { dispatch, _ in for number in [1, 2] { dispatch(Add(number: number)) } })
    #expect(
      log.lines == ["a[1]", "b[1]", "a[1, 2]", "b[1, 2]", "a[1, 2, 9]", "b[1, 2, 9]"])
  }

  @Test func actionOfASubscriberThatAThunkAddsWaits() {
    final class Box { var store: Store<[Int]>? }
    let (box, log) = (Box(), Log())
    let adding: Middleware<[Int]> = { dispatch, getState in
      { next in
        { action in
          if (action as? Add)?.number == 1 {
            _ = box.store?.subscribe { if $0 == [] { dispatch(Add(number: 2)) } }
            log.lines.append("\(getState() ?? [])")
          }
          next(action)
        }
      }
    }
    let store = store(adding)
    box.store = store
    defer { box.store = nil }
    store.dispatch(Add(number: 1))
    #expect(log.lines == ["[]"])
    #expect(store.state == [1, 2])
  }

  @Test func thunkMiddlewareHandsOtherActionsOn() {
    let store = store(thunkMiddleware())
    store.dispatch(Add(number: 1))
    #expect(store.state == [1])
  }
}
