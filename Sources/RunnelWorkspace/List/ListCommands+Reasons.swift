import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The reasons why commands of a collection are disabled.

extension ListCommands {
  // MARK: Rows

  /// The reason why there is nothing under the cursor of the list, or nil if there is something.
  static func reasonNoRows(_ state: AppState) -> String? {
    guard let screen = state.tabs.frontList else { return nil }
    if screen.list.cursor != nil { return nil }
    switch screen.reach.phase {
    case .idle, .loading: return "the first rows are being loaded"
    case .failed: return state.phrase("the rows could not be read", .rowOpen, "reads them again")
    case .cached, .loaded: return "there are no rows here"
    }
  }

  static func reasonRowNotOpened(_ state: AppState, isGoingIn: Bool) -> String? {
    guard let screen = state.tabs.frontList else { return nil }
    // Opening a list that could not be read reads it again.
    if case .failed = screen.reach.phase { return nil }
    if let reason = reasonNoRows(state) { return reason }
    switch screen.list.cursor {
    case .row(ListScreen.fetchMoreRow):
      if isGoingIn, screen.reach.paging != .exhausted {
        return state.phrase("these rows are not loaded", .rowOpen, "fetches them")
      }
      // What is not loaded is at the other end.
      if screen.reach.phase == .loaded, screen.reach.hasOnlyNewerRows { return noMoreRowsHere }
      return reasonNoMoreRows(state)
    case .row(ListScreen.newerRow):
      if isGoingIn { return state.phrase("these rows are not loaded", .rowOpen, "fetches them") }
      return screen.reach.newer == .fetching ? reasonBeingFetched(state) : nil
    case .row: return screen.cursorRecord == nil ? "this row is not saved yet" : nil
    case .header(let id) where isGoingIn && !screen.list.folded.contains(id):
      return screen.content.firstRow(ofSection: id) == nil ? "there are no rows in it" : nil
    case .header, nil: return nil
    }
  }

  private static let noMoreRowsHere = "everything at this end is loaded: there are no more rows"

  static func reasonNoMoreRows(_ state: AppState) -> String? {
    guard let screen = state.tabs.frontList else { return nil }
    if screen.reach.phase == .loaded,
      screen.list.cursor == .row(ListScreen.newerRow) || screen.reach.hasOnlyNewerRows
    {
      return screen.reach.newer == .fetching ? reasonBeingFetched(state) : nil
    }
    switch (screen.reach.phase, screen.reach.paging) {
    case (.idle, _), (.loading, _): return "the first rows are being loaded"
    case (.failed, _): return nil
    case (_, .fetching): return reasonBeingFetched(state)
    case (_, .exhausted):
      return state.database.origin?.isCached == true
        ? "all that is kept here is loaded: the server may have more rows"
        : "everything is loaded: there are no more rows"
    case (_, .unknown), (_, .more), (_, .failed): return nil
    }
  }

  /// Removes the message that rows are being fetched, once none are.
  static func endFetchingToast(_ state: inout AppState) {
    guard let screen = state.tabs.frontList else { return }
    if screen.reach.paging == .fetching || screen.reach.newer == .fetching { return }
    let texts = [reasonBeingFetched(state), FilterScreen.searchingText(state)]
    if let text = state.toast?.toast.text, texts.contains(text) { state.toast = nil }
  }

  private static func reasonBeingFetched(_ state: AppState) -> String {
    state.phrase("they are being fetched", .jobCancel, "stops")
  }

  static func reasonNotFiltered(_ state: AppState) -> String? {
    guard let list = state.tabs.frontList else { return nil }
    return if case .failed = list.reach.phase { "the rows could not be read" } else { nil }
  }

  /// Why the list is not followed: in the order of words, new rows come anywhere.
  static func reasonNotFollowed(_ state: AppState) -> String? {
    guard let screen = state.tabs.frontList, !screen.list.isFollowing,
      let order = screen.definition.source.order.sortKeys.first,
      let field = screen.definition.columns.map(\.field).first(where: { $0.rowField == order.field }
      ),
      field != .key,
      let row = screen.content.sections.lazy.flatMap(\.rows).compactMap({ screen.records[$0] })
        .first
    else { return nil }
    let value = field.node(key: row.row.key, row.row.node ?? .empty)
    guard case .string(let text) = value.json, text.first?.isLetter == true else { return nil }
    return "the list is in the order of \(field.title): new rows come anywhere in it"
  }

