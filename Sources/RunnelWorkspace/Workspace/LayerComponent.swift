import RunnelBase
import RunnelTerminal

/// How much of the screen a layer takes.
enum LayerExtent {
  /// All of the body: what is below it is not seen.
  case page
  /// A box, or some lines, over what is below.
  case dialog
  /// A line below the list.
  case line
  /// A bar of several lines below the list.
  case bar
}

/// A component that lies over a view: a value with its state, what it does with input, and how it is
/// drawn.
///
/// Its commands stand in its own table. What a component does not say is as in the extension below: it
/// takes no text, offers no choices, and nothing in it has to wait.
protocol LayerComponent: Hashable, Sendable {
  /// The component as a layer.
  var layer: Layer { get }
  /// What it is, in words, for the trace of actions.
  var summary: String { get }
  var extent: LayerExtent { get }
  /// True while something is typed or asked in it: it stays in front when the view changes.
  var holdsInput: Bool { get }
  /// True for a component that offers the commands of the place below it.
  var offersCommandsBelow: Bool { get }
  /// True if the list below stays the one that the screen is about.
  var showsListBelow: Bool { get }
  /// The place that the header names while it is open; nil for the one below.
  var heading: String? { get }
  /// What the help calls it; nil for the name of the tab.
  var helpTitle: String? { get }
  /// The text field with the keys; nil if nothing is typed.
  var textField: LineEditor? { get set }
  /// The typed value whose text field has the keys; nil if what is typed is no value.
  var fieldInput: FieldInput? { get set }
  /// What it offers to be chosen; nil if nothing.
  var choices: MenuList? { get set }
  /// The command that is chosen in it; nil if none is.
  var chosenAction: ActionID? { get }
  /// What is to be done in the world when it is closed; nil for nothing.
  var effectOnClose: Effect? { get }

  /// The contexts of its keys, innermost first, where the keys are about something.
  func contexts(about hand: AtHand) -> [KeymapContext]
  /// The reason why a command has to wait for an answer; nil if it has not.
  func reasonWaiting(for action: ActionID, in state: AppState) -> String?
  /// The lines of its choices.
  func choicesArea(in layout: AppLayout) -> Rect

  /// Puts typed or pasted text into its text field.
  mutating func insert(_ text: String, in state: inout AppState)
  /// Changes its text as a text field does.
  mutating func editText(_ id: ActionID, in state: inout AppState)
  /// Another choice was selected.
  mutating func selectionChanged(in state: inout AppState)
  /// Marks its text field with what is wrong.
  mutating func showError(_ message: String)
  /// Changes each of its typed fields.
  mutating func updateInputs(_ body: (inout FieldInput) -> Void)
  /// Fits it into the room that there is now.
  mutating func fit(_ state: AppState)

  func draw(into canvas: inout Canvas, _ screen: AppScreen)
  /// What is wrong with its text field, if there is no room for it where it stands.
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

  /// The contexts where text is typed, behind those of the component.
  static var typing: [KeymapContext] { [.input, .textField] }
}

/// A layer that is moved through line by line.
protocol ListLayer: LayerComponent {
  var list: ListState { get set }
  var content: ListContent { get }

  /// The height of its list where the body of the screen has a height.
  func listHeight(of height: Int) -> Int
  /// How many levels a row stands below the header of its section.
  func depth(ofRow id: String) -> Int
  /// What a row shows, without its layout.
  func text(ofRow id: String) -> String
  /// The column at which that begins, from the beginning of the row; nil if it is not drawn in one piece.
  func textColumn(ofRow id: String) -> Int?
}

extension ListLayer {
  var extent: LayerExtent { .page }

  func listHeight(of height: Int) -> Int { height }

  /// What a row opens to stands below it, with the row's id and a number.
  func depth(ofRow id: String) -> Int { id.contains(".") ? 1 : 0 }

  func textColumn(ofRow id: String) -> Int? { 0 }

  /// Changes its list, which has a height where the body of the screen has one.
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
