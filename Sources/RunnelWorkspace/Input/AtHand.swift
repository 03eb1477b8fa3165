import RunnelStreams
import RunnelTerminal
import RunnelTree

/// What the keys are about, as far as it has keys of its own.
package enum AtHand: Equatable {
  /// No record that a resource describes.
  case other
  /// An entry of the action log.
  case entry
  /// A record that a resource describes, and the resource of what the user toggles there.
  case record(toggles: String?)

  /// The resource of what the user toggles there; nil if nothing is.
  var toggled: String? { if case .record(let toggled) = self { toggled } else { nil } }

  /// The contexts whose keys are for it, innermost first.
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
  /// The place of a row that is being saved: its keys are those of the record that it will be.
  private var sentRowAtHand: Path? {
    layers.isEmpty && !tabs.isTree ? tabs.front.sentRecord?.path : nil
  }

  /// What the keys are about.
  var atHand: AtHand {
    guard let path = ResourceCommands.recordAtHand(self) ?? sentRowAtHand else { return .other }
    if path.parent == database.resources.registry.log, Activity.entryAtHand(self) != nil {
      return .entry
    }
    let found = database.resources.resources(at: path)
    if found.described == nil { return .other }
    // Who toggles is the key of what is toggled: a name that is no key toggles nothing.
    return .record(toggles: (try? Key(database.me)) == nil ? nil : found.toggled)
  }
}