  static func reasonNoAges(_ state: AppState) -> String? {
    guard let list = state.tabs.frontList else { return nil }
    return list.definition.columns.contains { $0.format == .age }
      ? nil : "no column of this view tells how long ago something was"
  }

  static func reasonAtNewest(_ state: AppState) -> String? {
    guard let screen = state.tabs.frontList else { return nil }
    if screen.reach.isAway || screen.hasNewBeyondFarEnd { return nil }
    // In an order that is not one of time, the newest rows are known only if they arrived just now.
    let isInOrderOfTime = screen.definition.source.anchor == .last
    if !isInOrderOfTime, screen.newAboveCount + screen.newBelowCount == 0 { return "no row is new" }
    var other = screen
    other.goToNewest(height: state.tabs.frontHeight(in: state.height))
    if other.list != screen.list { return nil }
    return isInOrderOfTime ? "this is the newest row" : "no row is new"
  }

  // MARK: Folding

  /// The section under the cursor, and whether it is folded; nil if there is none.
  private static func sectionAtHand(_ state: AppState) -> (id: String, isFolded: Bool)? {
    guard let screen = state.tabs.frontList else { return nil }
    return screen.list.cursorSection(in: screen.content)
      .map { ($0, screen.list.folded.contains($0)) }
  }

  static func reasonNotFolded(_ state: AppState) -> String? {
    sectionAtHand(state)?.isFolded == false ? "this section is not folded" : nil
  }

  static func reasonFolded(_ state: AppState) -> String? {
    sectionAtHand(state)?.isFolded == true ? "this section is folded" : nil
  }

  static func reasonNotOut(_ state: AppState) -> String? {
    guard let list = state.tabs.frontList else { return nil }
    guard let section = sectionAtHand(state), list.list.cursor == .header(section.id)
    else {
      return nil
    }
    return reasonFolded(state)
  }

  static func reasonNoneFolded(_ state: AppState) -> String? {
    guard sectionAtHand(state) != nil else { return nil }
    guard let screen = state.tabs.frontList else { return nil }
    return screen.content.sections.contains { screen.list.folded.contains($0.id) }
      ? nil : "no section is folded"
  }

  static func reasonAllFolded(_ state: AppState) -> String? {
    guard sectionAtHand(state) != nil else { return nil }
    guard let screen = state.tabs.frontList else { return nil }
    return screen.content.sections.allSatisfy { screen.list.folded.contains($0.id) }
      ? "all sections are folded" : nil
  }

  // MARK: Records

  static func reasonNoRecordAdded(_ state: AppState) -> String? {
    guard let list = state.tabs.frontList else { return nil }
    if let reason = state.reasonReadOnly { return reason }
    do throws(Refusal) {
      _ = try state.database.resources.adding(
        .object([]), to: list.definition.source.path)
      return nil
    } catch {
      return error.message
    }
  }

  static func reasonNoRecordEdited(_ state: AppState) -> String? {
    guard let list = state.tabs.frontList else { return nil }
    if let reason = reasonAwaited(state) { return reason }
    return list.cursorRecord == nil
      ? "move to a record to edit it" : state.reasonReadOnly
  }

  /// The reason why nothing can be done with a new record that waits for the server, or nil.
  private static func reasonAwaited(_ state: AppState) -> String? {
    guard let list = state.tabs.frontList else { return nil }
    let isAwaited = list.sentRecord != nil && !list.passing.awaited.isEmpty
    return isAwaited ? state.phrase("the server has not got it yet", .syncOpen, "lists it") : nil
  }

  static func reasonNoRecordDeleted(_ state: AppState) -> String? {
    guard let list = state.tabs.frontList else { return nil }
    if let reason = reasonNoneMarkedInSight(state) { return reason }
    if list.markCount == 0, list.cursorRecord == nil {
      if let reason = reasonAwaited(state) { return reason }
      return "move to a record to delete it"
    }
    return state.reasonReadOnly
  }

  /// The reason why nothing can be done with the marked records, or nil if something can or none
  /// are marked.
  static func reasonNoneMarkedInSight(_ state: AppState) -> String? {
    guard let list = state.tabs.frontList else { return nil }
    return list.markCount > 0 && list.markedRecords.isEmpty
      ? state.phrase("the filter hides what is marked", .stepBack, "shows all") : nil
  }
}
