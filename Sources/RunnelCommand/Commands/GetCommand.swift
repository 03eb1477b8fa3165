import ArgumentParser
import RunnelApp
import RunnelBase
import RunnelDatabase
import RunnelTree
import RunnelWorkspace

/// `runnel get`: prints the value at a place, or the children that a query asks for.
struct GetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Print the value at a place.",
    discussion: """
      Prints null if nothing is stored there. With a query, prints an object of the children that \
      belong to it, in its order. Priorities are left out; `runnel export` keeps them.

      With --format jsonl, csv or markdown, each child is a record: its key as $key, its members after it, \
      or $value of a child that is a value. CSV and Markdown have a column for each field that any of \
      them has; what is no text in a field is JSON there. In CSV, a ' stands before a text that a \
      spreadsheet would take for a formula.

      Examples:
        runnel get /users/ana --pretty
        runnel get /messages --order-by created --limit-to-last 3
        runnel get /users --order-by team --equal-to '"blue"'
        runnel get /messages --order-by created:desc --limit-to-first 3
        runnel get /users --where 'age >= 18 and name begins~ "a"' --explain
        runnel get /messages --order-by created --format csv > messages.csv
      """)

  @Argument(help: PlaceArgument.optionalHelpWithData, transform: PlaceArgument.place)
  var place: DataPlace = .root
  @OptionGroup var query: QueryOptions
  @Flag(help: "Print true in place of each child, and a value that has no children as it is.")
  var shallow = false
  @Flag(help: "Say on standard error how many children were read, by which index, and shown.")
  var explain = false
  @OptionGroup var output: FormatOptions
  @OptionGroup var database: DatabaseOptions

  private var path: Path { place.path }

  func validate() throws {
    _ = try query.query(at: path)
    if shallow, output.hasRecords {
      throw ValidationError(
        "--shallow is for JSON: leave it out, or --format \(output.format.rawValue).")
    }
  }

  func run() throws {
    let query = try query.query(at: path)
    if let remote = try database.of(place).remote(for: .read) {
      if explain { throw Failure("--explain is for files: a server does not say.", status: .usage) }
      return try remote.print(query, shallow ? [(name: "shallow", value: "true")] : [], output)
    }
    if output.hasRecords { return try printRecords(query) }
    let detail: TreeRow.Detail = shallow ? .shallow : .full
    try database.of(place).open(for: .read) { session in
      var document = TreeDocument(layout: output.layout.layout)
      if !shallow, !explain, query.loadsAllData, query.index == .key {
        try document.write(try session.node(at: path))
      } else {
        let (rows, report) = try session.scan(query, detail: detail)
        try tell(report, rows, session)
        try tellDoubts(query, rows, session)
        if rows.isEmpty {
          // A node without children is a value, to which a query does not apply.
          try document.write(query.loadsAllData ? leaf(session.summary(at: path)) : .empty)
        } else {
          try document.write(rows)
        }
      }
      try document.end()
      if let words = try session.wordsOnMissingPlace(path) { StandardError.say(words) }
    }
  }

  private func printRecords(_ query: Query) throws {
    try database.of(place).open(for: .read) { session in
      if !explain, query.loadsAllData, query.index == .key {
        return try output.writeChildren(of: path, from: session, keepsPriorities: false)
      }
      try output.checkRecords(at: path, in: session)
      let (rows, report) = try session.scan(query, detail: .full)
      try tell(report, rows, session)
      try tellDoubts(query, rows, session)
      try output.write(rows, of: path, in: output.order(of: path, in: session))
    }
  }

  /// Prints what the query cost, if requested, and the index that would make it cheaper.
  private func tell(_ report: ScanReport, _ rows: [TreeRow], _ session: DatabaseSession) throws {
    if explain { StandardError.say("\(report)") }
    if let words = try session.wordsOnMissingField(at: path, query.query(at: path).index, rows) {
      StandardError.say(words)
    } else if let advice = report.advice {
      StandardError.say(advice.text(forFile: session.file))
    }
  }

  /// The number of records in which the fields of a predicate are looked for.
  private static let sampleCount = 50

  /// Says which field a predicate tests that no record has, or that holds no single value if it finds
  /// nothing.
  ///
  /// Only the first records are read for that, so that a large place is not read twice.
  private func tellDoubts(_ query: Query, _ rows: [TreeRow], _ session: DatabaseSession) throws {
    guard let filter = query.filter else { return }
    // Where something was found, what must not hold may well be missing everywhere.
    let compared = rows.isEmpty ? filter.comparedFields : filter.fieldsThatHold
    let fields = compared + filter.fieldsLookedFor
    if fields.isEmpty { return }
    let count = GetCommand.sampleCount
    let sample = try session.scan(Query(path).limited(to: count, from: .first)).rows
    if let missing = MissingField(among: fields, in: sample + rows) {
      return StandardError.say(
        missing.words(
          sample.count < count
            ? "No record at \(path) has" : "None of the first \(count) records at \(path) has"))
    }
    guard rows.isEmpty else { return }
    for case .child(let field) in compared {
      let nodes = sample.compactMap { $0.node?[field] }.filter { !$0.isEmpty }
      guard !nodes.isEmpty, nodes.allSatisfy({ $0.leaf == nil }) else { continue }
      return StandardError.say(
        "\(field.text) holds lists or objects, and a test holds of a single value: name one, as "
          + "\(field.text)/0. In all of them, the workspace's filter finds a text: runnel --filter "
          + "'\(field.text)~TEXT'.")
    }
    for field in filter.fieldsComparedWithNumbers {
      let leaves = sample.compactMap { $0.node?[field].leaf }
      let isText = { (leaf: Leaf) in if case .string = leaf { true } else { false } }
      guard !leaves.isEmpty, leaves.allSatisfy(isText) else { continue }
      return StandardError.say(
        ControlCharacters.escapedLine(
          "\(field.text) holds texts, which are not compared with numbers."))
    }
  }

  private func leaf(_ summary: NodeSummary) -> Node {
    if case .leaf(let leaf) = summary.kind { Node(leaf) } else { .empty }
  }
}

