import RunnelBase
import RunnelTree

// The form of history entries in the file.

extension HistoryEntry.Part {
  /// The place as an update of the root names it.
  package var name: String {
    let name = path.isRoot ? "" : path.description
    return isPriority ? name + "/" + ReservedName.priority : path.description
  }

  private enum Name {
    static let path = "path"
    static let isPriority = "priority"
    static let old = "old"
    static let new = "new"
    static let before = "before"
    static let file = "file"
    static let operation = "operation"
    static let isPartlyKnown = "partlyKnown"
  }

  /// Writes a part, whose values are JSON text already; nil if they are too large to keep.
  ///
  /// If the values are not kept, there may be the old value as text or in a file. The first part of an
  /// entry has the record of the operation that made it.
  static func write(
    _ path: Path, isPriority: Bool, values: (old: [UInt8], new: [UInt8])?,
    before: [UInt8]? = nil, file: UndoFile? = nil, operation: Path? = nil,
    isPartlyKnown: Bool = false, to writer: inout JSONWriter
  ) {
    writer.beginObject()
    writer.writeName(Name.path)
    writer.writeString(path.description)
    if isPriority {
      writer.writeName(Name.isPriority)
      writer.writeBool(true)
    }
    if let values {
      writer.writeName(Name.old)
      writer.writeText(values.old)
      writer.writeName(Name.new)
      writer.writeText(values.new)
    } else if let before {
      writer.writeName(Name.before)
      writer.writeText(before)
    } else if let file {
      writer.writeName(Name.file)
      writer.writeValue(file.json)
    }
    if isPartlyKnown {
      writer.writeName(Name.isPartlyKnown)
      writer.writeBool(true)
    }
    if let operation {
      writer.writeName(Name.operation)
      writer.writeString(operation.description)
    }
    writer.endObject()
  }

  /// The record of the operation that made an entry, by the JSON of the entry's first part; nil if
  /// none did.
  static func operation(_ json: JSONValue) -> Path? {
    json[Name.operation]?.string.flatMap { try? Path($0) }
  }

  /// Reads the JSON of `write`; nil for any other JSON.
  init?(_ json: JSONValue) {
    guard let text = json[Name.path]?.string, let path = try? Path(text) else {
      return nil
    }
    self.init(path: path, isPriority: json[Name.isPriority] == .bool(true), values: nil)
    isPartlyKnown = json[Name.isPartlyKnown] == .bool(true)
    if let old = json[Name.old], let new = json[Name.new] {
      values = Values(old: old, new: new)
    } else if let before = json[Name.before] {
      self.before = .value(before)
    } else if let file = json[Name.file].flatMap(UndoFile.init) {
      before = .file(suffix: file.suffix, byteCount: file.byteCount, checksum: file.checksum)
    }
  }

  /// The file with the old node; nil if there is none.
  var undoFile: UndoFile? {
    guard case .file(let suffix, let byteCount, let checksum)? = before else { return nil }
    return UndoFile(suffix: suffix, byteCount: byteCount, checksum: checksum)
  }
}
