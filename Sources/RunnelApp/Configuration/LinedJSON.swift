import RunnelBase
import Yams

/// Writes a YAML value as JSON in which every name and value is in its line of the YAML file, and where there
/// is room in its column, so that mistakes found in the JSON are told with their true places.
struct LinedJSON {
  private(set) var bytes: [UInt8] = []
  private var line = 1
  private var column = 1

  /// Writes a value; `object` reads values of the file.
  init(_ node: Yams.Node, _ object: YAMLObject) throws { try write(node, object) }

  private mutating func write(_ node: Yams.Node, _ object: YAMLObject) throws {
    if let mapping = node.mapping {
      put("{")
      for (index, member) in mapping.enumerated() {
        if index > 0 { put(",") }
        // The quotes are before the name, so that the value has its own column.
        move(to: member.key, shift: member.key.scalar?.style == .plain ? -2 : 0)
        put(JSONValue.string(try object.text(member.key)).jsonText())
        put(":")
        try write(member.value, object)
      }
      put("}")
    } else if let sequence = node.sequence {
      put("[")
      for (index, element) in sequence.enumerated() {
        if index > 0 { put(",") }
        try write(element, object)
      }
      put("]")
    } else {
      try writeScalar(node, object)
    }
  }

  private mutating func writeScalar(_ node: Yams.Node, _ object: YAMLObject) throws {
    let json = try object.json(node)
    let style = node.scalar?.style
    guard case .string(let text) = json, style == .literal else {
      move(to: node, shift: json.string != nil && style == .plain ? -1 : 0)
      return put(json.jsonText())
    }
    // The lines of a block are those of the file; a rule may have raw line breaks.
    move(to: node, shift: 0, lines: 1)
    put("\"")
    for (index, part) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      if index > 0 { breakLine() }
      put(String(JSONValue.string(String(part)).jsonText().dropFirst().dropLast()))
    }
    put("\"")
  }

  /// Goes on to the place of a node, if it is not behind already.
  private mutating func move(to node: Yams.Node, shift: Int, lines: Int = 0) {
    guard let mark = node.mark else { return }
    while line < mark.line + lines { breakLine() }
    let target = lines == 0 ? mark.column + shift : 1
    if line == mark.line + lines, column < target {
      put(String(repeating: " ", count: target - column))
    }
  }

  private mutating func put(_ text: String) {
    bytes += Array(text.utf8)
    column += text.unicodeScalars.count
  }

  private mutating func breakLine() {
    bytes.append(UInt8(ascii: "\n"))
    (line, column) = (line + 1, 1)
  }
}
