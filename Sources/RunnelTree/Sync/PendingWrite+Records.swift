package import RunnelBase

// Writes of several records of services, which are done one after the other.

extension JSONValue {
  /// The most characters of a record's first text.
  private static let firstTextMax = 40

  /// The first text in a record, by which a person knows it, in one line; nil if it has none.
  package var firstText: String? {
    let text = string ?? object?.lazy.compactMap(\.value.string).first { !$0.isEmpty }
    guard let text, !text.isEmpty else { return nil }
    let max = JSONValue.firstTextMax
    let line = text.prefix(max).split(whereSeparator: \.isNewline).joined(separator: " ")
    return text.count > max ? "\(line)…" : line
  }
}

extension PendingWrite {
  /// The number of keys in the place of a record: those of the service and of the record.
  private static let recordDepth = 2

  /// What a write of several records of services does to the first of them, and to the others; nil if it is one
  /// of a single record.
  ///
  /// O(n) in the places of the write.
  package var firstRecord: (record: Path, first: PendingWrite, rest: Write)? {
    guard case .update(let path, let members) = write else { return nil }
    let records = members.map { PendingWrite.record(of: path, $0.name) }
    guard let start = records.first, let record = start else { return nil }
    let own = members.indices.filter { records[$0] == record }.map { members[$0] }
    let others = members.indices.filter { records[$0] != record }.map { members[$0] }
    if others.isEmpty { return nil }
    var first = self
    let kept = parts.indices.filter { record.contains(parts[$0].path) }
    first.parts = kept.map { parts[$0] }
    if bases.count == parts.count { first.bases = kept.map { bases[$0] } }
    first.write = .update(path, own)
    if own.count == 1, let below = try? Path(own[0].name) {
      first.write = .set(Path(unchecked: path.keys + below.keys), own[0].value)
    }
    return (record, first, .update(path, others))
  }

  private static func record(of path: Path, _ name: String) -> Path? {
    guard let below = try? Path(name) else { return nil }
    let keys = path.keys + below.keys
    return keys.count < recordDepth ? nil : Path(unchecked: Array(keys.prefix(recordDepth)))
  }
}
