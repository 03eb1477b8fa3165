import RunnelBase
import RunnelTerminal

/// The keys that are most of use now, for the line above the status.
struct Hints {
  let state: AppState

  var all: [Hint] {
    switch state.layers.last {
    case nil: state.isTree ? tree : collection
    case .record(let screen): screen.edit == nil ? record : field
    case .compose: [key(.inputAccept, "send"), key(.inputCancel, "keep as a draft")]
    case .form: [key(.formSave, "save"), key(.inputCancel, "cancel")]
    case .confirm: [key(.dialogYes, "yes"), key(.dialogNo, "no")]
    case .help: [key(.rowOpen, "run"), key(.stepBack, "close")]
    }
  }

  /// The way to the help, which is never left out.
  static func help(_ state: AppState) -> Hint? {
    switch state.layers.last {
    case nil: Hint("?", "help")
    case .record(let screen): screen.edit == nil ? Hint("?", "help") : Hint("F1", "help")
    case .form, .compose: Hint("F1", "help")
    case .confirm, .help: nil
    }
  }

  private var collection: [Hint] {
    switch state.lists[state.active].list.cursor {
    case .header:
      [
        key(.rowOpen, "fold"), key(.sectionNext, "next section"), key(.recordAdd, "add"),
        key(.viewNext, "next view"), key(.viewClose, "leave"),
      ]
    case .row(ListScreen.pagingRow):
      [
        key(.rowOpen, "fetch"), key(.sectionNext, "next section"), key(.viewNext, "next view"),
        key(.viewClose, "leave"),
      ]
    case .row, nil:
      [
        key(.rowOpen, "open"), key(.recordEdit, "edit"), key(.recordAdd, "add"),
        key(.recordDelete, "delete"), key(.sectionMore, "more"), key(.sectionNext, "section"),
        key(.viewNext, "view"), key(.viewClose, "leave"),
      ]
    }
  }

  private var tree: [Hint] {
    [
      key(.rowIn, "open"), key(.rowOut, "close"), key(.recordEdit, "edit"),
      key(.recordAdd, "add"), key(.recordDelete, "delete"), key(.sectionMore, "more"),
      key(.viewNext, "view"), key(.viewClose, "leave"),
    ]
  }

  private var record: [Hint] {
    [
      key(.recordEdit, "edit"), key(.recordAdd, "add field"), key(.recordDelete, "delete"),
      key(.stepBack, "back"),
    ]
  }

  private var field: [Hint] {
    [key(.inputAccept, "save"), key(.inputCancel, "cancel"), key(.fieldType, "type")]
  }

  private func key(_ action: ActionID, _ words: String) -> Hint {
    Hint(AppKeymap.keymap.keys(for: action, in: state.contexts).first ?? "", words)
  }
}
