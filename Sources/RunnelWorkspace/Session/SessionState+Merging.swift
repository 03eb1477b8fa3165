// Two workspaces on one database write one file of the session: neither may lose what the other one
// keeps in it.

extension SessionState {
  /// Merges the session with what another workspace has written meanwhile.
  ///
  /// What changed here since `base` comes before what changed there. Bookmarks are merged letter by
  /// letter, views and unfinished lines one by one. What was typed belongs to its writer: that of this
  /// workspace replaces its own, and that of the others stays.
  ///
  /// O(bookmarks + views + texts · taken).
  ///
  /// - Parameters:
  ///   - theirs: the session in the file.
  ///   - base: the session that this workspace read or wrote last.
  ///   - taken: the texts that this workspace has taken over.
  /// - Returns: The session to be written.
  package func merged(
    with theirs: SessionState, since base: SessionState, taken: [KeptTexts] = []
  ) -> SessionState {
    var merged = self
    merged.bookmarks = Self.merged(bookmarks, theirs.bookmarks, since: base.bookmarks)
    merged.views = Self.merged(bareViews, theirs.bareViews, since: base.bareViews)
    merged.unfinished = unfinished.merged(with: theirs.unfinished, since: base.unfinished)
    merged.put(texts)
    merged.others = Self.bounded(
      theirs.allTexts.filter { $0.writer != writer && !taken.contains($0) })
    return merged
  }

  /// Takes over the texts of workspaces that are gone.
  ///
  /// Those for which there is no room stay in the file for the next time.
  ///
  /// - Parameter isGone: whether the workspace with a number is gone; without a number it is asked for nil.
  /// - Returns: The session of the workspace that begins, and the texts that it took over.
  package func takingOver(
    _ isGone: (Int64?) -> Bool
  ) -> (session: SessionState, taken: [KeptTexts]) {
    var (own, taken) = (KeptTexts(writer: nil), [KeptTexts]())
    for texts in allTexts where isGone(texts.writer) {
      var more = own
      more.add(texts)
      // One who had too much is taken over alone.
      guard taken.isEmpty || more.fitsOneWorkspace else { continue }
      own = more
      taken.append(texts)
    }
    var session = self
    (session.writer, session.others, session.drafts) = (nil, [], [])
    for name in views.keys { session.views[name]?.lines = [] }
    session.put(own)
    return (session, taken)
  }

  /// The texts of the workspace that wrote the session.
  package var texts: KeptTexts {
    var texts = KeptTexts(writer: writer)
    texts.lines = views.compactMapValues { $0.lines.isEmpty ? nil : $0.lines }
    texts.drafts = drafts
    return texts
  }

  /// The texts of all workspaces, those of the one that wrote last at the end.
  package var allTexts: [KeptTexts] { (others + [texts]).filter { !$0.isEmpty } }

  /// Puts the texts of one workspace to views that have none.
  private mutating func put(_ texts: KeptTexts) {
    for (name, lines) in texts.lines { views[name, default: View()].lines = lines }
    drafts = texts.drafts
  }

  /// The views without what was typed; one with nothing else is none.
  private var bareViews: [String: View] {
    views.compactMapValues { view in
      var bare = view
      bare.lines = []
      return bare == View() ? nil : bare
    }
  }

  /// Drops the oldest texts that are beyond the limit.
  private static func bounded(_ all: [KeptTexts]) -> [KeptTexts] {
    var bytes = all.reduce(0) { $0 + $1.byteCount }
    var rest = all[...]
    while bytes > KeptTexts.bytesMax, let oldest = rest.popFirst() { bytes -= oldest.byteCount }
    return Array(rest)
  }

  /// Returns the values by name: own ones where they changed, otherwise those of the others.
  private static func merged<Value: Equatable>(
    _ own: [String: Value], _ theirs: [String: Value], since base: [String: Value]
  ) -> [String: Value] {
    var merged = own
    for name in Set(own.keys).union(theirs.keys) where own[name] == base[name] {
      merged[name] = theirs[name]
    }
    return merged
  }
}

extension SessionState.View {
  /// The texts typed into its line, the first one offered first.
  var lines: [TypedLine] {
    get {
      guard let draft else { return more }
      return [TypedLine(draft, time: draftTime, sentBefore: sentBefore)] + more
    }
    set {
      draft = newValue.first?.text
      draftTime = newValue.first?.time
      sentBefore = newValue.first?.sentBefore ?? SentBefore()
      more = Array(newValue.dropFirst())
    }
  }
}

extension UnfinishedLines {
  /// Returns the texts: own ones where they changed, otherwise those of the others.
  fileprivate func merged(
    with theirs: UnfinishedLines, since base: UnfinishedLines
  )
    -> UnfinishedLines
  {
    var merged = self
    if filter == base.filter { merged.filter = theirs.filter }
    if search == base.search { merged.search = theirs.search }
    if command == base.command { merged.command = theirs.command }
    return merged
  }
}
