import RunnelBase
package import RunnelTerminal
package import RunnelTree

/// Writes what waits for the origin of a replica as words.
package enum PendingText {
  /// The most characters of a value in the line of a write, and in a line of its own.
  private static let (shortMax, valueMax) = (60, 2000)
  /// The most places of a write that are shown in full.
  private static let partsMax = 100

  /// A write in one line: its number, what it does, and since when it waits.
  package static func line(of write: PendingWrite, now: Int64) -> StyledLine {
    var line = StyledLine("   pending  ", .rowPending)
    line.append("#\(write.id) ", .muted)
    line.append(deed(of: write))
    if let time = write.madeAt { line.append("  \(Age.text(of: time, now: now))", .muted) }
    return line
  }

  /// What a write does, and where.
  static func deed(of write: PendingWrite) -> String {
    let start = write.isDurable ? "" : "transaction, "
    return start
      + {
        switch write.write {
        case .set(let path, .null): "remove \(path)"
        case .set(let path, let json): "set \(path)  \(short(json, shortMax))"
        case .update(let path, let members):
          "update \(path)  \(members.map(\.name).joined(separator: ", "))"
        case .copy(let from, let to): "copy \(from) to \(to)"
        case .move(let from, let to): "move \(from) to \(to)"
        }
      }()
  }

  /// What a write changes, place by place: what the origin was known to hold there, and what is shown.
  static func detail(of write: PendingWrite) -> [StyledLine] {
    var lines: [StyledLine] = []
    for (index, part) in write.parts.prefix(partsMax).enumerated() {
      lines.append(StyledLine("      \(part.path)", .muted))
      switch part.target {
      case .node(let node):
        if write.bases.indices.contains(index), let base = write.bases[index] {
          lines.append(StyledLine("      - \(short(base.exportJSON, valueMax))", .muted))
        }
        lines.append(StyledLine("      + \(short(node.exportJSON, valueMax))", .ok))
      case .priority(let priority):
        let text = priority.map { $0.json.jsonText() } ?? "none"
        lines.append(StyledLine("      + priority \(text)", .ok))
      }
    }
    let rest = write.parts.count - partsMax
    if rest > 0 { lines.append(StyledLine("      and \(rest) places more", .muted)) }
    return lines
  }

  private static func short(_ json: JSONValue, _ max: Int) -> String {
    let text = json.jsonText()
    return text.count > max ? "\(text.prefix(max))…" : text
  }
}
