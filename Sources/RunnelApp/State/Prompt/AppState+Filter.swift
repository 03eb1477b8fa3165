import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The filter bar: the list narrows while one types; what is kept stays until it is cleared.

extension AppState {
  mutating func openFilter() {
    // While the first rows are being loaded it opens too: what is typed ahead is no command.
    let filter = lists[active].filter
    layers.append(
      .filter(
        FilterScreen(
          view: active, editor: LineEditor(filter?.text ?? ""), before: filter,
          past: filterHistory)))
    if case .row(let id)? = lists[active].list.cursor { lists[active].wantedRow = id }
    fitList()
  }

  /// Leaves the filter bar, and puts the filter back as it was.
  mutating func cancelFilter() {
    guard case .filter(let screen)? = layers.last else { return }
    closePrompt()
    show(screen.before, inView: screen.view)
  }

  /// Leaves the filter bar, and keeps the filter.
  mutating func acceptFilter() {
    guard case .filter(let screen)? = layers.last else { return }
    if let error = screen.error { return say(.warning, error.message) }
    filterHistory.add(screen.editor.text)
    closePrompt()
  }

  mutating func completeFilter() {
    guard case .filter(var screen)? = layers.last else { return }
    complete(&screen)
    layers[layers.count - 1] = .filter(screen)
    refilter()
  }

  /// Goes through what lists were filtered by before.
  mutating func recallFilter(_ direction: ActionID) {
    guard case .filter(var screen)? = layers.last,
      let other = screen.past.recall(direction, from: screen.editor.text)
    else { return }
    screen.editor.replaceText(other)
    layers[layers.count - 1] = .filter(screen)
    refilter()
  }

  private mutating func complete(_ screen: inout FilterScreen) {
    let completion = FilterCompletion(
      before: screen.editor.textBeforeCursor, in: lists[screen.view])
    screen.candidates = completion.candidates.count > 1 ? completion.candidates : []
    guard let text = completion.commonText else { return }
    let end = screen.editor.cursor
    screen.editor.replace((end - completion.wordLength)..<end, with: text)
  }

  /// Takes what is typed as the filter, if it is one.
  mutating func refilter() {
    guard case .filter(var screen)? = layers.last else { return }
    let text = screen.editor.text
    screen.error = nil
    do throws(FilterError) {
      narrow(screen.view, to: try filter(text))
    } catch {
      screen.error = error
      // Up to the term that is not finished, or wrong, there is a filter.
      if let right = try? filter(String(text.prefix(error.range.lowerBound))) {
        narrow(screen.view, to: right)
      }
    }
    layers[layers.count - 1] = .filter(screen)
  }

  private mutating func narrow(_ view: Int, to filter: Filter) {
    if filter.text == lists[view].filter?.text ?? "" { return }
    show(filter.isEmpty ? nil : filter, inView: view)
  }

  /// Reads a filter as of now.
  func filter(_ text: String) throws(FilterError) -> Filter {
    var parser = FilterParser(text, moments: MomentReader(now: now, local: local))
    return try parser.filter()
  }

  /// Shows the rows that a filter wants, or all.
  mutating func show(_ filter: Filter?, inView view: Int) {
    resume(view)
    lists[view].filter = filter
    lists[view].loadedFloor = 0
    applyFilter(inView: view)
  }

  /// Asks for the rows of the filter in force, as the list is now.
  mutating func applyFilter(inView view: Int) {
    effects.append(.filter(view: view, lists[view].filter, surroundings(ofView: view)))
  }

  private func surroundings(ofView view: Int) -> FilterMatcher.Surroundings {
    FilterMatcher.Surroundings(me: me, new: lists[view].arrived, marked: lists[view].marks)
  }

  /// Takes a filter or a search line away, and gives its lines back to the list.
  mutating func closePrompt() {
    layers.removeLast()
    fitList()
  }

  /// Fits the list of the active tab to the lines it has now.
  mutating func fitList() {
    withList { list, content, height in list.resize(toHeight: height, in: content) }
    withSearchedList { list, content, height in list.resize(toHeight: height, in: content) }
  }
}
