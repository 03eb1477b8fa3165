import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The palette: everything by its name. What it offers is about the place below it.

extension AppState {
  /// The state without the palette, menus and help that lie on top: what these are about.
  var below: AppState {
    var place = self
    while let layer = place.layers.last, layer.isAboutWhatIsBelow { place.layers.removeLast() }
    return place
  }

  mutating func openPalette() {
    if case .palette? = layers.last { return }
    matcher.reset()
    layers.append(.palette(PaletteScreen(past: paletteHistory, theme: theme)))
    offerInPalette()
  }

  /// Changes the palette, and what it offers if another text stands in it.
  mutating func changePalette(_ body: (inout PaletteScreen, AppState) -> Void) {
    guard case .palette(var screen)? = layers.last else { return }
    let old = screen.editor.text
    body(&screen, self)
    layers[layers.count - 1] = .palette(screen)
    if screen.editor.text != old { offerInPalette() }
    tryTheme()
  }

  /// Changes what is typed into the palette as a text field does.
  mutating func editPalette(_ id: ActionID) {
    changePalette { screen, _ in
      _ = screen.editor.perform(id)
      screen.isRecalling = false
    }
  }

  /// Types text into the palette.
  mutating func typeInPalette(_ text: String) {
    guard case .palette(var screen)? = layers.last else { return }
    screen.editor.insert(text)
    screen.isRecalling = false
    layers[layers.count - 1] = .palette(screen)
    offerInPalette()
    tryTheme()
  }

  /// How many lines of the palette show what fits.
  func paletteHeight(_ screen: PaletteScreen) -> Int {
    PaletteDrawing.rows(of: screen, in: layout.panes).height
  }

  mutating func leavePalette() {
    guard case .palette(let screen)? = layers.last else { return }
    show(screen.theme)
    closeLayer()
  }

  /// A theme that is selected is seen at once.
  mutating func tryTheme() {
    guard case .palette(let screen)? = layers.last else { return }
    guard case .command(let command, _) = PaletteInput(screen.editor.text),
      command.name == "theme", case .run(let line)? = screen.menu.selected?.deed,
      case .command(_, let name) = PaletteInput(line),
      let theme = ThemeChoice(name, custom: themes)
    else { return show(screen.theme) }
    show(theme)
  }
}

extension PaletteScreen {
  /// Goes through what was done before, where that has begun or the line is empty, else through the rows.
  mutating func recallOrMove(_ direction: ActionID) {
    let text = editor.text
    let hasPast = !past.entries.isEmpty
    guard isRecalling || (text.isEmpty && hasPast && direction == .inputPrevious) else {
      return menu.move(by: direction == .inputNext ? 1 : -1)
    }
    guard let other = past.recall(direction, from: text) else { return }
    editor.replaceText(other)
    isRecalling = !other.isEmpty
  }

  /// Completes the line to what is selected, or selects the next one.
  mutating func complete() {
    guard let deed = menu.selected.flatMap({ PaletteDeed(id: $0.id) }) else { return }
    if editor.text != deed.line {
      editor.replaceText(deed.line)
    } else {
      menu.move(by: 1)
    }
  }
}

extension AppState.Layer {
  /// True for what lies over a place and is about it.
  var isAboutWhatIsBelow: Bool {
    switch self {
    case .palette, .menu, .help: true
    default: false
    }
  }
}

extension MenuList.Item {
  /// What an item of the palette does.
  var deed: PaletteDeed? { PaletteDeed(id: id) }
}

// MARK: What is offered

extension AppState {
  /// Shows what fits what is typed.
  private mutating func offerInPalette() {
    guard case .palette(var screen)? = layers.last else { return }
    screen.problem = nil
    let place = below
    switch PaletteInput(screen.editor.text) {
    case .words(let words):
      screen.menu = MenuList(place.actionItems + place.commandItems, pattern: words)
      // Whoever types the whole name of a command means it.
      if let command = PaletteCommand.named(words) { screen.menu.select(command.deed.id) }
    case .path(let text): screen.menu = MenuList(place.pathItems(text))
    case .command(let command, let argument):
      let pattern = command.argument.isChoice ? argument : ""
      screen.menu = MenuList(place.items(of: command, argument), pattern: pattern)
    }
    layers[layers.count - 1] = .palette(screen)
  }

  /// The actions that have keys here.
  private var actionItems: [MenuList.Item] {
    var known: Set<ActionID> = [.paletteOpen]
    let contexts = contexts
    return keymap.bindings(for: contexts).compactMap { binding in
      guard known.insert(binding.action).inserted else { return nil }
      return MenuList.Item(
        id: PaletteDeed.action(binding.action).id, title: binding.description,
        name: binding.action.rawValue,
        keys: keymap.firstKeys(for: binding.action, in: contexts) ?? "",
        refusal: disabledReason(binding.action))
    }
  }

  private var commandItems: [MenuList.Item] {
    let commands = PaletteCommand.all.map { command in
      let title = command.hint.isEmpty ? command.name : "\(command.name) \(command.hint)"
      return MenuList.Item(
        id: command.deed.id, title: title, note: command.description,
        refusal: command.disabledReason(self)
      )
    }
    let views = tabs.enumerated().map { index, name in
      MenuList.Item(
        id: PaletteDeed.run("view \(name)").id, title: "view \(name)", isChosen: index == active)
    }
    return commands + views
  }

