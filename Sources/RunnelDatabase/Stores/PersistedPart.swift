public import RunnelStore
public import RunnelTree

/// A part of a store's state that is persisted in the tree, so that the next run of the program
/// starts with it.
///
/// ```swift
/// let settings = PersistedPart(\AppState.settings, at: try database.reference(withPath: "settings"))
/// let state = try await settings.restored(in: AppState())
/// let store = DatabaseStore(database, state: state, reducer: reduce)
/// _ = await store.persist(settings)
/// ```
public struct PersistedPart<State: Sendable, Part: Codable & Equatable & Sendable>: Sendable {
  /// The part of the state.
  public let part: any WritableKeyPath<State, Part> & Sendable
  /// The place in the tree.
  public let place: Reference

  /// Makes the connection between a part of a state and a place.
  public init(_ part: any WritableKeyPath<State, Part> & Sendable, at place: Reference) {
    (self.part, self.place) = (part, place)
  }

  /// Returns a state with the persisted value of the part, or unchanged if nothing was persisted.
  ///
  /// - Parameter state: the initial state of the program's first run.
  /// - Returns: the initial state of the store.
  /// - Throws: `DataCodingError` with the place that does not fit the type, for example after the
  ///   type was changed; `DatabaseError` if it cannot be read.
  nonisolated(nonsending) public func restored(in state: State) async throws -> State {
    let kept = try await place.get()
    if !kept.exists { return state }
    var state = state
    state[keyPath: part] = try kept.decode(Part.self)
    return state
  }
}

/// The action that reports that a part of the state could not be persisted; the next change of the
/// part is a new attempt.
public struct PersistFailed: FailureAction, Hashable {
  /// The place in the tree.
  public var path: Path
  /// The error.
  public var error: TreeError
}
