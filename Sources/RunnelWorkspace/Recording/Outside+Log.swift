package import RunnelBase
package import RunnelStore
package import RunnelTerminal
import RunnelTree

// The outcomes of the clipboard and the user's editor, as recorded sessions have them.

extension Clipboard.Outcome {
  package var log: JSONValue {
    switch self {
    case .copied(let program, let count): ["by": .string(program), "bytes": .int(count)]
    case .sent(let count): ["bytes": .int(count)]
    case .failed(let reason): ["failed": .string(reason)]
    }
  }

  package init(log json: JSONValue) throws(ActionLogError) {
    let fields = LogFields(json)
    if json["failed"] != nil {
      self = .failed(try fields.string("failed"))
    } else if json["by"] != nil {
      self = .copied(by: try fields.string("by"), byteCount: try fields.int("bytes"))
    } else {
      self = .sent(byteCount: try fields.int("bytes"))
    }
  }
}

extension ExternalEditor.Outcome {
  package var log: JSONValue {
    switch self {
    case .unchanged: [:]
    case .accepted(let text): ["text": .string(text)]
    case .kept(let file, let reason): ["file": .string(file), "reason": .string(reason)]
    case .failed(let reason): ["failed": .string(reason)]
    }
  }

  package init(log json: JSONValue) throws(ActionLogError) {
    let fields = LogFields(json)
    if json["text"] != nil {
      self = .accepted(try fields.string("text"))
    } else if json["file"] != nil {
      self = .kept(file: try fields.string("file"), reason: try fields.string("reason"))
    } else if json["failed"] != nil {
      self = .failed(try fields.string("failed"))
    } else {
      self = .unchanged
    }
  }
}

extension OutsideEdit {
  package var log: JSONValue {
    [
      "path": .string(path.description), "original": original,
      "refused": refused.map { ["text": .string($0.text), "reason": .string($0.reason)] } ?? .null,
    ]
  }

  package init(log json: JSONValue) throws {
    let fields = LogFields(json)
    let refused = LogFields(try fields.value("refused"))
    self.init(
      path: try fields.path("path"), original: try fields.value("original"),
      refused: refused.json == .null
        ? nil
        : EditRound.Refused(try refused.string("text"), reason: try refused.string("reason")))
  }
}
