import RunnelTerminal

/// The greeting for users who open the workspace for the first time; any key closes it, and does what it does.
package struct Greeting: Hashable, Sendable {
  /// Where the data is.
  package enum Home: Hashable, Sendable {
    /// A database file, as it was given.
    case file(String)
    /// A server's database, by its address or by the name of its profile.
    case server(String)
  }

  /// Where the data is.
  package var home: Home

  package init(_ home: Home) { self.home = home }

  /// Returns the lines, with the keys of the keymap.
  func lines(_ keymap: Keymap) -> [StyledLine] {
    var lines: [StyledLine] = [
      "These are the records of a database, as they are now. What you write, or others write, is seen at once; nothing has to be saved or reloaded.",
      "",
    ]
    let contexts: [KeymapContext] = [.collection, .list, .global]
    for (action, words) in Greeting.keys {
      guard let keys = keymap.firstKeys(for: action, in: contexts) else { continue }
      var line = StyledLine(keys + String(repeating: " ", count: max(7 - keys.count, 1)), .hintKey)
      line.append(words)
      lines.append(line)
    }
    lines += [
      "", StyledLine(homeText, .muted), "",
      StyledLine("Any key closes this and does what it does; Esc closes it only.", .strong),
    ]
    return lines
  }

  private var homeText: String {
    switch home {
    case .file(let file): "All is in one file: \(file)"
    case .server(let name): "All is on a server, with a copy on this machine: \(name)"
    }
  }

  private static let keys: [(ActionID, String)] = [
    (.rowDown, "moves down, arrows and pages too"), (.rowOpen, "opens a record"),
    (.recordAdd, "adds one"), (.helpOpen, "shows all keys, and what they do here"),
    (.viewClose, "leaves"),
  ]
}

extension AppScreen {
  /// Draws the greeting over everything else.
  func drawGreeting(into canvas: inout Canvas) {
    guard let greeting = state.session.greeting else { return }
    let width = min(state.size.columns, 66)
    let popup = TextPopup(title: "Welcome to Runnel", lines: greeting.lines(state.settings.keymap))
    let height = min(popup.fittingHeight(width: width), state.size.rows)
    let box = Rect(size: state.size).centered(height: height, width: width)
    canvas.cursor = nil
    canvas.fill(box)
    popup.draw(into: &canvas, rect: box)
  }
}
