import RunnelBase
import RunnelTerminal

/// The texts that were typed into the lines for filters, searches and commands, and left by Esc;
/// going back in a line's history brings them back first.
package struct UnfinishedLines: Hashable, Sendable {
  package var filter = ""
  package var search = ""
  package var command = ""

  package init() {}

  /// Notes the text of a filter bar, unless it is the filter that was there before.
  mutating func note(_ screen: FilterScreen) {
    let text = screen.editor.text
    if !text.isEmpty, text != screen.before?.text { filter = text }
  }

  /// Notes the text of a search.
  mutating func note(_ screen: SearchScreen) {
    if !screen.editor.isEmpty { search = screen.editor.text }
  }

  /// Notes the text of the palette.
  mutating func note(_ screen: PaletteScreen) {
    if !screen.editor.isEmpty, !screen.editor.isSecret { command = screen.editor.text }
  }

  /// Returns the texts with those of the lines that are open.
  func noting(_ layers: [Layer]) -> UnfinishedLines {
    var lines = self
    for layer in layers {
      switch layer {
      case .filter(let screen): lines.note(screen)
      case .search(let screen): lines.note(screen)
      case .palette(let screen): lines.note(screen)
      default: break
      }
    }
    return lines
  }
}

extension LineHistory {
  /// Returns the history with a text as its newest entry; an empty text is not added.
  func adding(_ text: String) -> LineHistory {
    var history = self
    history.add(text)
    return history
  }
}

// MARK: JSON

extension UnfinishedLines {
  /// The texts in the format of a session; nil if there are none.
  var json: JSONValue? {
    let texts = [("filter", filter), ("search", search), ("command", command)]
    let members = texts.filter { !$0.1.isEmpty }.map { JSONMember($0.0, .string($0.1)) }
    return members.isEmpty ? nil : .object(members)
  }

  /// Reads the texts; members that are not valid are ignored.
  init(_ json: JSONValue?) {
    filter = json?["filter"]?.string ?? ""
    search = json?["search"]?.string ?? ""
    command = json?["command"]?.string ?? ""
  }
}
