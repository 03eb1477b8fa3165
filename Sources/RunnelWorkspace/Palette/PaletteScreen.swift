package import RunnelTerminal
import RunnelTree

/// The palette: what can be done here, found by typing some of its letters.
package struct PaletteScreen: Hashable, Sendable {
  package var editor = LineEditor()
  /// What fits what is typed.
  package var menu = MenuList([])
  /// The palette lines run before, with the position in that history.
  var past: LineHistory
  /// True while the user goes through what was done before.
  var isRecalling = false
  /// The reason why what was typed was not done.
  package var problem: String?
  /// The theme before one was tried, which comes back if the palette is left.
  package let theme: ThemeChoice?
}

/// A small list over the screen from which one thing is chosen.
package struct MenuScreen: Hashable, Sendable {
  /// What the menu is for.
  enum Purpose: Hashable, Sendable {
    /// What can be done with the row under the cursor.
    case rowActions
    /// The order of a list.
    case sort(view: Int)
    /// The columns of a list.
    case columns(view: Int)
    /// The records that a row refers to.
    case references
  }

  let purpose: Purpose
  package let title: String
  package var editor = LineEditor()
  package var menu: MenuList
}

/// What is typed into the palette, by what it begins with.
enum PaletteInput {
  /// The letters of anything.
  case words(String)
  /// A path, to go there.
  case path(String)
  /// The name of a command, a blank, and what follows.
  case command(PaletteCommand, argument: String)

  init(_ text: String) {
    let line = text.drop { $0 == " " || $0 == ":" }
    if line.first == "/" {
      self = .path(line.trimmingBlanks)
      return
    }
    guard let blank = line.firstIndex(of: " "),
      let command = PaletteCommand.named(String(line[..<blank]))
    else {
      self = .words(String(line))
      return
    }
    self = .command(command, argument: line[blank...].trimmingBlanks)
  }
}

extension StringProtocol {
  /// The text without the blanks around it.
  var trimmingBlanks: String {
    let start = drop { $0 == " " }
    let end = start.lastIndex { $0 != " " }
    return end.map { String(start[...$0]) } ?? ""
  }
}

/// What an item of the palette does: kept as its id.
package enum PaletteDeed: Hashable {
  /// Run an action.
  case action(ActionID)
  /// Run a line as if it were typed.
  case run(String)
  /// Put a line into the field, for more to be typed.
  case fill(String)

  init?(id: String) {
    guard let colon = id.firstIndex(of: ":") else { return nil }
    let text = String(id[id.index(after: colon)...])
    switch id[..<colon] {
    case "action": self = .action(ActionID(text))
    case "run": self = .run(text)
    case "fill": self = .fill(text)
    default: return nil
    }
  }

  /// The action that it runs; nil if it is a line.
  package var action: ActionID? {
    if case .action(let action) = self { action } else { nil }
  }

  package var id: String {
    switch self {
    case .action(let action): "action:\(action)"
    case .run(let line): "run:\(line)"
    case .fill(let line): "fill:\(line)"
    }
  }

  /// What stands in the field for it.
  package var line: String {
    switch self {
    case .action(let action): action.rawValue
    case .run(let line), .fill(let line): line
    }
  }
}
