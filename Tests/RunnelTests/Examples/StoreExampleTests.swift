import Foundation
import RunnelStore
import Testing

/// What the page shows is what is compiled here, and it runs.
@Suite struct StoreExampleTests {
  /// This file is in `Tests/RunnelTests/Examples`.
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
  private static let top = folder.appendingPathComponent("../../..").standardizedFileURL

  /// The parts of a text between two marks.
  private func parts(of file: URL, from begin: String, to end: String) throws -> [String] {
    let text = try String(contentsOf: file, encoding: .utf8)
    return text.components(separatedBy: begin).dropFirst().compactMap {
      $0.components(separatedBy: end).first
    }
  }

  @Test func thePageShowsTheExamplesThatAreCompiled() throws {
    let compiled = try parts(
      of: StoreExampleTests.folder.appendingPathComponent("ReSwiftExamples.swift"),
      from: "// example begin\n", to: "// example end")
    let page = "Sources/RunnelStore/RunnelStore.docc/ComingFromReSwift.md"
    let shown = try parts(
      of: StoreExampleTests.top.appendingPathComponent(page), from: "```swift\n", to: "```")
    #expect(!shown.isEmpty)
    #expect(shown == compiled)
  }

  @Test func theCounterCounts() {
    let store = Store(state: AppState(), reducer: counterReducer)
    let view = CounterView(store: store)
    view.appear()
    view.increaseButtonPressed()
    store.dispatch(CounterActionIncrease())
    store.dispatch(CounterActionDecrease())
    #expect(view.label == "1")
    view.disappear()
    view.increaseButtonPressed()
    #expect(view.label == "1")
  }

  @Test func headlinesAreToldWhenTheyChange() {
    let screen = Screen()
    let store = Store(state: AppState(name: "n"), reducer: counterReducer)
    showHeadlines(of: store, on: screen)
    store.dispatch(CounterActionIncrease())
    store.dispatch(CounterActionDecrease())
    store.dispatch(Rename(name: "other"))
    #expect(screen.lines == ["n: 0", "up to 0", "n: 1", "up to 1", "n: 0"])
  }

  @Test func middlewareSeesWhatThunksDispatchToCombinedReducers() {
    let screen = Screen()
    let store = makeStore(screen: screen)
    store.dispatch(CounterActionIncrease())
    store.dispatch(increaseToEven)
    store.dispatch(Rename(name: "x"))
    #expect(store.state == AppState(counter: 2, name: "x"))
    #expect(
      screen.lines == [
        "CounterActionIncrease(), was 0", "CounterActionIncrease(), was 1",
        #"Rename(name: "x"), was 2"#,
      ])
  }

  @Test func theStoreGoesBack() {
    let store = Store(state: AppState(), reducer: counterReducer)
    var history = ActionHistory(AppState(), reducer: counterReducer)
    for _ in 0..<4 {
      store.dispatch(CounterActionIncrease())
      history.append(CounterActionIncrease())
    }
    rewind(store, history)
    #expect(store.state.counter == 2)
  }
}
