// Two workspaces on one database write one file of the session: neither may lose what the other one
// keeps in it.

extension SessionState {
  /// Merges the session with what another workspace has written meanwhile.
  ///
  /// What changed here since `base` comes before what changed there. Bookmarks are merged letter by
  /// letter, views one by one, and drafts of both are kept.
  ///
  /// O(bookmarks + views + drafts²).
  ///
  /// - Parameters:
  ///   - theirs: the session in the file.
  ///   - base: the session that this workspace read or wrote last.
  /// - Returns: The session to be written.
  package func merged(with theirs: SessionState, since base: SessionState) -> SessionState {
    var merged = self
    merged.bookmarks = Self.merged(bookmarks, theirs.bookmarks, since: base.bookmarks)
    merged.views = Self.merged(views, theirs.views, since: base.views)
    let others = theirs.drafts.filter { !base.drafts.contains($0) && !drafts.contains($0) }
    merged.drafts = others + drafts
    return merged
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
