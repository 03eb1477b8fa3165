/// The content of a views file: the views of a database.
///
/// `Resources/docs/views.md` describes the file. A mistake in it is reported with its line;
/// the workspace then uses the other views.
public struct ViewFile: Hashable, Sendable {
  /// The user's name, for new records; nil for the name that the system knows.
  public var me: String?
  /// The views in the order of their tabs.
  public var views: [ViewDefinition]

  /// Makes the content of a views file.
  public init(me: String? = nil, views: [ViewDefinition]) {
    self.me = me
    self.views = views
  }
}
