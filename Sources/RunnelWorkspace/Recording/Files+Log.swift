package import RunnelBase
package import RunnelStore
import RunnelTree

// The outcomes of work on files, as recorded sessions have them.

extension ExportReport {
  /// The name of the action in the view of the last actions.
  package var name: String {
    switch self {
    case .reading: "reading all rows for an export"
    case .isOffline: "no connection for an export"
    case .surveyed(let count): "exporting, looked at \(count) rows"
    case .progress(let count): "exporting, \(count) records"
    case .done(let file, _, _, _): "exported to \(file)"
    case .isThere(let file): "\(file) is there"
    case .isOpened(let file, _, _, _, _): "\(file) is the opened file"
    case .failed(let reason): "export failed: \(reason)"
    case .stopped: "export stopped"
    }
  }

  package var log: JSONValue {
    switch self {
    case .reading: ["reading": true]
    case .isOffline: ["isOffline": true]
    case .surveyed(let count): ["surveyed": .int(count)]
    case .progress(let count): ["progress": .int(count)]
    case .done(let file, let count, let bytes, let cutCount):
      [
        "done": .string(file), "count": .int(count.records), "collections": .int(count.collections),
        "values": .int(count.values), "bytes": .int(bytes), "cut": .int(cutCount),
      ]
    case .isThere(let file): ["isThere": .string(file)]
    case .isOpened(let file, let place, let losses, let mark, let isOfOthers):
      [
        "isOpened": .string(file), "place": .string(place.text),
        "losses": .array(losses.map { .string($0) }),
        "mark": mark.map { .string($0) } ?? .null, "others": .bool(isOfOthers),
      ]
    case .failed(let reason): ["failed": .string(reason)]
    case .stopped: [:]
    }
  }

  package init(log json: JSONValue) throws(ActionLogError) {
    let fields = LogFields(json)
    if json["reading"] != nil {
      self = .reading
    } else if json["isOffline"] != nil {
      self = .isOffline
    } else if json["surveyed"] != nil {
      self = .surveyed(count: try fields.int("surveyed"))
    } else if json["progress"] != nil {
      self = .progress(count: try fields.int("progress"))
    } else if json["done"] != nil {
      // Sessions of older versions have records only.
      let count = ExportedCount(
        records: try fields.int("count"), collections: json["collections"]?.int ?? 0,
        values: json["values"]?.int ?? 0)
      self = .done(
        file: try fields.string("done"), count: count,
        bytes: try fields.int("bytes"), cutCount: try fields.int("cut"))
    } else if json["isThere"] != nil {
      self = .isThere(try fields.string("isThere"))
    } else if json["isOpened"] != nil {
      // Sessions of older versions have neither.
      let place = json["place"]?.string.flatMap { try? Path($0) } ?? .root
      let losses = json["losses"]?.array?.compactMap(\.string) ?? []
      self = .isOpened(
        try fields.string("isOpened"), holding: place, losses: losses, mark: json["mark"]?.string,
        isOfOthers: json["others"] == .bool(true))
    } else if json["failed"] != nil {
      self = .failed(try fields.string("failed"))
    } else {
      self = .stopped
    }
  }
}

extension FileContent {
  package var log: JSONValue {
    switch self {
    // At replay, the reducer finds the records in the text again.
    case .text(let text), .records(_, let text): ["text": .string(text)]
    case .failed(let reason): ["failed": .string(reason)]
    }
  }

  package init(log json: JSONValue) throws(ActionLogError) {
    let fields = LogFields(json)
    self =
      json["text"] == nil ? .failed(try fields.string("failed")) : .text(try fields.string("text"))
  }
}
