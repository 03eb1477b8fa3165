import RunnelBase
import RunnelTerminal

// What becomes of the workspace when the files that define its views and resources are saved.

/// A views file that was saved while something is open over a view.
struct Redefinition: Hashable, Sendable {
  /// What the file is called.
  var name: String
  var yaml: String
}

extension AppState {
  /// The file of the views or the resources was saved.
  ///
  /// Views are taken over at once, or as soon as nothing is open over one; resources, by which writes are
  /// made, from the next start on.
  ///
  /// - Parameters:
  ///   - file: its path.
  ///   - problem: what is wrong with it; nil if nothing is.
  ///   - yaml: the text of a views file without a mistake; nil for another file.
  mutating func redefine(_ file: String, _ problem: String?, views yaml: String?) {
    let name = file.split(separator: "/").last.map(String.init) ?? file
    if let problem {
      redefinition = nil
      return say(.warning, "\(problem) - until it is mended, all is as it was")
    }
    guard let yaml else {
      return say(.info, "\(name) was changed; what it says holds from the next start on")
    }
    redefinition = Redefinition(name: name, yaml: yaml)
    if !layers.isEmpty {
      say(.info, "\(name) was changed; the views follow when this is closed")
    }
  }

  /// Takes over the views that were saved, unless something is open over a view.
  mutating func takeRedefinition() {
    guard let saved = redefinition, layers.isEmpty else { return }
    redefinition = nil
    // Who saved it was told of its mistakes.
    guard
      let file = try? ViewFile(yaml: saved.yaml, name: saved.name, pageSize: pageSize)
    else { return }
    let definitions = file.views + [resources.activityView].compactMap(\.self)
    var isUnindexed = false
    for index in lists.indices {
      let definition = definitions.first { $0.name == lists[index].definition.name }
      guard let definition, lists[index].isOtherwise(definition, pageSize: pageSize) else {
        continue
      }
      if definition.indexes != lists[index].ownDefinition.indexes { isUnindexed = true }
      redefine(index, definition)
    }
    var rest: [String] = []
    if isUnindexed { rest.append("the index of its new order") }
    if definitions.map(\.name) != tabs.dropLast() { rest.append("which views there are") }
    if let me = file.me, me != self.me { rest.append("me") }
    let words = rest.isEmpty ? "" : "; from the next start on: \(rest.joined(separator: ", "))"
    say(.info, "\(saved.name) was read again\(words)")
  }

  /// Shows a view as it is defined now.
  ///
  /// What the user chose and was doing there stays.
  private mutating func redefine(_ index: Int, _ definition: ViewDefinition) {
    let old = lists[index]
    resume(index)
    var screen = ListScreen(definition)
    screen.usePages(of: pageSize)
    if old.definition.source.path == definition.source.path {
      (screen.marks, screen.unread, screen.draft) = (old.marks, old.unread, old.draft)
      screen.sent = old.sent
    }
    lists[index] = screen
    restore(session(of: old, isInFront: index == active), inView: index)
    let content = lists[index].content
    lists[index].list.resize(toHeight: height, in: content)
    guard old.isOpen else { return }
    lists[index].isOpen = true
    effects.append(.openView(index))
    if lists[index].filter != nil { applyFilter(inView: index) }
  }
}

extension ListScreen {
  /// The view as it is defined, whatever order was chosen.
  fileprivate var ownDefinition: ViewDefinition {
    var own = definition
    own.source = ownSource
    return own
  }

  /// True if a definition is another one than the list's; how large pages are by default makes no
  /// difference.
  fileprivate func isOtherwise(_ definition: ViewDefinition, pageSize: Int) -> Bool {
    func alike(_ definition: ViewDefinition) -> ViewDefinition {
      var alike = definition
      if !alike.source.hasOwnPage { alike.source.page = pageSize }
      return alike
    }
    return alike(ownDefinition) != alike(definition)
  }
}
