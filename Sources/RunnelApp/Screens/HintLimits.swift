import RunnelBase
import RunnelTerminal
import RunnelTree

/// What decides which of the hinted actions can be done: where these are equal, so are the hints.
struct HintLimits: Equatable {
  /// The list of a view.
  private struct List: Equatable {
    let view: Int
    let cursor: Cursor
    let phase: LoadPhase
    let paging: PagingPhase
    let rowCount: Int
    let markCount: Int
    let isFiltered: Bool
    let folded: Set<String>
  }

  /// What the cursor of a list is on, as far as hints are about it.
  private enum Cursor: Equatable {
    case none
    case header(String)
    case pagingRow
    case record
    case draft
  }

  /// The line of the tree under the cursor.
  private struct Branch: Equatable {
    let line: TreeScreen.Line?
    let phase: LoadPhase?
    let paging: PagingPhase?
    let parentPaging: PagingPhase?
    let parentPhase: LoadPhase?
    let folded: Set<String>
    let rowCount: Int
    let markCount: Int
  }

  /// What lies over a view.
  private struct Layer: Equatable {
    let cursor: ListItem?
    let rowCount: Int
    let queue: WriteQueue
    let field: RecordScreen.Field?
    let isRead: Bool
    let model: ThreeWay?
    let history: PagingPhase?
    let historyPhase: LoadPhase?
    let isReading: Bool
    let drafts: [String]
  }

  private let isReadOnly: Bool
  private let undoCount: Int
  private let redoCount: Int
  private let isReversing: Bool
  private let views: ListItem?
  private let paneSize: PaneSize
  private let paneCount: Int
  private let list: List?
  private let branch: Branch?
  private let layer: Layer?

  init(_ state: AppState) {
    isReadOnly = state.reasonReadOnly != nil
    undoCount = state.undoing.steps(.undo).count
    redoCount = state.undoing.steps(.redo).count
    isReversing = state.undoing.reversal != nil
    views = state.pane == .views ? state.viewsList.cursor : nil
    let arrangement = state.arrangement
    (paneSize, paneCount) = (arrangement.size, arrangement.panes.count)
    layer = state.layers.last.flatMap { HintLimits.layer($0, state) }
    list = layer == nil && !state.isTree ? HintLimits.list(state) : nil
    branch = layer == nil && state.isTree ? HintLimits.branch(state) : nil
  }

  private static func list(_ state: AppState) -> List {
    let screen = state.lists[state.active]
    let cursor: Cursor =
      switch screen.list.cursor {
      case nil: .none
      case .header(let id): .header(id)
      case .row(ListScreen.pagingRow): .pagingRow
      case .row: screen.cursorRecord == nil ? .draft : .record
      }
    return List(
      view: state.active, cursor: cursor, phase: screen.phase, paging: screen.paging,
      rowCount: screen.content.rowCount, markCount: screen.markCount,
      isFiltered: screen.filter != nil, folded: screen.list.folded)
  }

  private static func branch(_ state: AppState) -> Branch {
    let tree = state.tree
    let line = tree.cursorLine
    let path: Path =
      switch line {
      case .node(let path, _, _)?, .paging(let path, _, _)?, .failed(let path, _, _)?: path
      case nil: .root
      }
    return Branch(
      line: line, phase: tree.expanded[path]?.phase, paging: tree.expanded[path]?.paging,
      parentPaging: path.parent.flatMap { tree.expanded[$0]?.paging },
      parentPhase: path.parent.flatMap { tree.expanded[$0]?.phase }, folded: tree.list.folded,
      rowCount: tree.content.rowCount, markCount: tree.markCount)
  }

  private static func layer(_ layer: AppState.Layer, _ state: AppState) -> Layer? {
    guard let listed = layer.listed else { return nil }
    var field: RecordScreen.Field?
    var isRead = true
    var model: ThreeWay?
    var history: PagingPhase?
    var historyPhase: LoadPhase?
    var isReading = false
    var drafts: [String] = []
    switch layer {
    case .record(let screen): (field, isRead) = (screen.cursorField, screen.node != nil)
    case .compare(let screen): model = screen.model
    case .history(let screen):
      (history, historyPhase, isReading) = (screen.paging, screen.phase, screen.request != nil)
    case .queue: drafts = state.lists.map(\.draft)
    default: break
    }
    return Layer(
      cursor: listed.list.cursor, rowCount: listed.content.rowCount, queue: state.queue,
      field: field, isRead: isRead, model: model, history: history, historyPhase: historyPhase,
      isReading: isReading, drafts: drafts)
  }
}
