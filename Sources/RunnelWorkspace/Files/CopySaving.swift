package import RunnelBase
import RunnelTerminal

/// The saving of the whole database to a new file, which takes a while for a large one.
package struct CopySaving: Hashable, Sendable {
  /// How far it is, or how it ended.
  package enum Report: Hashable, Sendable {
    /// So many bytes are written, of about so many.
    case progress(bytes: Int, of: Int)
    case done(file: String, bytes: Int)
    /// The user stopped it, and no file was left.
    case stopped
    /// It failed for this reason, and no file was left.
    case failed(String)

    /// Whether it goes on.
    package var isProgress: Bool { if case .progress = self { true } else { false } }
  }

  /// The time when it began, in milliseconds since 1970.
  let startedAt: Int64
}

extension CopySaving {
  fileprivate static func start(_ state: inout AppState, _ file: String) -> String? {
    if file.isEmpty || file.hasSuffix("/") { return "name a file" }
    if state.files.copy != nil {
      return SharedCommands.reasonUnderWay("a copy is being saved")
    }
    state.files.copy = CopySaving(startedAt: state.now)
    state.effects.append(.saveCopy(state.requests.newID(), file))
    state.say(.info, "saving a copy to \(file)")
    return nil
  }

  /// Stops the saving of a copy; returns false if none is saved.
  static func stop(_ state: inout AppState) -> Bool {
    if state.files.copy == nil { return false }
    state.effects.append(.stopCopy)
    return true
  }

  /// Takes a report.
  static func take(_ state: inout AppState, _ report: Report) {
    guard let copy = state.files.copy else { return }
    switch report {
    case .progress(let bytes, let count):
      guard state.now - copy.startedAt >= ImportReading.quietMilliseconds else { return }
      let words = "saving a copy: \(ByteCount.text(bytes)) of about \(ByteCount.text(count))"
      return state.say(.info, words + Importing.stopHint(state))
    case .done(let file, let bytes): FileGone.noteCopy(&state, file, bytes: bytes)
    case .stopped: state.say(.info, "no copy was saved")
    case .failed(let reason): state.say(.error, reason)
    }
    state.files.copy = nil
  }
}

extension PaletteCommand {
  /// The palette command that saves the whole database.
  package static let saveCopy = PaletteCommand(
    name: "save-copy", hint: "FILE", ownTitle: "save a copy",
    description: "save the whole database to a new file, also if its own is gone", argument: .text,
    run: { state, text in CopySaving.start(&state, text.trimmingSpaces) })
}

extension String {
  fileprivate var trimmingSpaces: String {
    var text = self[...]
    while text.first == " " { text.removeFirst() }
    while text.last == " " { text.removeLast() }
    return String(text)
  }
}

// MARK: Recording

extension CopySaving.Report {
  /// The report as JSON, for recorded sessions.
  package var json: JSONValue {
    switch self {
    case .progress(let bytes, let count):
      ["bytes": .number(JSONNumber(Int64(bytes))), "of": .number(JSONNumber(Int64(count)))]
    case .done(let file, let bytes):
      ["copied": .string(file), "bytes": .number(JSONNumber(Int64(bytes)))]
    case .stopped: "stopped"
    case .failed(let reason): ["failed": .string(reason)]
    }
  }

  /// Reads a report that `json` wrote; nil if the JSON is something else.
  package init?(_ json: JSONValue) {
    if json == "stopped" {
      self = .stopped
    } else if let reason = json["failed"]?.string {
      self = .failed(reason)
    } else if let bytes = json["bytes"]?.int, let count = json["of"]?.int {
      self = .progress(bytes: bytes, of: count)
    } else if let file = json["copied"]?.string, let bytes = json["bytes"]?.int {
      // As the answer of a request in older recordings.
      self = .done(file: file, bytes: bytes)
    } else {
      return nil
    }
  }
}
