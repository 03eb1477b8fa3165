package import RunnelBase
package import RunnelStore
package import RunnelTerminal

// Input events, as recorded sessions have them.

extension InputEvent {
  package var log: JSONValue {
    switch self {
    case .key(let stroke): ["key": stroke.log]
    case .paste(let text): ["paste": .string(text)]
    case .pasteTooLong(let count): ["pasteTooLong": .int(count)]
    case .mouse(let mouse): ["mouse": mouse.log]
    case .resize(let size): ["resize": [.int(size.columns), .int(size.rows)]]
    case .focus(let isThere): ["focus": .bool(isThere)]
    case .reply(.attributes): ["reply": []]
    case .reply(.background(let color)):
      ["reply": .array([color.red, color.green, color.blue].map { .int(Int($0)) })]
    }
  }

  package init(log json: JSONValue) throws(ActionLogError) {
    let fields = LogFields(json)
    if let key = json["key"] {
      self = .key(try KeyStroke(log: key))
    } else if json["paste"] != nil {
      self = .paste(try fields.string("paste"))
    } else if let count = json["pasteTooLong"].flatMap(LogFields.integer) {
      self = .pasteTooLong(Int(clamping: count))
    } else if let mouse = json["mouse"] {
      self = .mouse(try MouseEvent(log: mouse))
    } else if case .array(let size)? = json["resize"] {
      let numbers = try LogFields(["size": .array([.array(size)])]).integers("size", by: 2)
      self = .resize(TerminalSize(columns: numbers[0][0], rows: numbers[0][1]))
    } else if case .array(let parts)? = json["reply"] {
      let numbers = parts.compactMap(LogFields.integer).compactMap { UInt8(exactly: $0) }
      self =
        numbers.count == 3
        ? .reply(.background(RGB(numbers[0], numbers[1], numbers[2]))) : .reply(.attributes)
    } else {
      self = .focus(try fields.bool("focus"))
    }
  }
}

extension KeyStroke {
  /// The notation of the key; characters without a notation are written as members.
  fileprivate var log: JSONValue {
    let notation = description
    if KeyStroke(notation: notation) == self { return .string(notation) }
    guard case .character(let character) = key else { return .string(notation) }
    return [
      "character": .string(String(character)), "control": .bool(control), "meta": .bool(meta),
    ]
  }

  fileprivate init(log json: JSONValue) throws(ActionLogError) {
    if case .string(let notation) = json {
      guard let stroke = KeyStroke(notation: notation) else {
        throw ActionLogError(.malformed, "`\(notation)` is no key.")
      }
      self = stroke
      return
    }
    let fields = LogFields(json)
    let text = try fields.string("character")
    guard let character = text.first, text.count == 1 else {
      throw fields.misfit("character", "one character")
    }
    self.init(
      .character(character), control: try fields.bool("control"), meta: try fields.bool("meta"))
  }
}

extension MouseEvent {
  fileprivate var log: JSONValue {
    [
      "row": .int(position.row), "column": .int(position.column),
      "kind": .string("\(kind)"), "button": .string("\(button)"),
    ]
  }

  fileprivate init(log json: JSONValue) throws(ActionLogError) {
    let fields = LogFields(json)
    let (kindName, buttonName) = (try fields.string("kind"), try fields.string("button"))
    guard let kind = Kind.allCases.first(where: { "\($0)" == kindName }),
      let button = Button.allCases.first(where: { "\($0)" == buttonName })
    else { throw fields.misfit("kind", "what a mouse does") }
    self.init(
      position: Position(row: try fields.int("row"), column: try fields.int("column")),
      kind: kind, button: button)
  }
}
