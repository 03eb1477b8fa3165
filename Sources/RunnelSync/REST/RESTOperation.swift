public import RunnelBase
public import RunnelTree

/// What a request wants of the tree that is served.
///
/// The tree checks each by the rules for the caller.
public enum RESTOperation: Hashable, Sendable {
  /// Tell what a query shows: answered by `content`, and then by pieces of the export that the exchange
  /// gives, from the same state. With `hashes` the hash of what is shown is told first.
  case read(Query, form: TreeExport.Form, isPretty: Bool, hashes: Bool)
  /// Do a write: answered by `written`, or by `stale` if there is a condition that does not hold. With
  /// `hashes` the hash of the place afterwards is told.
  case write(Write, condition: String?, name: WriteID?, hashes: Bool)
  /// Put a value below a place under a new key that comes after all others: answered by `pushed`.
  case push(Path, JSONValue, name: WriteID?, hashes: Bool)
  /// Put at a place what was spooled, as one write that no rule binds: answered by `written` without
  /// parts.
  case putSpooled(Path, condition: String?, hashes: Bool)
  /// Tell what a query shows and from then on every change: answered by `streaming`.
  case stream(Query)
  /// Tell the text of the rules: answered by `rules`.
  case readRules
  /// Take the text of other rules, or only check it: answered by `rulesTaken` or `rulesRefused`.
  case writeRules([UInt8], isDryRun: Bool)
}

/// What became of an operation.
public enum RESTAnswer: Hashable, Sendable {
  /// It was refused; nothing of it was done.
  case refused(TreeError)
  /// The condition does not hold: this stands there. Who may not read it is refused instead.
  case stale(Node)
  /// What is asked for may be read: its hash, if that was wanted, and its size in bytes, if that is known.
  /// Pieces follow, if they are wanted.
  case content(hash: String?, byteCount: Int? = nil)
  /// The write was done: what it set, server values resolved, and the hash of its place afterwards. A part
  /// that tells what stood there, as an increment does, is left out for one who may not read it.
  case written([Assignment], hash: String?)
  /// The value was put under this key.
  case pushed(Key, hash: String?)
  /// What the query shows; changes follow.
  case streaming(Node)
  /// The text of the rules, as it is kept.
  case rules([UInt8])
  /// The rules were taken, or are right.
  case rulesTaken
  /// The rules are wrong, for this reason; the old ones stay.
  case rulesRefused(String)
}
