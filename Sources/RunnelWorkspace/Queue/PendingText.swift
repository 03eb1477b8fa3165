import RunnelBase
package import RunnelTerminal
package import RunnelTree

/// Formats the writes that wait for the origin of a replica.
package enum PendingText {
  /// The greatest length of a value in characters: in the line of a write, and in a line of its
  /// own.
  private static let (shortMax, valueMax) = (44, 2000)
  /// The greatest number of places that are shown of a write in full, and of the fields of a record.
  private static let partsMax = 100
  /// The greatest number of places of a write that are named in its line.
  private static let namedMax = 5
  /// The greatest number of characters in a line of a value that is shown in full.
  private static let lineMax = 64

  /// Returns a write in one line: its number, what it does, and its age.
  package static func line(
    of write: PendingWrite, isUnknown: Bool = false, now: Int64, _ coding: ValueCoding = .tree
  ) -> StyledLine {
    var line =
      isUnknown ? StyledLine(" ? unknown  ", .warn) : StyledLine("   pending  ", .rowPending)
    line.append("#\(write.id) ", .muted)
    line.append(deed(of: write, coding))
    if let time = write.madeAt { line.append("  \(Age.text(of: time, now: now))", .muted) }
    return line
  }

  /// Returns what a write does, and where, in words.
  static func deed(of write: PendingWrite, _ coding: ValueCoding = .tree) -> String {
    let start = write.isDurable ? "" : "transaction, "
    return start
      + {
        switch write.write {
        case .set(let path, .null): "remove \(path)"
        case .set(let path, let json): "set \(path)  \(short(coding.shown(json), shortMax))"
        case .update(let path, let members):
          "update \(path)  \(names(members))"
        case .copy(let from, let to): "copy \(from) to \(to)"
        case .move(let from, let to): "move \(from) to \(to)"
        }
      }()
  }

  /// Returns the names of what is written at a place, or how many there are.
  private static func names(_ members: [JSONMember]) -> String {
    members.count > namedMax
      ? "\(members.count) places" : members.map(\.name).joined(separator: ", ")
  }

  /// Returns the changes of a write, place by place: the value known of the origin, and the new
  /// value.
  static func detail(
    of write: PendingWrite, isUnknown: Bool = false, _ coding: ValueCoding = .tree
  ) -> [StyledLine] {
    var lines: [StyledLine] = []
    if isUnknown {
      lines = [
        StyledLine("      It was sent, but the connection ended before the answer.", .warn),
        StyledLine("      If the server has done it, sending it again adds a second time.", .warn),
      ]
    }
    for (index, part) in write.parts.prefix(partsMax).enumerated() {
      lines.append(StyledLine("      \(part.path)", .muted))
      switch part.target {
      case .node(let node):
        if write.bases.indices.contains(index), let base = write.bases[index] {
          lines += full(coding.shown(base.exportJSON), "-", .muted)
        }
        lines += full(coding.shown(node.exportJSON), "+", .ok)
      case .priority(let priority):
        let text = priority.map { $0.json.jsonText() } ?? "none"
        lines.append(StyledLine("      + priority \(text)", .ok))
      }
    }
    let rest = write.parts.count - partsMax
    if rest > 0 { lines.append(StyledLine("      and \(rest) places more", .muted)) }
    return lines
  }

  /// Returns a value in lines: a line for each field of a record, and more for a long text.
  private static func full(_ json: JSONValue, _ sign: String, _ role: StyleRole) -> [StyledLine] {
    guard let members = readable(json).object, !members.isEmpty else {
      return lines(short(json, valueMax), sign, role)
    }
    var result: [StyledLine] = []
    for member in members.prefix(partsMax) {
      result += lines("\(member.name)  \(short(member.value, valueMax))", sign, role)
    }
    let rest = members.count - partsMax
    if rest > 0 { result.append(StyledLine("      \(sign) and \(rest) fields more", role)) }
    return result
  }

  private static func lines(_ text: String, _ sign: String, _ role: StyleRole) -> [StyledLine] {
    var result: [StyledLine] = []
    var rest = text[...]
    repeat {
      let start = result.isEmpty ? "      \(sign) " : "        "
      result.append(StyledLine("\(start)\(rest.prefix(lineMax))", role))
      rest = rest.dropFirst(lineMax)
    } while !rest.isEmpty
    return result
  }

  /// Returns a value whose texts come first, the longest before the others: a reader knows a record by
  /// its text.
  private static func readable(_ json: JSONValue) -> JSONValue {
    guard case .object(let members) = json else { return json }
    let texts = members.filter { $0.value.string != nil }
    let others = members.filter { $0.value.string == nil }
    let sorted = texts.sorted {
      let (left, right) = ($0.value.string?.utf8.count ?? 0, $1.value.string?.utf8.count ?? 0)
      return left == right ? $0.name < $1.name : left > right
    }
    return .object(sorted + others)
  }

  private static func short(_ json: JSONValue, _ max: Int) -> String {
    let text = readable(json).jsonText()
    return text.count > max ? "\(text.prefix(max))…" : text
  }
}
