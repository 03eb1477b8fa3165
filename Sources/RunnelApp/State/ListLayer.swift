import RunnelBase
import RunnelTerminal
import RunnelTree

/// What lies over a view and is moved through line by line.
protocol ListLayer {
  var list: ListState { get set }
  var content: ListContent { get }

  /// The height of its list where the body of the screen has a height.
  func listHeight(of height: Int) -> Int
  /// How many levels a row stands below the header of its section.
  func depth(ofRow id: String) -> Int
  /// What a row shows, without its layout.
  func text(ofRow id: String) -> String
  /// The column at which that begins on the screen; nil if it is not drawn in one piece.
  func textColumn(ofRow id: String) -> Int?
}

extension ListLayer {
  func listHeight(of height: Int) -> Int { height }

  /// What a row opens to stands below it, with the row's id and a number.
  func depth(ofRow id: String) -> Int { id.contains(".") ? 1 : 0 }
}

extension HelpScreen: ListLayer {
  func listHeight(of height: Int) -> Int {
    HelpDrawing.list(in: Rect(size: TerminalSize(columns: 1, rows: height))).height
  }

  func depth(ofRow id: String) -> Int { 0 }
}

extension RecordScreen: ListLayer {
  func depth(ofRow id: String) -> Int { fields[id]?.path.keys.count ?? 0 }
}

extension CompareScreen: ListLayer {
  func depth(ofRow id: String) -> Int { 0 }
}

extension DebugScreen: ListLayer {}
extension HistoryScreen: ListLayer {}
extension QueueScreen: ListLayer {}

extension AppState.Layer {
  /// The layer with its list; nil if it has none.
  fileprivate(set) var listed: (any ListLayer)? {
    get {
      switch self {
      case .record(let screen): screen
      case .help(let screen): screen
      case .debug(let screen): screen
      case .history(let screen): screen
      case .compare(let screen): screen
      case .queue(let screen): screen
      case .form, .confirm, .compose, .filter, .search, .palette, .menu: nil
      }
    }
    set {
      switch newValue {
      case let screen as RecordScreen: self = .record(screen)
      case let screen as HelpScreen: self = .help(screen)
      case let screen as DebugScreen: self = .debug(screen)
      case let screen as HistoryScreen: self = .history(screen)
      case let screen as CompareScreen: self = .compare(screen)
      case let screen as QueueScreen: self = .queue(screen)
      default: break
      }
    }
  }
}

extension AppState {
  /// Changes the list of a layer; false if it has none.
  @discardableResult
  mutating func withLayerList(
    at index: Int, _ body: (inout ListState, ListContent, _ height: Int) -> Void
  ) -> Bool {
    guard var layer = layers[index].listed else { return false }
    let content = layer.content
    let height = layer.listHeight(of: height)
    body(&layer.list, content, height)
    layers[index].listed = layer
    return true
  }

  /// Changes the list that is in front: that of the layer on top, or else of the view.
  mutating func withListInFront(
    _ body: (inout ListState, ListContent, _ height: Int) -> Void
  ) {
    if let index = layers.indices.last, withLayerList(at: index, body) { return }
    withList(body)
  }
}
