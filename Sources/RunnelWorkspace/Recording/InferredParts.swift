package import RunnelBase
package import RunnelStore

/// What inference found about a view beyond what a views file says: the room that its columns take.
package struct InferredParts: Hashable, Sendable {
  private var isAwaiting: Bool
  private var columns: [Column]

  private struct Column: Hashable {
    var wide: Int?
    var least: Int?
    var isDense: Bool
  }

  init(of view: ViewDefinition) {
    isAwaiting = view.awaitsColumns
    columns = view.columns.map {
      Column(wide: $0.wideWidth, least: $0.leastWidth, isDense: $0.isDense)
    }
  }

  /// Returns a view with what was found about it.
  package func added(to view: ViewDefinition) -> ViewDefinition {
    var view = view
    view.awaitsColumns = isAwaiting
    for (index, column) in zip(view.columns.indices, columns) {
      view.columns[index].wideWidth = column.wide
      view.columns[index].leastWidth = column.least
      view.columns[index].isDense = column.isDense
    }
    return view
  }

  package var json: JSONValue {
    let list: [JSONValue] = columns.map { column in
      let members = [
        column.wide.map { JSONMember("wide", .int($0)) },
        column.least.map { JSONMember("least", .int($0)) },
        column.isDense ? JSONMember("dense", true) : nil,
      ]
      return .object(members.compactMap(\.self))
    }
    return ["awaits": .bool(isAwaiting), "columns": .array(list)]
  }

  package init(json: JSONValue) throws(ActionLogError) {
    let fields = LogFields(json)
    isAwaiting = try fields.bool("awaits")
    columns = []
    for column in try fields.array("columns") {
      columns.append(
        Column(
          wide: column["wide"]?.int, least: column["least"]?.int,
          isDense: column["dense"] == .bool(true)))
    }
  }
}
