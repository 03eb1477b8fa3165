import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The reasons why commands of a collection are disabled.

extension AppState {
  // MARK: Rows

  /// The reason why there is nothing under the cursor of the list; nil if there is something.
  var reasonNoRows: String? {
    let screen = lists[active]
    if screen.list.cursor != nil { return nil }
    switch screen.phase {
    case .idle, .loading: return "the first rows are being loaded"
    case .failed: return phrase("the rows could not be read", .rowOpen, "reads them again")
    case .loaded: return "there are no rows here"
    }
  }

  func reasonRowNotOpened(isGoingIn: Bool) -> String? {
    let screen = lists[active]
    // A list that could not be read is asked for again by opening it.
    if case .failed = screen.phase { return nil }
    if let reason = reasonNoRows { return reason }
    switch screen.list.cursor {
    case .row(ListScreen.pagingRow):
      if isGoingIn, screen.paging != .exhausted {
        return phrase("these rows are not loaded", .rowOpen, "fetches them")
      }
      return reasonNoMoreRows
    case .row(ListScreen.newerRow):
      if isGoingIn { return phrase("these rows are not loaded", .rowOpen, "fetches them") }
      return screen.newer == .fetching ? reasonBeingFetched : nil
    case .row: return screen.cursorRecord == nil ? "this row is not saved yet" : nil
    case .header(let id) where isGoingIn && !screen.list.folded.contains(id):
      return screen.content.firstRow(ofSection: id) == nil ? "there are no rows in it" : nil
    case .header, nil: return nil
    }
  }

  var reasonNoMoreRows: String? {
    let screen = lists[active]
    if screen.phase == .loaded, screen.list.cursor == .row(ListScreen.newerRow) {
      return screen.newer == .fetching ? reasonBeingFetched : nil
    }
    switch (screen.phase, screen.paging) {
    case (.idle, _), (.loading, _): return "the first rows are being loaded"
    case (.failed, _): return nil
    case (.loaded, .fetching): return reasonBeingFetched
    case (.loaded, .exhausted): return "everything is loaded: there are no more rows"
    case (.loaded, .unknown), (.loaded, .more), (.loaded, .failed): return nil
    }
  }

  private var reasonBeingFetched: String {
    phrase("they are being fetched", .jobCancel, "stops")
  }

  var reasonNotFiltered: String? {
    if case .failed = lists[active].phase { "the rows could not be read" } else { nil }
  }

  var reasonAtNewest: String? {
    if lists[active].isAway { return nil }
    var other = lists[active]
    other.goToNewest(height: height)
    return other.list == lists[active].list ? "this is the newest row" : nil
  }

  // MARK: Folding

  /// The section of the list that the cursor is in, and whether it is folded; nil if there is none.
  private var sectionAtHand: (id: String, isFolded: Bool)? {
    let screen = lists[active]
    return screen.list.cursorSection(in: screen.content)
      .map { ($0, screen.list.folded.contains($0)) }
  }

  var reasonNotFolded: String? {
    sectionAtHand?.isFolded == false ? "this section is not folded" : nil
  }

  var reasonFolded: String? { sectionAtHand?.isFolded == true ? "this section is folded" : nil }

  var reasonNotOut: String? {
    guard let section = sectionAtHand, lists[active].list.cursor == .header(section.id) else {
      return nil
    }
    return reasonFolded
  }

  var reasonNoneFolded: String? {
    guard sectionAtHand != nil else { return nil }
    let screen = lists[active]
    return screen.content.sections.contains { screen.list.folded.contains($0.id) }
      ? nil : "no section is folded"
  }

  var reasonAllFolded: String? {
    guard sectionAtHand != nil else { return nil }
    let screen = lists[active]
    return screen.content.sections.allSatisfy { screen.list.folded.contains($0.id) }
      ? "all sections are folded" : nil
  }

  // MARK: Records

  var reasonNoRecordAdded: String? {
    if let reason = reasonReadOnly { return reason }
    do throws(Refusal) {
      _ = try resources.adding(.object([]), to: lists[active].definition.source.path)
      return nil
    } catch {
      return error.message
    }
  }

  var reasonNoRecordEdited: String? {
    lists[active].cursorRecord == nil ? "move to a record to edit it" : reasonReadOnly
  }

  var reasonNoRecordDeleted: String? {
    if let reason = reasonNoneMarkedInSight { return reason }
    if lists[active].markCount == 0, lists[active].cursorRecord == nil {
      return "move to a record to delete it"
    }
    return reasonReadOnly
  }

  /// The reason why nothing is done with the marked records; nil if there are none, or something is.
  var reasonNoneMarkedInSight: String? {
    lists[active].markCount > 0 && lists[active].markedRecords.isEmpty
      ? phrase("the filter hides what is marked", .stepBack, "shows all") : nil
  }
}
