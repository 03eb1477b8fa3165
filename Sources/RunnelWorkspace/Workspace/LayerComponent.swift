import RunnelBase
import RunnelTerminal

/// The part of the screen that a layer covers.
enum LayerExtent {
  /// The whole body: nothing below it is visible.
  case page
  /// A box, or some lines, over what is below it.
  case dialog
  /// A line below the list.
  case line
  /// A bar of several lines below the list.
  case bar
}

/// A place in a layer, for the status line.
struct LayerPosition: Hashable, Sendable {
  /// The word for what is counted.
  var word: String
  /// The number of the one with the cursor, from 1.
  var number: Int
  var count: Int
}

/// A component over a view: a value with its state, its handling of input, and its drawing.
///
/// Its commands are in its own table. The extension below has the defaults: the component takes no
/// text, offers no choices, and no command in it has to wait.
protocol LayerComponent: Hashable, Sendable {
  /// The component as a layer.
  var layer: Layer { get }
  /// The component in words, for the trace of actions.
  var summary: String { get }
  var extent: LayerExtent { get }
  /// Whether something is typed or asked in it; then it stays in front when the view changes.
  var holdsInput: Bool { get }
  /// Whether it offers the commands of the place below it.
  var offersCommandsBelow: Bool { get }
  /// Whether the list below stays the list that has the keys.
  var showsListBelow: Bool { get }
  /// The place in the header while the layer is open, or nil for the place below.
  var heading: String? { get }
  /// The title in the help, or nil for the name of the tab.
  var helpTitle: String? { get }
  /// The text field that has the keys, or nil if there is none.
  var textField: LineEditor? { get set }
  /// The typed value whose text field has the keys, or nil if the typed text is no value.
  var fieldInput: FieldInput? { get set }
  /// The choices that it offers, or nil for none.
  var choices: MenuList? { get set }
  /// The command that is selected in it, or nil if there is none.
  var chosenAction: ActionID? { get }
  /// The place in it for the status line, such as `field 2 of 5`; nil for the place in a list.
  var position: LayerPosition? { get }
  /// The effect to carry out when it is closed, or nil for none.
  var effectOnClose: Effect? { get }

  /// Returns the contexts of its keys for a kind of record at hand, innermost first.
  func contexts(about hand: AtHand) -> [KeymapContext]
  /// The reason why a command has to wait for an answer, or nil if it does not.
  func reasonWaiting(for action: ActionID, in state: AppState) -> String?
  /// The area of its choices.
  func choicesArea(in layout: AppLayout) -> Rect

  /// Inserts typed or pasted text into its text field.
  mutating func insert(_ text: String, in state: inout AppState)
  /// Edits the text of its text field.
  mutating func editText(_ id: ActionID, in state: inout AppState)
  /// Reacts to the selection of another choice.
  mutating func selectionChanged(in state: inout AppState)
  /// Shows an error in its text field.
  mutating func showError(_ message: String)
  /// Changes each of its typed fields.
  mutating func updateInputs(_ body: (inout FieldInput) -> Void)
  /// Fits it to the present size.
  mutating func fit(_ state: AppState)

  func draw(into canvas: inout Canvas, _ screen: AppScreen)
  /// The error of its text field, if there is no room for it beside the field; otherwise nil.
  func cutError(_ screen: AppScreen) -> String?
}

extension LayerComponent {
  var holdsInput: Bool { false }
  var offersCommandsBelow: Bool { false }
  var showsListBelow: Bool { false }
  var heading: String? { nil }
  var helpTitle: String? { nil }
  var textField: LineEditor? {
    get { nil }
    set {}
  }
  var fieldInput: FieldInput? {
    get { nil }
    set {}
  }
  var choices: MenuList? {
    get { nil }
    set {}
  }
  var chosenAction: ActionID? { choices?.selected?.deed?.action }
  var position: LayerPosition? { nil }
  var effectOnClose: Effect? { nil }

  func reasonWaiting(for action: ActionID, in state: AppState) -> String? {
    offersCommandsBelow ? TypeAhead.reasonWaitingForChoice(state, action) : nil
  }

  func choicesArea(in layout: AppLayout) -> Rect { Rect(size: TerminalSize(columns: 0, rows: 0)) }

  mutating func insert(_ text: String, in state: inout AppState) {}
  mutating func editText(_ id: ActionID, in state: inout AppState) {}
  mutating func selectionChanged(in state: inout AppState) {}
  mutating func showError(_ message: String) {}
  mutating func updateInputs(_ body: (inout FieldInput) -> Void) {}

  mutating func fit(_ state: AppState) {
    guard var listed = self as? any ListLayer else { return }
    listed.resizeList(height: state.height)
    if let fitted = listed as? Self { self = fitted }
  }

  func cutError(_ screen: AppScreen) -> String? { nil }
}

/// A layer with a list that the cursor moves through.
protocol ListLayer: LayerComponent {
  var list: ListState { get set }
  var content: ListContent { get }

  /// Returns the height of its list for a height of the body.
  func listHeight(of height: Int) -> Int
  /// Returns the number of levels of a row below the header of its section.
  func depth(ofRow id: String) -> Int
  /// Returns the text of a row, without its layout.
  func text(ofRow id: String) -> String
  /// Returns the column at which the text begins in its row, or nil if it is not drawn in one
  /// piece. `width` is the number of columns of the list.
  func textColumn(ofRow id: String, width: Int) -> Int?
  /// The word for a row, for the status line.
  var rowWord: String { get }
  /// The words for one row and for several, if their number stands in the place of that of the list behind.
  var countWords: (one: String, several: String)? { get }
}

extension ListLayer {
  var extent: LayerExtent { .page }

  func listHeight(of height: Int) -> Int { height }

  /// The details of a row stand below it, with the row's id, a dot and a number as their ids.
  func depth(ofRow id: String) -> Int { id.contains(".") ? 1 : 0 }

  func textColumn(ofRow id: String, width: Int) -> Int? { 0 }

  var rowWord: String { "row" }

  var countWords: (one: String, several: String)? { nil }

  /// Changes its list, for a height of the body.
  mutating func withList(
    bodyHeight: Int, _ body: (inout ListState, ListContent, _ height: Int) -> Void
  ) {
    body(&list, content, listHeight(of: bodyHeight))
  }

  mutating func resizeList(height: Int) {
    withList(bodyHeight: height) { list, content, height in
      list.resize(toHeight: height, in: content)
    }
  }
}
