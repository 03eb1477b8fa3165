import RunnelStreams
import RunnelTerminal
import RunnelTree

/// The kind of record at hand, which decides about additional keys.
package enum AtHand: Equatable {
  /// No record, or one in the tree that no resource describes.
  case other
  /// An entry of the action log.
  case entry
  /// A record, and the resource of the records that the user toggles there, or nil.
  case record(toggles: String?)

  /// The resource of the records that the user toggles at the record at hand, or nil if there is
  /// none.
  var toggled: String? { if case .record(let toggled) = self { toggled } else { nil } }

  /// The contexts with keys for the record at hand, innermost first.
  var contexts: [KeymapContext] {
    switch self {
    case .other: []
    case .entry: [.activity]
    case .record(nil): [.resource]
    case .record: [.toggle, .resource]
    }
  }
}

extension AppState {
  /// The place of a row that is being saved; its keys are those of the record that it becomes.
  private var sentRowAtHand: Path? {
    layers.isEmpty ? tabs.frontList?.sentRecord?.path : nil
  }

  /// The record at hand.
  var atHand: AtHand {
    guard let path = ResourceCommands.recordAtHand(self) ?? sentRowAtHand else { return .other }
    if path.parent == database.resources.registry.log, Activity.entryAtHand(self) != nil {
      return .entry
    }
    let found = database.resources.resources(at: path)
    // A list shows records, whether a resource describes them or not.
    if found.described == nil { return .record(toggles: nil) }
    // A toggle is stored under the user's name as its key: a name that is no valid key toggles
    // nothing.
    return .record(toggles: (try? Key(database.me)) == nil ? nil : found.toggled)
  }
}
