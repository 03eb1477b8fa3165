import RunnelStreams
import RunnelTerminal
import RunnelTree

extension ActionID {
  static let presenceShow = ActionID("presence.show")
}

/// Who is here: the people at other workspaces on the same database.
package enum Presence {
  /// The greatest number of names in the header.
  private static let headerNames = 2
  /// The widest name in the header and beside a row.
  private static let nameWidth = 12
  /// The greatest number of people that a message lists.
  private static let listedMax = 8

  /// The command that says who is here and where.
  static let show = Command(
    .presenceShow, "who is here", "who else is here, and where", keys: ["gP"], needs: .nothing,
    disabled: { Presence.reasonUnknown($0) }
  ) { state, _ in state.say(.info, Presence.places(state)) }.keepingAwaitedRow

  private static func reasonUnknown(_ state: AppState) -> String? {
    if state.database.present == nil { return "people are shown for profiles with `presence`" }
    return state.database.origin?.isCached == true
      ? "who is here is not known without a connection" : nil
  }

  /// All other workspaces that are here; none while there is no connection that tells it.
  private static func entries(_ state: AppState) -> [Present] {
    state.database.origin?.isCached == true ? [] : state.database.present ?? []
  }

  /// The other people who are here: who has other windows or devices is no other person.
  private static func others(_ state: AppState) -> [Present] {
    let own = ownName(state)
    return entries(state).filter { $0.name != own }
  }

  /// The name under which the others see this person.
  ///
  /// What others read is the name of the account, if it has one, and not its address.
  private static func ownName(_ state: AppState) -> String {
    let named = state.database.accounts?.current?.name.flatMap { $0.isEmpty ? nil : $0 }
    return String((named ?? state.database.me).prefix(Present.nameMax))
  }

  /// Where this person is, for the entry that the others see.
  package static func own(_ state: AppState, id: String) -> Present {
    var own = Present(id: id, name: ownName(state))
    guard let list = state.tabs.frontList else { return own }
    own.view = list.definition.name
    own.row = list.cursorRecord?.path
    if case .compose(let composer)? = state.layers.last {
      own.isTyping = !composer.editor.isEmpty && state.now < idleTime(state, composer)
      if own.isTyping { own.time = state.now - state.now % renewalMilliseconds }
    }
    return own
  }

  // MARK: Typing

  /// The greatest number of rows of people who are typing.
  private static let typingRowsMax = 5
  /// The time for which others are shown as typing without a change of their entries, in milliseconds:
  /// whose line went silent is here until the server ends the session, but types no longer.
  static let typingMilliseconds: Int64 = 8000
  /// The time after which who is typing writes the entry again: less than half of `typingMilliseconds`,
  /// so that one that is late or lost ends nothing.
  static let renewalMilliseconds: Int64 = 3000

  /// The time from which on the user counts as idle, in milliseconds since 1970.
  private static func idleTime(_ state: AppState, _ composer: ComposeScreen) -> Int64 {
    let typed = state.tabs.lists[composer.view].line.draftTime ?? state.now
    return typed + Int64(state.settings.typingSeconds) * 1000
  }

  /// Returns the time at which the others are to be told that the user types no longer; nil if it is not.
  static func idleDue(_ state: AppState) -> Int64? {
    guard state.database.present != nil, case .compose(let composer)? = state.layers.last,
      !composer.editor.isEmpty
    else { return nil }
    let time = idleTime(state, composer)
    return time > state.now ? time : nil
  }

  /// Returns the time at which something of who is typing changes by itself; nil if nothing does.
  static func typingDue(_ state: AppState) -> Int64? {
    var times = (state.database.present ?? []).compactMap { $0.isTyping ? $0.typingEnd : nil }
    if let idle = idleDue(state) {
      times.append(min(idle, state.now - state.now % renewalMilliseconds + renewalMilliseconds))
    }
    return times.min()
  }

  /// Takes who is here, and shows in the lists who is typing.
  static func take(_ state: inout AppState, _ people: [Present]) {
    let before = Dictionary((state.database.present ?? []).map { ($0.id, $0) }) { first, _ in first
    }
    let now = state.now
    state.database.present = people.map { person in
      var person = person
      guard person.isTyping else { return person }
      person.typingEnd = now + typingMilliseconds
      if let old = before[person.id], old.typingEnd != nil, old.time == person.time,
        old.view == person.view, old.row == person.row
      {
        (person.isTyping, person.typingEnd) = (old.isTyping, old.typingEnd)
      }
      return person
    }
    showTyping(&state)
  }

  /// Shows those as typing no longer whose entries did not change for a while.
  static func endTyping(_ state: inout AppState) {
    // An end that is too far away is one from before the clock was set back.
    let ends = state.now + 1...state.now + typingMilliseconds
    let people = state.database.present ?? []
    let over = people.indices.filter { index in
      people[index].isTyping && people[index].typingEnd.map { !ends.contains($0) } == true
    }
    if over.isEmpty { return }
    for index in over { state.database.present?[index].isTyping = false }
    showTyping(&state)
  }

  /// Shows the rows of the people who are typing, where they have changed.
  static func showTyping(_ state: inout AppState) {
    guard state.database.present != nil else { return }
    let others = others(state)
    for view in state.tabs.lists.indices where state.tabs.lists[view].reach.isOpen {
      let screen = state.tabs.lists[view]
      var typing: [TypingPerson] = []
      if screen.definition.compose != nil, screen.drillDown == nil {
        typing = others.filter { $0.isTyping && $0.view == screen.definition.name }
          .prefix(typingRowsMax).map { TypingPerson(id: $0.id, name: $0.name) }
      }
      if typing == screen.passing.typing { continue }
      state.tabs.lists[view].passing.typing = typing
      ComposeScreen.showComposedAgain(&state, inView: view)
    }
  }

  /// Shows the rows of the people who are typing in a view whose rows are read, which begins with none of them.
  static func showTyping(_ state: inout AppState, inOpenedView view: Int) {
    state.tabs.lists[view].passing.typing = []
    showTyping(&state)
  }

  // MARK: Texts

  /// The people at other workspaces, without names that occur twice.
  private static func names(_ people: [Present]) -> [String] {
    var seen: Set<String> = []
    return people.map(\.name).filter { seen.insert($0).inserted }
  }

  private static func places(_ state: AppState) -> String {
    let people = others(state)
    let own = ownName(state)
    var texts = people.prefix(listedMax).map { person in
      person.name + place(of: person) + (person.isTyping ? ", typing" : "")
    }
    if people.isEmpty { texts.append("nobody else is here") }
    if people.count > listedMax { texts.append("and \(people.count - listedMax) more") }
    let elsewhere = entries(state).filter { $0.name == own }
    if let first = elsewhere.first {
      let more = elsewhere.count > 1 ? " and \(elsewhere.count - 1) more" : ""
      texts.append("you are also\(place(of: first))\(more)")
    }
    return texts.joined(separator: " · ")
  }

  private static func place(of person: Present) -> String {
    person.view.map { " in \($0)" } ?? " in the tree"
  }

  /// The names for the header, each in its color; empty if nobody else is here.
  static func headerLine(_ state: AppState, _ glyphs: Glyphs) -> StyledLine {
    var line = StyledLine()
    let names = names(others(state))
    guard !names.isEmpty else { return line }
    line.append(" with ", .muted)
    for (index, name) in names.prefix(headerNames).enumerated() {
      if index > 0 { line.append(" ") }
      line.append(short(name, glyphs), .color(ofValue: name))
    }
    if names.count > headerNames { line.append(" +\(names.count - headerNames)", .muted) }
    return line
  }

  /// The people who are typing in the view in front; empty if nobody is.
  static func typingText(_ state: AppState) -> String {
    guard let list = state.tabs.frontList else { return "" }
    let view = list.definition.name
    let names = names(others(state).filter { $0.isTyping && $0.view == view })
    switch names.count {
    case 0: return ""
    case 1: return "\(names[0]) is typing"
    case 2: return "\(names[0]) and \(names[1]) are typing"
    default: return "\(names.count) people are typing"
    }
  }

  /// The people at the rows of a view, by record.
  static func rows(_ state: AppState, of screen: ListScreen) -> [Path: [String]] {
    var rows: [Path: [String]] = [:]
    for person in others(state) where person.view == screen.definition.name {
      if let row = person.row { rows[row, default: []].append(person.name) }
    }
    return rows
  }

  /// The text at the end of a row with people at it.
  static func sign(of names: [String], _ glyphs: Glyphs) -> StyledRun {
    let name = names[0]
    let more = names.count > 1 ? " +\(names.count - 1)" : ""
    return StyledRun("\(glyphs.foldClosed)\(short(name, glyphs))\(more)", .color(ofValue: name))
  }

  private static func short(_ name: String, _ glyphs: Glyphs) -> String {
    CellWidth.width(of: name) <= nameWidth
      ? name : CellText.fitted(name, to: nameWidth, isRight: false, glyphs: glyphs)
  }
}
