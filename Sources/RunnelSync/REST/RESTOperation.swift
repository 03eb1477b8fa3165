package import RunnelBase
package import RunnelTree

/// An operation that a request asks of the served tree.
///
/// The tree checks each by the rules for the caller.
package enum RESTOperation: Hashable, Sendable {
  /// Tell what a query shows. The answer is `content`, followed by pieces of the export that the
  /// exchange makes from the same state. With `hashes` the hash of what is shown comes first.
  case read(Query, form: TreeExport.Form, isPretty: Bool, hashes: Bool)
  /// Tell the priority of the node at a place. The answer is `priority`.
  case readPriority(Path)
  /// Do a write. The answer is `written`, or `stale` or `staleUpdate` if its condition does not hold. With
  /// `hashes` the answer includes the hash of the place afterwards.
  case write(Write, condition: String?, name: WriteID?, hashes: Bool)
  /// Put a value below a place under a new key that comes after all others. The answer is `pushed`.
  case push(Path, JSONValue, name: WriteID?, hashes: Bool)
  /// Put the spooled value at a place, as one write that no rule binds. The answer is `written`
  /// without parts.
  case putSpooled(Path, condition: String?, hashes: Bool)
  /// Tell what a query shows, and every later change. The answer is `streaming`, or `streamingText` in
  /// this form.
  case stream(Query, form: TreeExport.Form)
  /// Tell the text of the rules. The answer is `rules`.
  case readRules
  /// Replace the rules, or only check the text. The answer is `rulesTaken` or `rulesRefused`.
  case writeRules([UInt8], isDryRun: Bool)
}

/// The result of an operation.
package enum RESTAnswer: Hashable, Sendable {
  /// The operation was refused; nothing of it was done.
  case refused(TreeError)
  /// The condition does not hold; the current node is given. A caller who may not read it is
  /// refused instead.
  case stale(Node)
  /// The condition of an update does not hold; the hashes of the places that it names are given, in its order.
  case staleUpdate([String])
  /// The read is allowed. The hash is given if requested, and the size in bytes if known. Pieces
  /// follow if requested.
  case content(hash: String?, byteCount: Int? = nil)
  /// The priority; nil for none.
  case priority(Leaf?)
  /// The write was done. The assignments have their server values resolved; `hash` is that of the
  /// place afterwards. A part that reveals the previous value, as an increment does, is left out
  /// for a caller who may not read it.
  case written([Assignment], hash: String?)
  /// The value was put under this key.
  case pushed(Key, hash: String?)
  /// The node that the query shows; changes follow.
  case streaming(Node)
  /// What the query shows, encoded in the form that was asked for; changes follow.
  case streamingText([UInt8])
  /// The text of the rules, as it is kept.
  case rules([UInt8])
  /// The rules were replaced, or the text is valid.
  case rulesTaken
  /// The rules are invalid, for this reason; the old ones stay.
  case rulesRefused(String)
}
