import Foundation
package import RunnelDatabase
import RunnelStreams
import RunnelTree
import RunnelWorkspace

/// A workspace without a screen: it reads the views as the workspace does, and lists one of them.
public struct PlainWorkspace {
  private let definition: ViewDefinition
  private let me: String
  private let local: LocalTime
  private let request: PlainRequest

  /// Finds the view to list: the one that the options name, or the first.
  ///
  /// - Throws: `ConfigurationError` if a file is not valid or the view does not exist,
  ///   `DatabaseError` if the database cannot be opened.
  public init(_ options: ApplicationOptions, _ request: PlainRequest) throws {
    let settings = options.configuration.map { ConfigurationFile(file: $0) } ?? ConfigurationFile()
    let workspace = try Workspace(options, settings.settings)
    let tab = workspace.firstTab ?? 0
    guard workspace.lists.indices.contains(tab) else {
      throw workspace.lists.isEmpty
        ? ConfigurationError(
          file: options.database, line: nil,
          "There is no collection to list: `runnel import` puts data in, `runnel export` writes all."
        )
        : ConfigurationError(
          file: "--view", line: nil,
          "The tree is not listed: `runnel get / --shallow` and `runnel export` write it.")
    }
    definition = workspace.lists[tab]
    me = workspace.me
    var local = LocalTime.system
    local.clock = settings.settings.clock
    self.local = local
    self.request = request
  }

  /// Returns the listing, for an owner that carries its requests.
  ///
  /// - Throws: `ConfigurationError` if the filter is not valid.
  public func view() throws -> PlainView {
    try PlainView(definition, request, me: me, local: local)
  }

  /// Writes all rows of the view as JSON lines, page by page.
  ///
  /// One page is in memory.
  ///
  /// - Parameters:
  ///   - session: the database.
  ///   - write: takes the bytes of a page; an error that it throws ends the listing.
  ///
  /// - Returns: a sentence that says why the filter finds nothing, if its words may be wrong, or which rows it
  ///   does not compare; nil for neither.
  /// - Throws: `ConfigurationError` if the filter is not valid, and the errors of reading and
  ///   writing.
  package func writeAll(
    from session: DatabaseSession, to write: ([UInt8]) throws -> Void
  ) throws -> String? {
    let filter = try PlainView.filter(request.filter, now: LocalTime.now(), local: local)
    let matcher = filter.map {
      FilterMatcher($0, in: definition, FilterMatcher.Surroundings(me: me))
    }
    var uncompared = filter.map { UncomparedTexts($0) }
    var reader = ViewReader(definition)
    // All pages are read from one state, so that they agree with each other.
    return try session.read { tree in
      var findsNothing = true
      while let query = try reader.nextQuery() {
        let all = reader.take(
          try tree.rows(of: query.path, in: RowSlice(query), detail: .full))
        uncompared?.take(all)
        let records = matcher.map { all.filter($0.wants) } ?? all
        try write(records.flatMap { ExportWriter.jsonLine($0.row.key, $0.row.node ?? .empty) })
        if !records.isEmpty { findsNothing = false }
      }
      if !findsNothing { return uncompared?.message.map(PlainView.partWords) }
      return try filter.flatMap { try doubt(about: $0, in: tree) }.map(PlainView.nothingWords)
    }
  }

  /// The reason why a filter finds nothing, if it is the same on all pages.
  private func doubt(about filter: Filter, in tree: any TreeReader) throws -> String? {
    var doubt: String?
    var reader = ViewReader(definition, filter: nil)
    while let query = try reader.nextQuery() {
      let records = reader.take(
        try tree.rows(of: query.path, in: RowSlice(query), detail: .full))
      if records.isEmpty { continue }
      let found = FilterDoubt(filter, in: definition, records, isComplete: true)
      guard let found, found.message == doubt ?? found.message else { return nil }
      doubt = found.message
    }
    return doubt
  }
}
