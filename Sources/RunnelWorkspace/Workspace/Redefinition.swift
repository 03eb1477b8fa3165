import RunnelBase
import RunnelTerminal

// Changed views and resources: what happens when the files that define them are saved.

/// A saved views file without a mistake.
package struct SavedViews: Hashable, Sendable {
  /// The text, for recorded sessions.
  package var text: String
  package var content: ViewFile

  package init(text: String, content: ViewFile) {
    self.text = text
    self.content = content
  }
}

/// A views file that was saved while a layer is open over a view.
package struct Redefinition: Hashable, Sendable {
  /// The name of the file.
  package var name: String
  package var content: ViewFile
}

extension Redefinition {
  /// Handles a saved file of the views or the resources.
  ///
  /// Views are applied at once, or as soon as no layer is open. Resources decide how writes are
  /// made, and are applied at the next start.
  ///
  /// - Parameters:
  ///   - state: the state of the workspace.
  ///   - file: the path of the file.
  ///   - problem: the error in the file, or nil.
  ///   - views: the content of a views file without a mistake; nil for another file.
  static func redefine(
    _ state: inout AppState, _ file: String, _ problem: String?, views: SavedViews?
  ) {
    let name = file.split(separator: "/").last.map(String.init) ?? file
    if let problem {
      state.files.redefinition = nil
      return state.say(.warning, "\(problem) - until it is mended, all is as it was")
    }
    let me = state.database.me
    if let problem = views?.content.views.lazy.compactMap({ $0.userProblem(me) }).first {
      state.files.redefinition = nil
      return state.say(.warning, "\(problem) Until it is mended, all is as it was")
    }
    guard let views else {
      return state.say(.info, "\(name) was changed; what it says holds from the next start on")
    }
    state.files.redefinition = Redefinition(name: name, content: views.content)
    if !state.layers.isEmpty {
      state.say(.info, "\(name) was changed; the views follow when this is closed")
    }
  }

  /// Applies the saved views, unless a layer is open over a view.
  static func takeRedefinition(_ state: inout AppState) {
    guard let saved = state.files.redefinition, state.layers.isEmpty else { return }
    state.files.redefinition = nil
    let definitions =
      saved.content.views
      .map {
        $0.bound(toUser: state.database.me).placed(among: state.database.services)
          .paged(by: state.settings.pageSize)
      }
      + [state.database.resources.activityView].compactMap(\.self)
    state.tabs.templates = ViewDefinition.templates(in: definitions)
    var isUnindexed = false
    for index in state.tabs.lists.indices {
      guard let definition = definition(of: state.tabs.lists[index], in: definitions),
        state.tabs.lists[index].isOtherwise(definition, pageSize: state.settings.pageSize)
      else {
        continue
      }
      // What was saved from the list itself is what it shows: it keeps its rows and its place.
      if state.tabs.lists[index].shows(definition) {
        state.tabs.lists[index].adopt(definition)
        continue
      }
      if state.tabs.lists[index].ownDefinition.isWritten(as: definition) { continue }
      if definition.wantedIndexes != state.tabs.lists[index].ownDefinition.wantedIndexes {
        isUnindexed = true
      }
      redefine(&state, index, definition)
    }
    var rest: [String] = []
    if isUnindexed { rest.append("the index of its new order") }
    let own = state.files.savedView.flatMap { $0.isIn(definitions, now: state.now) ? $0 : nil }
    state.files.savedView = nil
    let names = definitions.filter { !$0.hasParameters }.map(\.name)
    if own == nil, names != state.tabs.names.dropLast() { rest.append("which views there are") }
    if let me = saved.content.me, me != state.database.me { rest.append("me") }
    let words = rest.isEmpty ? "" : "; from the next start on: \(rest.joined(separator: ", "))"
    state.say(.info, (own?.words ?? "\(saved.name) was read again") + words)
  }

  /// Returns the definition of a list among those of a file; nil if there is none any more.
  private static func definition(
    of list: ListScreen, in definitions: [ViewDefinition]
  ) -> ViewDefinition? {
    guard let keys = list.drillDown?.keys else {
      return definitions.first { !$0.hasParameters && $0.name == list.definition.name }
    }
    let view = ViewDefinition.templates(in: definitions)
      .first { $0.name == list.definition.name }?.bound(to: keys)
    return view.flatMap { $0.hasParameters ? nil : $0 }
  }

  /// Applies a new definition to a view.
  ///
  /// The user's choices and unfinished work in the view stay.
  private static func redefine(_ state: inout AppState, _ index: Int, _ definition: ViewDefinition)
  {
    let old = state.tabs.lists[index]
    ListScreen.resume(&state, index)
    var screen = ListScreen(definition)
    screen.drillDown = old.drillDown
    screen.usePages(of: state.settings.pageSize)
    if old.definition.source.path == definition.source.path {
      (screen.marks, screen.news.unread) = (old.marks, old.news.unread)
      screen.line = old.line.takenOver
    }
    state.tabs.lists[index] = screen
    SessionState.restore(
      &state, SessionState.session(state, of: old, isInFront: state.tabs.front == .view(index)),
      inView: index)
    let content = state.tabs.lists[index].content
    state.tabs.lists[index].list.resize(
      toHeight: state.tabs.height(ofView: index, in: state.height), in: content)
    guard old.reach.isOpen else { return }
    state.tabs.lists[index].reach.isOpen = true
    state.effects.append(.openView(index))
    Presence.showTyping(&state, inOpenedView: index)
    if state.tabs.lists[index].filtering.filter != nil {
      FilterScreen.applyFilter(&state, inView: index)
    }
  }
}

extension ListScreen {
  /// The definition of the view itself, without what the order that the user chose changes.
  var ownDefinition: ViewDefinition {
    var own = definition
    own.source = arrangement.ownSource
    own.sections = arrangement.ownSections
    return own
  }

  /// Returns whether a definition differs from the list's, apart from the default size of pages.
  fileprivate func isOtherwise(_ definition: ViewDefinition, pageSize: Int) -> Bool {
    ownDefinition.paged(by: pageSize) != definition.paged(by: pageSize)
  }

  /// Returns whether a definition is what the list shows, with the order and the columns that the user
  /// chose.
  fileprivate func shows(_ definition: ViewDefinition) -> Bool {
    shownDefinition.isWritten(as: definition)
  }
}

extension ViewDefinition {
  /// Returns whether a views file has the same text for both.
  ///
  /// What a file does not keep, such as widths for wide screens that were found, makes no other view.
  fileprivate func isWritten(as other: ViewDefinition) -> Bool {
    ViewText.entry(written, indentation: 0) == ViewText.entry(other, indentation: 0)
  }

  /// Returns the view with the page size, if its source does not set its own.
  fileprivate func paged(by count: Int) -> ViewDefinition {
    var view = self
    if !view.source.hasOwnPage { view.source.page = count }
    return view
  }
}
