import ArgumentParser
import Glibc
import RunnelApp

/// The options for listing a view without a screen, and for its first state on a screen.
struct ListingOptions: ParsableArguments {
  // A term that must not hold begins with a dash.
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Show only rows that match this filter, written as in the filter bar: 'from:bo text~water'. A name "
        + "with blanks stands in quotes: '\"full name\":bo'.",
      valueName: "filter"))
  var filter: String?
  @Flag(help: "Follow new rows; without a screen, print changes until interrupted.")
  var follow = false
  @Flag(
    help: """
      List the view line by line, without a screen: for screen readers, logs, and terminals that \
      cannot place a cursor.
      """)
  var plain = false
  @Option(
    help: ArgumentHelp(
      "How many rows are listed without a screen: a number, or all (default: a page; all as JSON). With "
        + "--follow, all are held in memory.",
      valueName: "count"),
    transform: ListingOptions.rows)
  var rows: PlainRequest.Rows?

  func validate() throws {
    if let filter, filter.hasPrefix("--") {
      throw ValidationError(
        "--filter needs a filter behind it, and \(filter) is none: write --filter 'role:cook'.")
    }
  }

  /// Whether there is no screen: by request, or because the output is not a terminal.
  var isPlain: Bool { plain || !StandardOutput.isTerminal }

  /// Returns the listing: text if requested, otherwise a line of JSON for each row.
  func request(isASCII: Bool) -> PlainRequest {
    let layout: PlainRequest.Layout = plain ? .text : .jsonLines
    var request = PlainRequest(layout, rows: rows ?? (plain ? .page : .all))
    request.filter = filter
    request.follows = follow
    request.isASCII = isASCII
    return request
  }

  private static func rows(_ text: String) throws -> PlainRequest.Rows {
    if text == "all" { return .all }
    if let count = Int(text), count > 0 { return .count(count) }
    throw ValidationError("write a number from 1 on, or all.")
  }
}