  private func items(of command: PaletteCommand, _ argument: String) -> [MenuList.Item] {
    if let refusal = command.disabledReason(self) {
      return [
        MenuList.Item(
          id: PaletteDeed.run("\(command.name) \(argument)").id, title: argument, refusal: refusal)
      ]
    }
    return command.choices(self, argument).map { choice in
      MenuList.Item(
        id: PaletteDeed.run("\(command.name) \(choice.argument)").id, title: choice.argument,
        note: choice.note, isChosen: choice.isChosen, refusal: choice.refusal)
    }
  }

  /// What is typed as a path, and the loaded places that begin so.
  private func pathItems(_ text: String) -> [MenuList.Item] {
    var items: [MenuList.Item] = []
    if let path = try? Path(text) {
      items.append(
        MenuList.Item(
          id: PaletteDeed.run(text).id, title: path.description,
          note: view(ofRecord: path).map { "a record of \(lists[$0].definition.name)" }
            ?? (path.isRoot || isKnown(path) ? "in the tree" : "looked for in the tree")))
    }
    let slash = text.lastIndex(of: "/") ?? text.startIndex
    let start = text[..<slash]
    guard let parent = start.isEmpty ? Path.root : try? Path(String(start)) else { return items }
    let last = text[text.index(after: slash)...]
    let names = loadedChildren(of: parent).filter { $0.hasPrefix(last) && $0 != last }
    return items
      + names.prefix(AppState.offeredPlacesMax).map { name in
        let path = "\(start)/\(name)"
        return MenuList.Item(id: PaletteDeed.run(path).id, title: path)
      }
  }

  /// How many places are offered to complete a path.
  private static let offeredPlacesMax = 200

  /// The names of what is known to stand below a place, in the order of names.
  ///
  /// O(n log n) in the rows that are loaded.
  private func loadedChildren(of parent: Path) -> [String] {
    var names = Set(tree.expanded[parent]?.rows.map(\.row.key.text) ?? [])
    for screen in lists {
      let path = screen.definition.source.path
      if path == parent {
        names.formUnion(
          screen.records.values.filter { !screen.isTransient($0) }.map(\.row.key.text))
      } else if let rest = path.relative(to: parent), let first = rest.keys.first {
        names.insert(first.text)
      }
    }
    return names.sorted()
  }

  /// The list that shows the records beside a path; nil if none does.
  private func view(ofRecord path: Path) -> Int? {
    guard let parent = path.parent else { return nil }
    let views = lists.indices.filter { lists[$0].definition.source.path == parent }
    return views.contains(active) ? active : views.first
  }
}

extension PaletteCommand {
  /// What is done by the name alone.
  fileprivate var deed: PaletteDeed { argument.isNone ? .run(name) : .fill(name + " ") }
}

extension PaletteCommand.Argument {
  fileprivate var isChoice: Bool { if case .choice = self { true } else { false } }
  fileprivate var isNone: Bool { if case .none = self { true } else { false } }
}

// MARK: What is done

extension AppState {
  mutating func acceptInPalette() {
    guard case .palette(let screen)? = layers.last else { return }
    let input = PaletteInput(screen.editor.text)
    if case .command(let command, let argument) = input, !command.argument.isChoice {
      return run(.run("\(command.name) \(argument)".trimmingBlanks), screen)
    }
    guard let item = screen.menu.selected, let deed = item.deed else {
      return refuseInPalette("nothing here is called \(screen.editor.text.trimmingBlanks)")
    }
    // What was off when it was offered may be on by now.
    let refusal = if let action = deed.action { disabledReason(action) } else { item.refusal }
    if let refusal { return refuseInPalette(refusal) }
    if case .fill(let line) = deed {
      var screen = screen
      screen.editor.replaceText(line)
      layers[layers.count - 1] = .palette(screen)
      return offerInPalette()
    }
    run(deed, screen)
  }

  /// Does something in the place below the palette, or leaves the palette open with what is wrong.
  private mutating func run(_ deed: PaletteDeed, _ screen: PaletteScreen) {
    closeLayer()
    if let problem = perform(deed) {
      layers.append(.palette(screen))
      return refuseInPalette(problem)
    }
    paletteHistory.add(deed.line)
  }

  private mutating func refuseInPalette(_ problem: String) {
    guard case .palette(var screen)? = layers.last else { return }
    screen.problem = problem
    layers[layers.count - 1] = .palette(screen)
  }

  /// Does it where the keys go now; returns why it cannot be done.
  private mutating func perform(_ deed: PaletteDeed) -> String? {
    switch deed {
    case .action(let action):
      if let reason = disabledReason(action) { return reason }
      perform(action, count: nil)
      return nil
    case .fill: return nil
    case .run(let line):
      switch PaletteInput(line) {
      case .words(let name):
        guard let command = PaletteCommand.named(name) else { return "there is no command \(name)" }
        return command.disabledReason(self) ?? command.run(&self, "")
      case .command(let command, let argument):
        return command.disabledReason(self) ?? command.run(&self, argument)
      case .path(let text):
        do {
          goTo(try Path(text))
          return nil
        } catch {
          return "\(error)"
        }
      }
    }
  }

  /// Opens a record that a view shows, or goes to a place in the tree.
  private mutating func goTo(_ path: Path) {
    guard let view = view(ofRecord: path) else { return seek(path) }
    places.note(place)
    change(to: view)
    guard layers.isEmpty else { return }
    withList { list, content, height in
      _ = list.moveTo(.row(Record.key(of: path)), in: content, height: height)
    }
    open(record: path, nil)
  }
}
