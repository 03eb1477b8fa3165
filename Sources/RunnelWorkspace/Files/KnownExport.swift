import RunnelBase
import RunnelTerminal

/// The export of a server's list without a connection: only the rows that are known here can be written.
enum KnownExport {
  /// Asks whether what is known is to be exported, and says of what that is a part.
  static func ask(_ state: inout AppState, _ export: ExportProgress) {
    let list = state.tabs.frontList
    var message = [
      StyledLine("there is no connection: the rows that are known here are written", .warn)
    ]
    if let list {
      let shown = list.reach.loadedCount
      let rows = shown == 1 ? "1 row is" : "\(shown) rows are"
      let all = list.reach.total.map { $0 > shown ? " of \($0)" : "" } ?? ""
      message.append(
        StyledLine(
          "\(rows) loaded\(all); "
            + (list.isComplete && list.reach.total != nil
              ? "that is all" : "how many more the server has, is not known"),
          .warn))
    }
    let age = state.database.origin?.cachedText(now: state.now) ?? "cached"
    message.append(StyledLine("they are \(age): others may have changed or removed some", .warn))
    let question = Question(
      .exportKnown(export), title: "Export what is known here", message: message,
      explanation: [
        StyledLine("With a connection, all rows are read from the server first.", .muted)
      ],
      isDanger: false, openedAt: state.input.eventTime)
    Question.open(&state, question, yes: "export", no: "go on typing")
  }

  /// Exports what is known.
  static func start(_ state: inout AppState, _ export: ExportProgress) {
    if let reason = Exporting.reasonNotExported(state) { return state.say(.info, reason) }
    var export = export
    export.job.takesKnown = true
    (export.startedAt, export.inputCount) = (state.now, state.input.count)
    state.files.export = export
    state.effects.append(.export(state.requests.newID(), export.job))
  }
}
