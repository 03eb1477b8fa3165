import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// What becomes of writes: what was typed is let go only when it is on disk.

extension AppState {
  /// A write is on disk.
  mutating func finish(_ number: Int, key: RunnelTree.Key?) {
    switch writes.removeValue(forKey: number) {
    case .edit: say(.info, "saved")
    case .delete: say(.info, "deleted")
    case .form(let form): finish(form, key: key)
    case .send(let view, let text):
      closeComposer(number, text)
      if let key { goTo(key, inView: view) }
    case nil: break
    }
  }

  private mutating func finish(_ form: FormScreen, key: RunnelTree.Key?) {
    switch form.purpose {
    case .setLeaf: say(.info, "saved")
    case .addChild, .addField: say(.info, "added")
    case .addRecord(let view):
      say(.info, "added")
      if let key { goTo(key, inView: view) }
    }
  }

  /// Goes to a row that was just written; says where it is if it cannot be shown.
  private mutating func goTo(_ key: RunnelTree.Key, inView view: Int) {
    let screen = lists[view]
    let id = Path(unchecked: screen.definition.source.path.keys + [key]).description
    if lists[view].list.moveTo(.row(id), in: screen.content, height: height) { return }
    if screen.content.indexPath(ofRow: id) == nil {
      say(.info, "added: it is among the rows that are not loaded")
    } else {
      say(.info, "added: it is in a folded section")
    }
  }

  /// A write was refused: what was typed is given back, with the reason.
  mutating func fail(_ number: Int, _ message: String) {
    say(.error, message)
    switch writes.removeValue(forKey: number) {
    case .send: reopenComposer(number, message)
    case .edit(let path, let edit): reopen(edit, inRecord: path, message)
    case .form(let form): reopen(form, message)
    case .delete, nil: break
    }
  }

  private mutating func reopen(_ edit: RecordScreen.Edit, inRecord path: Path, _ message: String) {
    var edit = edit
    edit.error = message
    for (index, layer) in layers.enumerated() {
      guard case .record(var screen) = layer, screen.path == path else { continue }
      if screen.edit == nil { screen.start(.edit(edit), height: height) }
      layers[index] = .record(screen)
      return
    }
    // Whoever does something else by now is not interrupted.
    if layers.isEmpty { open(record: path, .edit(edit)) }
  }

  private mutating func reopen(_ form: FormScreen, _ message: String) {
    var form = form
    form.fields[form.focus].error = message
    switch layers.last {
    case .confirm, .form, .compose, .filter, .search:
      // Keys that are meant for another field do not go into this one.
      layers.insert(.form(form), at: layers.count - 1)
    case .record(let screen) where screen.edit != nil:
      layers.insert(.form(form), at: layers.count - 1)
    case .record, .help, nil: layers.append(.form(form))
    }
  }
}
