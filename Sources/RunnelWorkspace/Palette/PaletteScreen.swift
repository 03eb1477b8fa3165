package import RunnelTerminal
import RunnelTree

/// The palette: the commands of the place, found by typing some of their letters.
package struct PaletteScreen: Hashable, Sendable {
  package var editor = LineEditor()
  /// The items that match the typed text.
  package var menu = MenuList([])
  /// The palette lines run before, with the position in that history.
  var past: LineHistory
  /// Whether the user is going through earlier lines.
  var isRecalling = false
  /// The reason why the typed line was not run, or nil.
  package var problem: String?
  /// The deed that was refused for a reason of the place, which may pass; nil if `problem` is another error.
  var refused: PaletteDeed?
  /// The theme when the palette was opened, which is restored if the palette is left.
  package let theme: ThemeChoice?
}

/// A menu: a small list over the screen to choose an item from.
package struct MenuScreen: Hashable, Sendable {
  /// The purpose of a menu.
  enum Purpose: Hashable, Sendable {
    /// The actions on the row under the cursor.
    case rowActions
    /// The order of a list.
    case sort(view: Int)
    /// The sections of a list.
    case group(view: Int)
    /// The columns of a list.
    case columns(view: Int)
    /// A field to be shown as a new column of a list.
    case addColumn(view: Int)
    /// The records that a row refers to.
    case references
    /// Nothing: its lines are to be read.
    case lines
  }

  let purpose: Purpose
  package let title: String
  package var editor = LineEditor()
  package var menu: MenuList
  /// Whether letters go into the field even if they are keys of items.
  var isTyping = false
  /// The characters struck so far of an item with several keys.
  var struck = ""
}

/// A text typed into the palette, by its kind.
enum PaletteInput {
  /// Letters to search all items for.
  case words(String)
  /// A path to go to.
  case path(String)
  /// The name of a command, followed by a blank and an argument.
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
    var argument = line[blank...].trimmingBlanks
    if command.name == PaletteCommand.sort.name { argument = argument.withDirectionApart }
    self = .command(
      command, argument: command.argument.isChoice ? argument.withoutQuotes : argument)
  }
}

extension String {
  /// An order with its direction as a word of its own: `likes desc` for `likes:desc`, as the command line has it.
  fileprivate var withDirectionApart: String {
    hasSuffix(":desc") ? "\(dropLast(5)) desc" : self
  }

  /// The text without the quotes around a name at its beginning: `"unit price" desc`.
  fileprivate var withoutQuotes: String {
    guard first == "\"", let end = dropFirst().firstIndex(of: "\"") else { return self }
    return String(self[index(after: startIndex)..<end]) + self[index(after: end)...]
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

/// The deed of an item of the palette, which is stored as the id of the item.
package enum PaletteDeed: Hashable {
  /// Run an action.
  case action(ActionID)
  /// Run a line as if it had been typed.
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

  /// The action that the deed runs, or nil if it is a line.
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

  /// The text in the field for this deed.
  package var line: String {
    switch self {
    case .action(let action): action.rawValue
    case .run(let line), .fill(let line): line
    }
  }
}
