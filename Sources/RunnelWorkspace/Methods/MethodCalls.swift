import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// Calls of methods that services have besides those for their records.
///
/// They begin in the palette or in the menu of a row; a form asks for the data. The result is shown as a
/// list of lines.
enum MethodCalls {
  /// The most lines of a result that are shown.
  private static let linesMax = 2_000
  /// The most characters of a result that is told in the status line.
  private static let shortMax = 60
  private static let itemPrefix = "method "
  /// The methods for records, which the list itself calls: without an id, some of them are about all records.
  private static let recordMethods: Set<String> = [
    "find", "get", "create", "update", "patch", "remove",
  ]

  /// The reason why no method can be called, or nil if one can.
  static func reasonNotCalled(_ state: AppState) -> String? {
    guard state.database.origin?.hasServices == true else {
      return "only services of a Feathers server have methods"
    }
    if state.tabs.front == .tree { return "go to the view of a service first" }
    return state.reasonReadOnly
  }

  /// The place of the service whose records are in front.
  private static func place(_ state: AppState) -> Path? {
    guard let list = state.tabs.frontList else { return nil }
    return list.definition.source.path.keys.first.map { Path(unchecked: [$0]) }
  }

  /// The methods of the service in front that the profile describes.
  private static func offers(_ state: AppState) -> [MethodOffer] {
    guard reasonNotCalled(state) == nil, let place = place(state) else { return [] }
    return (state.database.profile?.methods ?? []).filter { $0.place == place }
  }

  // MARK: Beginning

  /// The methods to choose from in the palette.
  static func choices(_ state: AppState, _ text: String) -> [PaletteCommand.Choice] {
    if text.contains(" ") { return [] }
    return offers(state).map { PaletteCommand.Choice(argument: $0.name, note: $0.words) }
  }

  /// Calls a method by a typed line: its name, and its data as JSON; without data, a form asks for them if
  /// the profile describes them.
  ///
  /// - Returns: the error in the line, or nil.
  static func start(_ state: inout AppState, _ line: String) -> String? {
    let words = line.split(separator: " ", maxSplits: 1).map(String.init)
    guard let name = words.first, let place = place(state) else {
      return "type the name of a method, and its data as JSON"
    }
    let offer = offers(state).first { $0.name == name }
    guard words.count > 1 else {
      begin(&state, offer ?? MethodOffer(place, name))
      return nil
    }
    guard let data = try? JSONValue(parsing: words[1]) else {
      return "the data of a call are JSON, such as {\"id\": 7}"
    }
    send(&state, MethodCall(place, name, data: data))
    return nil
  }

  /// Opens the form for the data of a call; a method without fields is called at once.
  private static func begin(_ state: inout AppState, _ offer: MethodOffer) {
    guard let view = state.tabs.front.view else { return }
    let record = state.tabs.lists[view].cursorRecord?.row.key.text
    let fields = offer.fields.map { rule in
      let isID = ["id", "_id", "uuid"].contains(rule.field.text)
      let value = isID ? record.map { id(rule, $0) } : nil
      return FormScreen.Field(
        rule.field.text, path: Path(unchecked: [rule.field]),
        FieldInput(rule: rule, value ?? rule.initial ?? .null))
    }
    if fields.isEmpty { return send(&state, MethodCall(offer.place, offer.name, data: [:])) }
    var form = FormScreen(
      purpose: .callMethod(offer), title: "Call \(offer.name)", fields: fields)
    form.note = offer.words
    state.layers.append(.form(form))
  }

  /// The id of a record as the schema has it.
  private static func id(_ rule: FieldRule, _ text: String) -> JSONValue {
    switch rule.kind {
    case .integer, .number: Int64(text).map { .number(JSONNumber($0)) } ?? .string(text)
    default: .string(text)
    }
  }

  /// Calls the method of a form with its values.
  static func submit(
    _ state: inout AppState, _ offer: MethodOffer, _ values: [(path: Path, value: JSONValue)]
  ) {
    let members = values.compactMap { value in
      value.path.lastKey.map { JSONMember($0.text, value.value) }
    }
    send(&state, MethodCall(offer.place, offer.name, data: .object(members)))
  }

  private static func send(_ state: inout AppState, _ call: MethodCall) {
    if recordMethods.contains(call.name) {
      return state.say(.error, "\(call.name) is done with the records of the list, not by a call")
    }
    if state.refusesWriting() { return }
    let id = state.requests.add(.method(call))
    state.effects.append(.callMethod(id, call))
    state.say(.info, "calling \(call.name)")
  }

  // MARK: The menu of a row

  /// The methods as items of the menu of a row.
  static func items(_ state: AppState) -> [MenuList.Item] {
    offers(state).map { offer in
      let title = offer.words.isEmpty ? "call \(offer.name)" : "\(offer.name): \(offer.words)"
      return MenuList.Item(id: itemPrefix + offer.name, title: title)
    }
  }

  /// Calls the method of an item; returns false if it stands for none.
  static func choose(_ state: inout AppState, _ item: MenuList.Item) -> Bool {
    guard item.id.hasPrefix(itemPrefix),
      let offer = offers(state).first(where: { itemPrefix + $0.name == item.id })
    else { return false }
    state.closeLayer()
    begin(&state, offer)
    return true
  }

  // MARK: Answers

  /// Shows the result of a call.
  static func finish(_ state: inout AppState, _ call: MethodCall, _ result: JSONValue) {
    let short = result.jsonText()
    if result.isNull { return state.say(.info, "\(call.name): done") }
    if short.count <= shortMax { return state.say(.info, "\(call.name): \(short)") }
    // A page over what is typed meanwhile would take the keys.
    guard state.layers.isEmpty else {
      return state.say(.info, "\(call.name): \(short.prefix(shortMax))…")
    }
    let lines = result.jsonText(pretty: true).split(separator: "\n")
    let items = lines.prefix(linesMax).enumerated().map { index, line in
      MenuList.Item(id: String(index), title: String(line))
    }
    state.layers.append(
      .menu(
        MenuScreen(
          purpose: .lines, title: "\(call.name) answered", menu: MenuList(items))))
  }

  static func fail(_ state: inout AppState, _ call: MethodCall, _ refusal: Refusal) {
    let fields = refusal.fields.map { "\($0.name) \($0.message)" }
    state.say(.error, "\(call.name): \(([refusal.message] + fields).joined(separator: " · "))")
  }
}

extension PaletteCommand {
  /// Calls a method of the service in front.
  static let callMethod = PaletteCommand(
    name: "call", hint: "METHOD [JSON]", ownTitle: "call a method",
    description: "call a method of the service in front", argument: .text,
    ownReason: { MethodCalls.reasonNotCalled($0) },
    choices: { MethodCalls.choices($0, $1) }, run: { MethodCalls.start(&$0, $1) })
}
