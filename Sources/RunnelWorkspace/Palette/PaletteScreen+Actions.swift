import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The palette: all commands by name. Its items are for the place below it.

extension PaletteScreen {
  /// Opens the palette; `typed` is the beginning of a line that is in the field.
  static func openPalette(_ state: inout AppState, typed: String = "") {
    if case .palette? = state.layers.last { return }
    state.input.matcher.reset()
    var screen = PaletteScreen(
      past: state.trail.commands.adding(state.trail.unfinished.command),
      theme: state.settings.theme)
    if !typed.isEmpty { screen.editor.replaceText(typed) }
    screen.offer(in: state)
    state.layers.append(.palette(screen))
  }

  /// Changes the palette, and updates its items if the text was changed.
  static func changePalette(
    _ state: inout AppState, _ body: (inout PaletteScreen, AppState) -> Void
  ) {
    guard case .palette(var screen)? = state.layers.last else { return }
    let place = state
    screen.change(in: &state) { body(&$0, place) }
    state.layers[state.layers.count - 1] = .palette(screen)
  }

  /// The number of lines of the palette that show items.
  static func paletteHeight(_ state: AppState, _ screen: PaletteScreen) -> Int {
    PaletteDrawing.rows(of: screen, in: state.layout.panes).height
  }

  static func leavePalette(_ state: inout AppState) {
    guard case .palette(let screen)? = state.layers.last else { return }
    state.trail.unfinished.note(screen)
    PaletteCommand.show(&state, screen.theme)
    state.closeLayer()
  }
}

extension PaletteScreen {
  /// Recalls an earlier line if recalling has begun or the line is empty; otherwise moves through
  /// the items.
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

  /// Completes the line to the selected item; if it is complete, selects the next item.
  mutating func complete() {
    guard let deed = menu.selected.flatMap({ PaletteDeed(id: $0.id) }) else { return }
    if editor.text != deed.line {
      editor.replaceText(deed.line)
    } else {
      menu.move(by: 1)
    }
  }
}

extension MenuList.Item {
  /// The deed of an item of the palette, or nil.
  var deed: PaletteDeed? { PaletteDeed(id: id) }
}

// MARK: What is offered

extension PaletteScreen {
  /// Returns the items of the actions of the place.
  static func actionItems(_ state: AppState) -> [MenuList.Item] {
    var known: Set<ActionID> = [.paletteOpen]
    let contexts = state.contexts
    let place = withoutKeys(state)
    return Commands.bindings(in: state).compactMap { binding in
      guard known.insert(binding.action).inserted else { return nil }
      return MenuList.Item(
        id: PaletteDeed.action(binding.action).id, title: binding.description,
        name: binding.action.rawValue,
        keys: state.settings.keymap.firstKeys(for: binding.action, in: contexts) ?? "",
        refusal: place.disabledReason(binding.action))
    }
  }

  static func commandItems(_ state: AppState) -> [MenuList.Item] {
    let place = withoutKeys(state)
    let commands = PaletteCommand.all.map { command in
      let title = command.hint.isEmpty ? command.name : "\(command.name) \(command.hint)"
      return MenuList.Item(
        id: command.deed.id, title: title, note: command.description,
        refusal: command.disabledReason(place)
      )
    }
    let views = state.tabs.names.enumerated().map { index, name in
      MenuList.Item(
        id: PaletteDeed.run("view \(name)").id, title: "view \(name)",
        isChosen: index == state.tabs.position)
    }
    return commands + views
  }

  static func items(
    _ state: AppState, of command: PaletteCommand, _ argument: String
  ) -> [MenuList.Item] {
    let place = withoutKeys(state)
    if let refusal = command.disabledReason(place) {
      return [
        MenuList.Item(
          id: PaletteDeed.run("\(command.name) \(argument)").id, title: argument, refusal: refusal)
      ]
    }
    let choices = command.choices(place, argument)
    if choices.isEmpty, !command.argument.isChoice {
      // The typed text is the argument.
      return [
        MenuList.Item(
          id: PaletteDeed.run("\(command.name) \(argument)".trimmingBlanks).id,
          title: "\(command.name) \(argument.isEmpty ? command.hint : argument)",
          note: command.description)
      ]
    }
    return choices.map { choice in
      MenuList.Item(
        id: PaletteDeed.run("\(command.name) \(choice.argument)").id, title: choice.argument,
        name: choice.name == choice.argument ? "" : choice.name, note: choice.note,
        isChosen: choice.isChosen, refusal: choice.refusal)
    }
  }

