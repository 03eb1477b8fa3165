import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The filter bar: the list narrows while one types; what is kept stays until it is cleared.

extension FilterScreen {
  static func openFilter(_ state: inout AppState) {
    // While the first rows are being loaded it opens too: what is typed ahead is no command.
    let filter = state.tabs.front.filter
    state.layers.append(
      .filter(
        FilterScreen(
          view: state.tabs.index, editor: LineEditor(filter?.text ?? ""), before: filter,
          past: state.trail.filters)))
    if case .row(let id)? = state.tabs.front.list.cursor { state.tabs.front.wantedRow = id }
    fitList(&state)
  }

  /// Leaves the filter bar, and puts the filter back as it was.
  static func cancelFilter(_ state: inout AppState) {
    guard case .filter(let screen)? = state.layers.last else { return }
    closePrompt(&state)
    show(&state, screen.before, inView: screen.view)
  }

  /// Leaves the filter bar, and keeps the filter.
  static func acceptFilter(_ state: inout AppState) {
    guard case .filter(let screen)? = state.layers.last else { return }
    if let error = screen.error { return state.say(.warning, error.message) }
    state.trail.filters.add(screen.editor.text)
    closePrompt(&state)
  }

  static func completeFilter(_ state: inout AppState) {
    guard case .filter(var screen)? = state.layers.last else { return }
    complete(&state, &screen)
    screen.refilter(in: &state)
    state.layers[state.layers.count - 1] = .filter(screen)
  }

  /// Goes through what lists were filtered by before.
  static func recallFilter(_ state: inout AppState, _ direction: ActionID) {
    guard case .filter(var screen)? = state.layers.last,
      let other = screen.past.recall(direction, from: screen.editor.text)
    else { return }
    screen.editor.replaceText(other)
    screen.refilter(in: &state)
    state.layers[state.layers.count - 1] = .filter(screen)
  }

  private static func complete(_ state: inout AppState, _ screen: inout FilterScreen) {
    let completion = FilterCompletion(
      before: screen.editor.textBeforeCursor, in: state.tabs.lists[screen.view])
    screen.candidates = completion.candidates.count > 1 ? completion.candidates : []
    guard let text = completion.commonText else { return }
    let end = screen.editor.cursor
    screen.editor.replace((end - completion.wordLength)..<end, with: text)
  }

  fileprivate static func narrow(_ state: inout AppState, _ view: Int, to filter: Filter) {
    if filter.text == state.tabs.lists[view].filter?.text ?? "" { return }
    show(&state, filter.isEmpty ? nil : filter, inView: view)
  }

  /// Reads a filter as of now.
  static func filter(_ state: AppState, _ text: String) throws(FilterError) -> Filter {
    var parser = FilterParser(
      text, moments: MomentReader(now: state.now, local: state.settings.local))
    return try parser.filter()
  }

  /// Shows the rows that a filter wants, or all.
  static func show(_ state: inout AppState, _ filter: Filter?, inView view: Int) {
    ListScreen.resume(&state, view)
    state.tabs.lists[view].filter = filter
    state.tabs.lists[view].loadedFloor = 0
    applyFilter(&state, inView: view)
  }

  /// Asks for the rows of the filter in force, as the list is now.
  static func applyFilter(_ state: inout AppState, inView view: Int) {
    state.effects.append(
      .filter(view: view, state.tabs.lists[view].filter, surroundings(state, ofView: view)))
  }

  private static func surroundings(
    _ state: AppState, ofView view: Int
  ) -> FilterMatcher.Surroundings {
    FilterMatcher.Surroundings(
      me: state.database.me, new: state.tabs.lists[view].arrived,
      marked: state.tabs.lists[view].marks)
  }

  /// Takes a filter or a search line away, and gives its lines back to the list.
  static func closePrompt(_ state: inout AppState) {
    state.layers.removeLast()
    fitList(&state)
  }

  /// Fits the list of the active tab to the lines it has now.
  static func fitList(_ state: inout AppState) {
    state.withList { list, content, height in list.resize(toHeight: height, in: content) }
    SearchScreen.withSearchedList(&state) { list, content, height in
      list.resize(toHeight: height, in: content)
    }
  }
}

extension FilterScreen {
  /// Takes what is typed as the filter, if it is one.
  mutating func refilter(in state: inout AppState) {
    let text = editor.text
    error = nil
    do throws(FilterError) {
      FilterScreen.narrow(&state, view, to: try FilterScreen.filter(state, text))
    } catch {
      self.error = error
      // Up to the term that is not finished, or wrong, there is a filter.
      if let right = try? FilterScreen.filter(state, String(text.prefix(error.range.lowerBound))) {
        FilterScreen.narrow(&state, view, to: right)
      }
    }
  }
}
