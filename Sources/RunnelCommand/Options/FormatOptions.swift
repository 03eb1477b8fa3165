import ArgumentParser
import RunnelApp
import RunnelDatabase
import RunnelTree
import RunnelWorkspace

/// The format in which a command prints the subtree at a place.
struct FormatOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The format: json prints the value; jsonl, csv and markdown print a record for each child.",
      valueName: "format"),
    completion: .list(ExportFormat.allCases.map(\.rawValue)), transform: FormatOptions.format)
  var format = ExportFormat.json
  @OptionGroup var layout: LayoutOptions

  /// True if each child is printed as a record.
  var hasRecords: Bool { format != .json }

  func validate() throws {
    if hasRecords, layout.pretty {
      throw ValidationError("--pretty is for JSON: leave it out, or --format \(format.rawValue).")
    }
  }

  /// Checks that there are records at a place: a value has no children, so it is not a list of
  /// records.
  ///
  /// - Throws: `Failure` if there is a value at the place.
  func checkRecords(at path: Path, in session: DatabaseSession) throws {
    guard case .leaf = try session.summary(at: path).kind else { return }
    throw Failure(
      "\(path) is a value without children: --format \(format.rawValue) prints the children of a place, a "
        + "record for each; --format json prints a value.")
  }

  /// Returns the order of the columns of the records at a place, for a format that has columns.
  func order(of path: Path, in session: DatabaseSession) -> ColumnOrder {
    format.hasColumns ? ColumnOrder(ofChildrenOf: path, in: session.file) : ColumnOrder()
  }

  /// Prints the children of a place, page by page.
  ///
  /// - Throws: `Failure` if they cannot be printed in the format, and the errors of reading and
  ///   printing.
  func writeChildren(
    of path: Path, from session: DatabaseSession, keepsPriorities: Bool
  ) throws {
    try checkRecords(at: path, in: session)
    try write(export(of: path, order(of: path, in: session), keepsPriorities)) {
      (export: inout SubtreeExport) in
      // All pages are read from one state, so that they agree with each other.
      try session.read { reader in
        try export.write(
          reading: { try reader.rows(of: $0.path, in: RowSlice($0), detail: .full) },
          to: { try StandardOutput.write($0) })
      }
    }
  }

  /// Prints rows, without their priorities unless these are kept.
  ///
  /// - Throws: as `writeChildren`.
  func write(
    _ rows: [TreeRow], of path: Path, in order: ColumnOrder = ColumnOrder(),
    keepsPriorities: Bool = false
  ) throws {
    try write(export(of: path, order, keepsPriorities)) {
      try $0.write(rows) { try StandardOutput.write($0) }
    }
  }

  private func export(
    of path: Path, _ order: ColumnOrder, _ keepsPriorities: Bool
  ) -> SubtreeExport {
    SubtreeExport(
      childrenOf: path, as: format, keepsPriorities: keepsPriorities, in: order)
  }

  private func write(
    _ export: SubtreeExport, _ body: (inout SubtreeExport) throws -> Void
  ) throws {
    var export = export
    do {
      try body(&export)
    } catch let problem as SubtreeExport.Problem {
      throw Failure("\(problem)")
    }
    if export.cutCount > 0 {
      StandardError.say(
        "\(export.cutCount) records got new fields during printing, for which there is no column.")
    }
  }

  private static func format(_ text: String) throws -> ExportFormat {
    if let format = ExportFormat(rawValue: text) { return format }
    let names = ExportFormat.allCases.map(\.rawValue).joined(separator: ", ")
    throw ValidationError("the formats are \(names).")
  }
}
