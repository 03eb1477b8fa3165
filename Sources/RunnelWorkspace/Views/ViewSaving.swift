import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// A view that is to be saved in the views file.
package struct ViewSaving: Hashable, Sendable {
  /// The views file.
  package var file: String
  package var view: ViewDefinition
  /// All views, for a file that does not exist yet.
  package var all: [ViewDefinition]
  /// Whether the file has no view of this name yet.
  package var isNew = false
}

extension ListScreen {
  /// The view as it is shown: its order, and the visible columns with their widths.
  package var shownDefinition: ViewDefinition {
    var shown = definition
    shown.columns = definition.columns.enumerated()
      .filter { !look.hiddenColumns.contains($0.offset) }.map(\.element)
    for index in shown.columns.indices where look.chosenFields.contains(shown.columns[index].field)
    {
      shown.columns[index].minimumScreen = 0
    }
    return shown.written
  }

  /// Takes the view as it is shown for the view itself, after it was saved: rows and cursor stay.
  mutating func adopt(_ saved: ViewDefinition) {
    look.removeHidden(
      keeping: definition.columns.indices.filter { !look.hiddenColumns.contains($0) })
    arrangement.adopt(saved)
    definition = saved
  }
}

extension Tabs {
  /// A list as it is shown; the paths of a view with parameters are those of the file.
  fileprivate func shownDefinition(of list: ListScreen) -> ViewDefinition {
    var shown = list.shownDefinition
    guard list.drillDown != nil, let template = templates.first(where: { $0.name == shown.name })
    else { return shown }
    shown.source.path = template.source.path
    shown.source.writtenPath = template.source.writtenPath
    for (index, source) in template.also.enumerated() where shown.also.indices.contains(index) {
      shown.also[index].path = source.path
      shown.also[index].writtenPath = source.writtenPath
    }
    return shown
  }
}

extension ViewSaving {
  /// Saves the view in front under a name, with its filter as a condition.
  ///
  /// An empty name is its own, and leaves the filter out. Before another view is replaced, the user is
  /// asked. Returns the reason why it cannot be saved, or nil.
  static func start(_ state: inout AppState, named name: String) -> String? {
    guard let file = state.files.viewsFile, let list = state.tabs.frontList else { return nil }
    let log = state.database.resources.registry.log
    if list.definition.source.path == log {
      return "this view comes from the resources file"
    }
    var view = state.tabs.shownDefinition(of: list)
    let filter = list.filtering.filter.flatMap { $0.isEmpty ? nil : $0 }
    if !name.isEmpty {
      view.name = name
      do throws(FilterError) {
        if let filter { view.add(try FilterPredicate(filter, in: list).predicate) }
      } catch {
        return error.message
      }
    }
    let own = state.tabs.lists.prefix(state.tabs.fixedCount).map(\.ownDefinition.written)
    let known = (own + state.tabs.templates).filter { $0.source.path != log }
    let isNew = !known.contains { $0.name == view.name }
    let all = known.map { $0.name == view.name ? view : $0 } + (isNew ? [view] : [])
    let saving = ViewSaving(file: file, view: view, all: all, isNew: isNew)
    if name.isEmpty || isNew {
      saving.save(&state, leavesOut: name.isEmpty ? filter : nil)
    } else {
      var message = [StyledLine("in \(file), by the view as it is shown:")]
      for line in ViewText.entry(view, indentation: 0).split(separator: "\n") {
        message.append(StyledLine(String(line), .muted))
      }
      let question = Question(
        .saveView(saving), title: "Replace the view \(view.name)", message: message,
        isDanger: false, openedAt: state.now)
      Question.open(&state, question, yes: "replace it", no: "leave it")
    }
    return nil
  }

  /// Writes the file, and says so.
  func save(_ state: inout AppState, leavesOut filter: Filter? = nil) {
    state.effects.append(.saveView(self))
    let words =
      isNew
      ? "the view \(view.name) is saved in \(file); its tab comes at the next start"
      : "the view is saved in \(file)"
    let rest = filter == nil ? "" : "; not its filter, which `:save-view NAME` saves too"
    state.files.savedView = SavedView(name: view.name, words: words + rest, time: state.now)
    state.say(.info, words + rest)
  }
}

/// A view that was just saved here: when its file is read again, this is what is said.
package struct SavedView: Hashable, Sendable {
  /// The time after saving in which the file is read again because of it, in milliseconds.
  private static let readingMilliseconds: Int64 = 10_000

  var name: String
  var words: String
  /// When it was saved, in milliseconds since 1970.
  var time: Int64

  /// Returns whether the views of a file that is read now were saved here.
  func isIn(_ views: [ViewDefinition], now: Int64) -> Bool {
    0...SavedView.readingMilliseconds ~= now - time && views.contains { $0.name == name }
  }
}

extension ViewDefinition {
  /// The view as a file says it.
  ///
  /// A file has no widths for wide screens: a column of dates whose width nobody has set keeps the time of day.
  var written: ViewDefinition {
    var written = self
    for index in columns.indices
    where columns[index].format == .date
      && columns[index].wideWidth == ColumnDefinition.timestampWidth
    {
      written.columns[index].width = ColumnDefinition.timestampWidth
    }
    return written
  }

  /// Shows only rows of which a predicate holds too.
  fileprivate mutating func add(_ predicate: ChildPredicate) {
    source.add(predicate)
    for index in also.indices { also[index].add(predicate) }
  }
}

extension SourceDefinition {
  fileprivate mutating func add(_ predicate: ChildPredicate) {
    if let own = filter {
      filter = .all([own, predicate])
    } else {
      filter = predicate
    }
  }
}

extension PaletteCommand {
  package static let saveView = PaletteCommand(
    name: "save-view", hint: "[NAME]", ownTitle: "save the view",
    description: "write this view, as it is shown, to the views file",
    argument: .optionalText,
    tabs: .lists(else: "the tree is no view of a views file"),
    ownReason: {
      $0.files.viewsFile == nil ? "this database has no views file to write to" : nil
    },
    run: { ViewSaving.start(&$0, named: $1) })
}
