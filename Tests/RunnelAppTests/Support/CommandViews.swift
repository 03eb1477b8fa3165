import RunnelTerminal

@testable import RunnelApp
@testable import RunnelWorkspace

/// What key, help, hints, palette and menu say of the commands in a state.
struct CommandViews {
  let state: AppState
  private let ids: [ActionID]

  init(_ state: AppState) {
    var state = state
    state.input.matcher.reset()
    (state.toast, state.session.greeting, state.input.awaited) = (nil, nil, nil)
    self.state = state
    var known: Set<ActionID> = []
    ids = state.settings.keymap.bindings(for: state.contexts).map(\.action)
      .filter { known.insert($0).inserted }
  }

  /// Where they disagree about why a command is disabled; empty if they do not.
  var disagreements: [String] {
    let expected = Dictionary(uniqueKeysWithValues: ids.map { ($0, state.disabledReason($0)) })
    return missing + keyed(expected) + helped(expected) + hinted(expected) + offered(expected)
      + listed(expected)
  }

  /// Commands that have keys here and do not exist.
  private var missing: [String] {
    ids.filter { Commands.command($0, in: state.contexts) == nil }.map { "\($0) is no command" }
  }

  private func keyed(_ expected: [ActionID: String?]) -> [String] {
    // What lies over a place tells the reasons of that place, and has none of its own.
    if state.layers.last?.component.offersCommandsBelow == true { return [] }
    return ids.compactMap { id in
      guard let reason = expected[id] ?? nil else { return nil }
      var after = state
      after.perform(id, count: nil)
      let said = after.toast?.toast.text
      return said == reason ? nil : "\(id): the key says \(said ?? "nothing"), not \(reason)"
    }
  }

  private func helped(_ expected: [ActionID: String?]) -> [String] {
    var after = state
    HelpScreen.openHelp(&after)
    guard after.layers.count > state.layers.count, case .help(let screen)? = after.layers.last
    else { return [] }
    return screen.all.compactMap { entry in
      let reason =
        entry.action.map { expected[$0] ?? nil }
        ?? PaletteCommand.all.first { ":\($0.name)" == entry.id }?.disabledReason(state)
      return entry.refusal == reason
        ? nil
        : "\(entry.id): the help says \(entry.refusal ?? "nothing"), not \(reason ?? "nothing")"
    }
  }

  private func hinted(_ expected: [ActionID: String?]) -> [String] {
    // What lies over a place hints at its own keys.
    if state.layers.last?.component.offersCommandsBelow == true { return [] }
    let hints = Hints(state).all.map(\.keys)
    return ids.compactMap { id in
      guard let reason = expected[id] ?? nil,
        let keys = state.settings.keymap.firstKeys(for: id, in: state.contexts),
        hints.contains(keys)
      else { return nil }
      return "\(id): a hint tells \(keys), although \(reason)"
    }
  }

  private func offered(_ expected: [ActionID: String?]) -> [String] {
    guard state.contexts.contains(.global) else { return [] }
    var after = state
    PaletteScreen.openPalette(&after)
    guard case .palette(let screen)? = after.layers.last else { return ["the palette is not open"] }
    // Its reasons name no keys.
    let place = PaletteScreen.withoutKeys(state)
    let unkeyed: [ActionID: String?] = Dictionary(
      uniqueKeysWithValues: ids.map { ($0, place.disabledReason($0)) })
    let others = ids.filter { ((unkeyed[$0] ?? nil) == nil) != ((expected[$0] ?? nil) == nil) }
    return others.map { "\($0): it depends on the keys whether it is disabled" }
      + differences(of: screen.menu, "the palette", unkeyed) + typed(screen.menu, unkeyed)
  }

  /// Differences of the commands after `:`, which the palette lists and runs.
  private func typed(_ menu: MenuList, _ expected: [ActionID: String?]) -> [String] {
    PaletteCommand.all.flatMap { command in
      let reason = command.disabledReason(PaletteScreen.withoutKeys(state))
      var found: [String] = []
      func differ(_ place: String, _ said: String?) {
        if said == reason { return }
        found.append(
          ":\(command.name): \(place) says \(said ?? "nothing"), not \(reason ?? "nothing")")
      }
      if let id = command.key, let key = expected[id] { differ("the key", key) }
      differ("the palette", menu.shown.first { $0.id == command.deed.id }?.refusal)
      if reason != nil {
        var after = state
        PaletteScreen.openPalette(&after, typed: "\(command.name) x")
        PaletteScreen.acceptInPalette(&after)
        guard case .palette(let screen)? = after.layers.last else {
          return found + [":\(command.name) x is run"]
        }
        differ("the palette, after the line", screen.problem)
      }
      return found
    }
  }

  private func listed(_ expected: [ActionID: String?]) -> [String] {
    guard ids.contains(.rowActions), (expected[.rowActions] ?? nil) == nil else { return [] }
    var after = state
    MenuScreen.openRowActions(&after)
    guard case .menu(let screen)? = after.layers.last else { return ["the menu is not open"] }
    return differences(of: screen.menu, "the menu", expected)
  }

  private func differences(
    of menu: MenuList, _ name: String, _ expected: [ActionID: String?]
  ) -> [String] {
    menu.shown.compactMap { item in
      guard case .action(let id)? = item.deed else { return nil }
      let reason = expected[id] ?? nil
      return item.refusal == reason
        ? nil : "\(id): \(name) says \(item.refusal ?? "nothing"), not \(reason ?? "nothing")"
    }
  }
}
