import RunnelBase
import RunnelTerminal

// The layers over a view.

extension AppState {
  /// The index of the topmost layer that covers the whole body, or nil if the view is visible.
  var fullLayer: Int? { layers.lastIndex { $0.component.extent == .page } }

  /// Whether there is no layer, or the top layer is a page without typed text.
  var isPageInFront: Bool {
    guard let top = layers.last?.component else { return true }
    return top.extent == .page && !top.holdsInput
  }

  /// Changes the component of the top layer, if there is one.
  mutating func changeTop(_ body: (inout any LayerComponent, inout AppState) -> Void) {
    guard let top = layers.indices.last else { return }
    var component = layers[top].component
    body(&component, &self)
    layers[top].component = component
  }

  /// Takes the top layer away.
  mutating func closeLayer() {
    guard let layer = layers.popLast() else { return }
    if let effect = layer.component.effectOnClose { effects.append(effect) }
    withList { list, content, height in list.resize(toHeight: height, in: content) }
  }

  /// Closes the layers over the view; returns false if one with typed text stays in front.
  mutating func closeWhatIsRead() -> Bool {
    while let layer = layers.last {
      if layer.component.holdsInput {
        say(.info, "finish first what is typed, or \(keysOrName(.inputCancel))")
        return false
      }
      closeLayer()
    }
    return true
  }

  /// Fits all lists to the present size.
  mutating func fitLayers() {
    withList { list, content, height in list.resize(toHeight: height, in: content) }
    for index in layers.indices { layers[index].component.fit(self) }
  }

  /// Changes the list of a layer; returns false if it has none.
  @discardableResult
  mutating func withLayerList(
    at index: Int, _ body: (inout ListState, ListContent, _ height: Int) -> Void
  ) -> Bool {
    guard var layer = layers[index].listed else { return false }
    layer.withList(bodyHeight: height, body)
    layers[index] = layer.layer
    return true
  }

  /// Changes the list in front: that of the top layer, or else of the view.
  mutating func withListInFront(
    _ body: (inout ListState, ListContent, _ height: Int) -> Void
  ) {
    if let index = layers.indices.last, withLayerList(at: index, body) { return }
    withList(body)
  }

  /// The list that has the keys, and its content.
  var listInFront: (ListState, ListContent) {
    // A line for typing, a menu or the palette is about the list behind it.
    let layer = layers.last { !$0.component.showsListBelow }
    if let layer = layer?.listed { return (layer.list, layer.content) }
    guard case .view(let view) = tabs.front else { return (tabs.tree.list, tabs.tree.content) }
    return (tabs.lists[view].list, tabs.lists[view].content)
  }

  /// The state without the palette, menus and help on top: the place that these are about.
  package var below: AppState {
    var place = self
    while let layer = place.layers.last, layer.component.offersCommandsBelow {
      place.layers.removeLast()
    }
    return place
  }

  // MARK: Typing

  /// The text field that has the keys, or nil if there is none.
  var editorInFront: LineEditor? { layers.last?.component.textField }

  /// Whether a text field has the keys.
  var hasEditor: Bool { editorInFront != nil }

  /// Whether typed text goes into a hidden field, and so must not be recorded.
  package var takesSecret: Bool { editorInFront?.isSecret ?? false }

  /// Inserts typed or pasted text into the field that has the keys.
  mutating func insert(_ text: String) {
    FilterScreen.fittingList(&self) { state in state.changeTop { $0.insert(text, in: &$1) } }
  }

  /// Edits the text of the field that has the keys.
  mutating func editText(_ id: ActionID) {
    FilterScreen.fittingList(&self) { state in state.changeTop { $0.editText(id, in: &$1) } }
  }
}