  /// Returns the items for a typed path: the path itself, and the loaded places that begin with it.
  static func pathItems(_ state: AppState, _ text: String) -> [MenuList.Item] {
    var items: [MenuList.Item] = []
    if let path = try? Path(typed: text) {
      items.append(
        MenuList.Item(
          id: PaletteDeed.run(text).id, title: path.description,
          note: words(state, on: ServicePlaces.place(state, path))))
    }
    let slash = text.lastIndex(of: "/") ?? text.startIndex
    let start = text[..<slash]
    guard let parent = start.isEmpty ? Path.root : try? Path(typed: String(start)) else {
      return items
    }
    let last = text[text.index(after: slash)...]
    let names = loadedChildren(state, of: parent).filter { $0.hasPrefix(last) && $0 != last }
    return items
      + names.prefix(offeredPlacesMax).map { name in
        let path = "\(start)/\(name)"
        return MenuList.Item(id: PaletteDeed.run(path).id, title: path)
      }
  }

  /// Returns what a typed path leads to.
  private static func words(_ state: AppState, on path: Path) -> String {
    let lists = state.tabs.lists
    if let list = ServicePlaces.view(state, of: path) {
      return "the list \(lists[list].definition.name)"
    }
    if let list = view(state, ofRecord: path) {
      return "a record of \(lists[list].definition.name)"
    }
    return path.isRoot || FormScreen.isKnown(state, path)
      ? "in the tree" : "looked for in the tree"
  }

  /// The greatest number of places offered to complete a path.
  private static let offeredPlacesMax = 200

