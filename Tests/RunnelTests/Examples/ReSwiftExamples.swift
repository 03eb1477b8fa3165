// ComingFromReSwift.md shows what stands between the marks; a test holds the two equal.

// example begin
import RunnelStore

struct AppState: Equatable {
  var counter = 0
  var name = ""
}

struct CounterActionIncrease: Action {}
struct CounterActionDecrease: Action {}

func counterReducer(state: inout AppState, action: any Action) {
  switch action {
  case is CounterActionIncrease: state.counter += 1
  case is CounterActionDecrease: state.counter -= 1
  default: break
  }
}
// example end

// example begin
final class CounterView {
  private let store: Store<AppState>
  private var token: StoreToken?
  private(set) var label = ""

  init(store: Store<AppState>) { self.store = store }

  func appear() {
    token = store.subscribe(to: \.counter) { [weak self] counter in self?.label = "\(counter)" }
  }

  func disappear() {
    if let token { store.unsubscribe(token) }
  }

  func increaseButtonPressed() { store.dispatch(CounterActionIncrease()) }
}
// example end

// example begin
final class Screen {  // whatever shows lines
  private(set) var lines: [String] = []

  func show(_ line: String) { lines.append(line) }
}

struct Headline: Equatable {
  var text: String

  init(state: AppState) { text = "\(state.name): \(state.counter)" }
}

func showHeadlines(of store: Store<AppState>, on screen: Screen) {
  _ = store.subscribe(to: Headline.init) { screen.show($0.text) }
  _ = store.subscribe(selecting: { $0.select(\.counter).only { $0 < $1 } }) { counter in
    screen.show("up to \(counter)")
  }
}
// example end

// example begin
func announcing(on screen: Screen) -> Middleware<AppState> {
  { dispatch, getState in
    { next in
      { action in
        screen.show("\(action), was \(getState()?.counter ?? 0)")
        next(action)
      }
    }
  }
}

func makeStore(screen: Screen) -> Store<AppState> {
  Store(
    state: AppState(), middleware: [thunkMiddleware(), announcing(on: screen)],
    reducer: combineReducers(counterReducer, reducing(\.name, by: nameReducer)))
}

func nameReducer(name: inout String, action: any Action) {
  if let action = action as? Rename { name = action.name }
}

struct Rename: Action { var name: String }

let increaseToEven = Thunk<AppState> { dispatch, getState in
  dispatch(CounterActionIncrease())
  if getState()?.counter.isMultiple(of: 2) == false { dispatch(CounterActionIncrease()) }
}
// example end

// example begin
func rewind(_ store: Store<AppState>, _ history: ActionHistory<AppState>) {
  store.restore(history.state(after: history.actions.count / 2))
}
// example end
