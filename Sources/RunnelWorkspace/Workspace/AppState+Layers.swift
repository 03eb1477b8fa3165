import RunnelBase
import RunnelTerminal

// The layers over a view: what is asked of the one on top, or of each.

extension AppState {
  /// The index of the topmost layer that takes all of the body; nil if the view shows.
  var fullLayer: Int? { layers.lastIndex { $0.component.extent == .page } }

  /// True if nothing is open, or the keys go to a page where nothing is typed.
  var isPageInFront: Bool {
    guard let top = layers.last?.component else { return true }
    return top.extent == .page && !top.holdsInput
  }

  /// Changes the component on top, if there is a layer.
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
    let height = height
    withList { list, content, _ in list.resize(toHeight: height, in: content) }
  }

  /// Closes what lies over the view; false if something is typed there, which stays in front.
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

  /// Fits all lists into the room that there is now.
  mutating func fitLayers() {
    let height = height
    withList { list, content, _ in list.resize(toHeight: height, in: content) }
    for index in layers.indices { layers[index].component.fit(self) }
  }

  /// Changes the list of a layer; false if it has none.
  @discardableResult
  mutating func withLayerList(
    at index: Int, _ body: (inout ListState, ListContent, _ height: Int) -> Void
  ) -> Bool {
    guard var layer = layers[index].listed else { return false }
    layer.withList(bodyHeight: height, body)
    layers[index] = layer.layer
    return true
  }

  /// Changes the list that is in front: that of the layer on top, or else of the view.
  mutating func withListInFront(
    _ body: (inout ListState, ListContent, _ height: Int) -> Void
  ) {
    if let index = layers.indices.last, withLayerList(at: index, body) { return }
    withList(body)
  }

  /// The list that keys move through.
  var listInFront: (ListState, ListContent) {
    // A line that is typed, a menu or the palette is about the list behind it.
    let layer = layers.last { !$0.component.showsListBelow }
    if let layer = layer?.listed { return (layer.list, layer.content) }
    return tabs.isTree ? (tabs.tree.list, tabs.tree.content) : (tabs.front.list, tabs.front.content)
  }

  /// The state without the palette, menus and help that lie on top: what these are about.
  package var below: AppState {
    var place = self
    while let layer = place.layers.last, layer.component.offersCommandsBelow {
      place.layers.removeLast()
    }
    return place
  }

  // MARK: Typing

  /// The text field with the keys; nil if nothing is typed.
  var editorInFront: LineEditor? { layers.last?.component.textField }

  /// True if typed text has somewhere to go.
  var hasEditor: Bool { editorInFront != nil }

  /// True if what is typed goes into a field whose text is hidden: it is not to be recorded.
  package var takesSecret: Bool { editorInFront?.isSecret ?? false }

  /// Puts typed or pasted text into the field with the keys.
  mutating func insert(_ text: String) { changeTop { $0.insert(text, in: &$1) } }

  /// Changes the text of the field with the keys as a text field does.
  mutating func editText(_ id: ActionID) { changeTop { $0.editText(id, in: &$1) } }
}