  /// Returns the names of the known nodes below a place, ordered by name.
  ///
  /// O(n log n) in the loaded rows.
  private static func loadedChildren(_ state: AppState, of parent: Path) -> [String] {
    var names = Set(state.tabs.tree.expanded[parent]?.rows.map(\.row.key.text) ?? [])
    for screen in state.tabs.lists {
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

  /// Returns the index of a list that shows the record at a path, or nil if none does.
  static func view(_ state: AppState, ofRecord path: Path) -> Int? {
    guard let parent = path.parent else { return nil }
    let views = state.tabs.lists.indices.filter {
      state.tabs.lists[$0].definition.source.path == parent
    }
    return views.first { state.tabs.front == .view($0) } ?? views.first
  }
}

extension PaletteCommand {
  /// The deed of the command's name alone.
  var deed: PaletteDeed { argument.mayBeMissing ? .run(name) : .fill(name + " ") }
}

extension PaletteCommand.Argument {
  var isChoice: Bool { if case .choice = self { true } else { false } }
  fileprivate var mayBeMissing: Bool {
    switch self {
    case .none, .optionalText: true
    case .choice, .text: false
    }
  }
}

// MARK: What is done

extension PaletteScreen {
  static func acceptInPalette(_ state: inout AppState) {
    guard case .palette(let screen)? = state.layers.last else { return }
    let input = PaletteInput(screen.editor.text)
    if case .command(let command, let argument) = input, !command.argument.isChoice {
      return run(&state, .run("\(command.name) \(argument)".trimmingBlanks), screen)
    }
    guard let item = screen.menu.selected, let deed = item.deed else {
      return refuseInPalette(
        &state, nil, "nothing here is called \(screen.editor.text.trimmingBlanks)")
    }
    // A disabled action may have been enabled since it was offered.
    let refusal =
      deed.action == nil ? item.refusal : reason(withoutKeys(state.below), against: deed)
    if let refusal { return refuseInPalette(&state, deed, refusal) }
    if case .fill(let line) = deed {
      var screen = screen
      screen.editor.replaceText(line)
      screen.offer(in: state)
      state.layers[state.layers.count - 1] = .palette(screen)
      return
    }
    run(&state, deed, screen)
  }

  /// Performs a deed in the place below the palette; if that fails, keeps the palette open with the
  /// error.
  private static func run(_ state: inout AppState, _ deed: PaletteDeed, _ screen: PaletteScreen) {
    state.closeLayer()
    if let problem = perform(&state, deed) {
      state.layers.append(.palette(screen))
      return refuseInPalette(&state, deed, problem)
    }
    state.trail.commands.add(deed.line)
    state.trail.unfinished.command = ""
  }

  private static func refuseInPalette(
    _ state: inout AppState, _ deed: PaletteDeed?, _ problem: String
  ) {
    guard case .palette(var screen)? = state.layers.last else { return }
    screen.problem = problem
    // An error in what was typed does not pass by itself.
    let isOfPlace = deed.map { reason(withoutKeys(state.below), against: $0) == problem } == true
    screen.refused = isOfPlace ? deed : nil
    state.layers[state.layers.count - 1] = .palette(screen)
  }

  /// Performs a deed in the place that has the keys now; returns the error, or nil.
  private static func perform(_ state: inout AppState, _ deed: PaletteDeed) -> String? {
    switch deed {
    case .action(let action):
      if let reason = withoutKeys(state).disabledReason(action) { return reason }
      state.perform(action, count: nil)
      return nil
    case .fill: return nil
    case .run(let line):
      switch PaletteInput(line) {
      case .words(let name):
        guard let command = PaletteCommand.named(name) else { return "there is no command \(name)" }
        return command.disabledReason(withoutKeys(state)) ?? command.run(&state, "")
      case .command(let command, let argument):
        return command.disabledReason(withoutKeys(state)) ?? command.run(&state, argument)
      case .path(let text):
        do {
          goTo(&state, try Path(typed: text))
          return nil
        } catch {
          return "\(error)"
        }
      }
    }
  }

  /// Opens a record that a view shows, or goes to a place in the tree.
  ///
  /// The path of a service opens its list.
  static func goTo(_ state: inout AppState, _ typed: Path) {
    let path = ServicePlaces.place(state, typed)
    if let view = ServicePlaces.view(state, of: path) {
      state.trail.places.note(state.place)
      return Input.change(&state, to: .view(view))
    }
    guard let view = view(state, ofRecord: path) else { return Revealing.seek(&state, path) }
    state.trail.places.note(state.place)
    Input.change(&state, to: .view(view))
    guard state.layers.isEmpty else { return }
    state.withList { list, content, height in
      _ = list.moveTo(.row(Record.id(of: path)), in: content, height: height)
    }
    ListScreen.open(&state, record: path, nil)
  }
}

// MARK: What has changed meanwhile

extension PaletteScreen {
  /// Returns the reason of a place against a deed, or nil if there is none.
  ///
  /// What is wrong with an argument is found when the deed is done.
  private static func reason(_ place: AppState, against deed: PaletteDeed) -> String? {
    switch deed {
    case .action(let action): place.disabledReason(action)
    case .run(let line), .fill(let line):
      switch PaletteInput(line) {
      case .words(let name): PaletteCommand.named(name)?.disabledReason(place)
      case .command(let command, _): command.disabledReason(place)
      case .path: nil
      }
    }
  }

  /// The state as the palette asks it for reasons: these name commands, and no keys.
  ///
  /// In the palette keys type, or mean what they mean there: Enter runs what is selected.
  static func withoutKeys(_ state: AppState) -> AppState {
    var place = state
    place.settings.keymap = noKeys
    return place
  }

  private static let noKeys = Keymap([])

  /// Brings the reasons of the palette in front up to date, after something else than a key has changed the
  /// state: work that was the reason may have ended.
  static func refreshReasons(_ state: inout AppState) {
    guard case .palette(var screen)? = state.layers.last else { return }
    screen.refreshReasons(in: withoutKeys(state.below))
    state.layers[state.layers.count - 1] = .palette(screen)
  }

  private mutating func refreshReasons(in place: AppState) {
    if let refused {
      problem = PaletteScreen.reason(place, against: refused)
      if problem == nil { self.refused = nil }
    }
    switch PaletteInput(editor.text) {
    case .path: break
    case .words:
      // The items stay: what is selected must not move under a key.
      menu.updateItems { item in
        if let deed = item.deed { item.refusal = PaletteScreen.reason(place, against: deed) }
      }
    case .command(let command, let argument):
      // A disabled command has one item; one that was enabled has its choices.
      let isOff = menu.itemCount == 1 && menu.shown.first?.refusal != nil
      if isOff != (command.disabledReason(place) != nil) {
        menu.replaceItems(with: PaletteScreen.items(place, of: command, argument))
      }
    }
  }
}
