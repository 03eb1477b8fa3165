/// What a store notes of the moves of a namespace, by which one of two copies is known to be void.
///
/// ```
///   the other store is lost, and the namespace ...   is known by
///   was moved there, and is opened again here        `undone` here, `came` there
///   comes from there, and is opened here             `came` here, `moving` there; or `opened` here
/// ```
///
/// Only a command with `--force`, or a backup, makes two of one, and the copy that it opened is the one to be
/// served.
package struct StoreClaim: Hashable, Sendable {
  /// The numbers of the moves that brought it to this store, or to one where it was before.
  package var came: Set<String> = []
  /// The numbers of the moves that were given up.
  package var undone: Set<String> = []
  /// The number of the move by which it is on its way from here; nil if it is not.
  package var leaving: String?
  /// The number of the move to this store after which it was opened by force; nil if it was not.
  package var opened: String?
  /// The name of the store from which it came last.
  package var origin: String?

  package init() {}

  /// Takes what is noted under a name in `meta`.
  mutating func note(_ name: String, _ value: String, isFrozen: Bool) {
    switch name {
    case StoreMove.moveName: leaving = isFrozen ? value : nil
    case StoreMove.openedName: opened = value
    case StoreMove.originName: origin = value
    case let name where name.hasPrefix(StoreMove.camePrefix):
      came.insert(String(name.dropFirst(StoreMove.camePrefix.count)))
    case let name where name.hasPrefix(StoreMove.undonePrefix):
      undone.insert(String(name.dropFirst(StoreMove.undonePrefix.count)))
    default: break
    }
  }

  /// True if this copy, in the store `own`, is to be served and not the other one, in the store `store`.
  package func prevails(over other: StoreClaim, in store: String, from own: String) -> Bool {
    // Backups can make copies that say this of each other.
    voids(other, in: store) && !other.voids(self, in: own)
  }

  /// True if this copy was opened by force while the other one, in the store `store`, was lost.
  ///
  /// A copy that only came from there prevails, too: both are seen one after the other, so the other one may
  /// look as if it were on its way here when the move has ended.
  package func isForced(over other: StoreClaim, in store: String) -> Bool {
    if !undone.isDisjoint(with: other.came) { return true }
    guard let opened, origin == store else { return false }
    // What has come from here since knows of it.
    return !other.undone.contains(opened) && !other.came.contains(opened)
  }

  private func voids(_ other: StoreClaim, in store: String) -> Bool {
    if isForced(over: other, in: store) { return true }
    return other.leaving.map { came.contains($0) } ?? false
  }
}