extension ChildPredicate {
  /// The fields of which a value is compared, or searched for a text.
  fileprivate var comparedFields: [RowField] {
    switch self {
    case .compare(let field, _, _), .matches(let field, _): [field]
    case .exists: []
    case .all(let parts), .any(let parts): parts.flatMap(\.comparedFields)
    case .not(let part): part.comparedFields
    }
  }

  /// The fields of which it is asked whether they are there.
  fileprivate var fieldsLookedFor: [RowField] {
    switch self {
    case .compare, .matches: []
    case .exists(let field): [field]
    case .all(let parts), .any(let parts): parts.flatMap(\.fieldsLookedFor)
    case .not(let part): part.fieldsLookedFor
    }
  }

  /// The fields that must compare with a number.
  fileprivate var fieldsComparedWithNumbers: [Path] {
    switch self {
    case .compare(.child(let field), _, .number): [field]
    case .compare, .matches, .exists, .not: []
    case .all(let parts), .any(let parts): parts.flatMap(\.fieldsComparedWithNumbers)
    }
  }

  /// The fields whose tests must hold, rather than fail.
  fileprivate var fieldsThatHold: [RowField] {
    switch self {
    case .compare, .matches, .exists: comparedFields
    case .all(let parts), .any(let parts): parts.flatMap(\.fieldsThatHold)
    case .not: []
    }
  }
}

/// A JSON document of the tree's values, printed piece by piece.
private struct TreeDocument {
  private static let chunkBytes = 1 << 16

  private var writer: JSONWriter

  init(layout: JSONWriter.Layout) { writer = JSONWriter(layout: layout) }

  /// Writes a node's plain value.
  mutating func write(_ node: Node) throws {
    switch node.content {
    case .empty: writer.writeNull()
    case .leaf(let leaf): writer.writeValue(leaf.json)
    case .children(let children):
      writer.beginObject()
      for child in children {
        writer.writeName(child.key.text)
        try write(child.node)
        try flush(atBytes: TreeDocument.chunkBytes)
      }
      writer.endObject()
    }
  }

  /// Writes an object of rows; of a row that was read shallow, only its existence.
  mutating func write(_ rows: [TreeRow]) throws {
    writer.beginObject()
    for row in rows {
      writer.writeName(row.key.text)
      if let node = row.node { try write(node) } else { writer.writeBool(true) }
      try flush(atBytes: TreeDocument.chunkBytes)
    }
    writer.endObject()
  }

  /// Prints the rest, and ends the line.
  mutating func end() throws {
    try flush(atBytes: 0)
    try StandardOutput.write("\n")
  }

  private mutating func flush(atBytes limit: Int) throws {
    if writer.bytes.count >= limit { try StandardOutput.write(writer.takeBytes()) }
  }
}
