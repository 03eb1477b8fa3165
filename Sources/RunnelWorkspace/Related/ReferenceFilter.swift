import RunnelTree

/// The filter by which a reference shows its records in a list, instead of the user's own.
struct ReferenceFilter: Hashable, Sendable {
  /// The filter of the reference.
  var text: String
  /// The user's own filter, which comes back when they leave the list; nil for all rows.
  var own: Filter?
}

extension ListScreen {
  /// The filter by which a reference shows its records here; nil if the list shows none, because
  /// none was opened or the user filtered otherwise since.
  var shownReference: String? {
    guard let reference = filtering.reference, filtering.filter?.text == reference.text else {
      return nil
    }
    return reference.text
  }

  /// The user's own filter, without that of a reference.
  var ownFilter: Filter? { shownReference == nil ? filtering.filter : filtering.reference?.own }
}
