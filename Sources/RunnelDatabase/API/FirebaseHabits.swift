public import RunnelTree

// Names that users of Firebase's SDK type out of habit. None of them can be called: the compiler
// answers with the way to say it here. The table is in Resources/docs/from-firebase.md.

extension Database {
  /// Unavailable: a database is a file that is opened.
  @available(*, unavailable, message: "A database is a file: `try await Database.open(file:)`.")
  public static func database() -> Database { fatalError("It cannot be called.") }

  /// Unavailable: a file is always kept.
  @available(*, unavailable, message: "The file is the database: all data is always kept in it.")
  public nonisolated var isPersistenceEnabled: Bool {
    get { fatalError("It cannot be called.") }
    set { fatalError("It cannot be called.") }
  }

  /// Unavailable: handlers run on a thread of the database.
  @available(
    *, unavailable,
    message:
      "Handlers run on a thread of the database. Loop with `for try await` where the events are needed, as in a task on the main actor."
  )
  public nonisolated var callbackQueue: Any? {
    get { fatalError("It cannot be called.") }
    set { fatalError("It cannot be called.") }
  }

  /// Unavailable: a place has a path.
  @available(
    *, unavailable,
    message: "A place has a path, and no URL: `try database.reference(withPath: \"users/ana\")`."
  )
  public nonisolated func reference(fromURL url: String) -> Reference {
    fatalError("It cannot be called.")
  }

  /// Unavailable: see `purgePendingWrites()`.
  @available(*, unavailable, renamed: "purgePendingWrites()")
  public nonisolated func purgeOutstandingWrites() { fatalError("It cannot be called.") }
}

extension Queryable {
  /// Unavailable: see `get(from:)`.
  @available(*, unavailable, renamed: "get()")
  public func getData() async throws -> DataSnapshot { fatalError("It cannot be called.") }

  /// Unavailable: see `get(from:)`.
  @available(*, unavailable, message: "Use `let snapshot = try await reference.get()`.")
  public func getData(
    completion block: @escaping ((any Error)?, DataSnapshot?) -> Void
  ) { fatalError("It cannot be called.") }

  /// Unavailable: see `observe(_:_:onFailure:)`.
  @available(
    *, unavailable,
    message: "Use `observe(.value) { event in event.snapshot }`, or `for try await` over `values`."
  )
  public func observe(
    _ kinds: EventKinds, with block: @escaping (DataSnapshot) -> Void
  ) -> ObservationToken { fatalError("It cannot be called.") }

  /// Unavailable: see `observe(_:_:onFailure:)`.
  @available(
    *, unavailable,
    message: "Use `observe(.value) { event in event.snapshot … } onFailure: { error in … }`."
  )
  public func observe(
    _ kinds: EventKinds, with block: @escaping (DataSnapshot) -> Void,
    withCancel cancelBlock: @escaping (any Error) -> Void
  ) -> ObservationToken { fatalError("It cannot be called.") }

  /// Unavailable: see `get(from:)`.
  @available(
    *, unavailable, message: "Use `try await get()`, or `try await observeSingleEvent(of:)`."
  )
  public func observeSingleEvent(
    of kinds: EventKinds, with block: @escaping (DataSnapshot) -> Void
  ) { fatalError("It cannot be called.") }

  /// Unavailable: errors are thrown.
  @available(
    *, unavailable,
    message:
      "Errors are thrown: `let snapshot = try await observeSingleEvent(of: .value).snapshot`."
  )
  public func observeSingleEvent(
    of kinds: EventKinds, with block: @escaping (DataSnapshot) -> Void,
    withCancel cancelBlock: @escaping (any Error) -> Void
  ) { fatalError("It cannot be called.") }

  /// Unavailable: an event has the key before its child.
  @available(
    *, unavailable,
    message:
      "An event has it: `observe(.added) { event in … event.snapshot, event.previousKey … }`."
  )
  public func observe(
    _ kinds: EventKinds, andPreviousSiblingKeyWith block: @escaping (DataSnapshot, String?) -> Void
  ) -> ObservationToken { fatalError("It cannot be called.") }

  /// Unavailable: an event has the key before its child.
  @available(
    *, unavailable,
    message:
      "An event has it: `observe(.added) { event in … event.previousKey … } onFailure: { error in … }`."
  )
  public func observe(
    _ kinds: EventKinds, andPreviousSiblingKeyWith block: @escaping (DataSnapshot, String?) -> Void,
    withCancel cancelBlock: @escaping (any Error) -> Void
  ) -> ObservationToken { fatalError("It cannot be called.") }

  /// Unavailable: an event has the key before its child.
  @available(
    *, unavailable,
    message: "An event has it: `try await observeSingleEvent(of: .added).previousKey`."
  )
  public func observeSingleEvent(
    of kinds: EventKinds, andPreviousSiblingKeyWith block: @escaping (DataSnapshot, String?) -> Void
  ) { fatalError("It cannot be called.") }

  /// Unavailable: an event has the key before its child.
  @available(
    *, unavailable,
    message:
      "An event has it, and errors are thrown: `try await observeSingleEvent(of: .added).previousKey`."
  )
  public func observeSingleEvent(
    of kinds: EventKinds,
    andPreviousSiblingKeyWith block: @escaping (DataSnapshot, String?) -> Void,
    withCancel cancelBlock: @escaping (any Error) -> Void
  ) { fatalError("It cannot be called.") }

  /// Unavailable: a token ends its own observation and no other.
  @available(
    *, unavailable, message: "Keep the token that `observe` returns, and call its `cancel()`."
  )
  public func removeAllObservers() { fatalError("It cannot be called.") }

  /// Unavailable: a token ends its own observation.
  @available(*, unavailable, message: "Call `cancel()` of the token that `observe` returned.")
  public func removeObserver(withHandle handle: ObservationToken) {
    fatalError("It cannot be called.")
  }
}

extension Reference {
  /// Unavailable: see `childByAutoID()`.
  @available(*, unavailable, renamed: "childByAutoID()")
  public func childByAutoId() -> Reference { fatalError("It cannot be called.") }

  /// Unavailable: see `setValue(_:priority:id:using:)`.
  @available(*, unavailable, renamed: "setValue(_:)")
  public func setValue(from value: some Encodable) async throws {
    fatalError("It cannot be called.")
  }

  /// Unavailable: see `runTransaction(appliesLocally:_:)`.
  @available(
    *, unavailable,
    message: "Use `runTransaction { current in .success(…) }`: it is given a snapshot."
  )
  public func runTransactionBlock(
    _ block: @escaping (MutableData) -> TransactionResult
  ) { fatalError("It cannot be called.") }

  /// Unavailable: errors are thrown, and the result is returned.
  @available(
    *, unavailable,
    message:
      "Use `let end = try await runTransaction { current in .success(…) }`: it throws, and returns."
  )
  public func runTransactionBlock(
    _ block: @escaping (MutableData) -> TransactionResult,
    andCompletionBlock completion: @escaping ((any Error)?, Bool, DataSnapshot?) -> Void
  ) { fatalError("It cannot be called.") }

  /// Unavailable: a place has a path.
  @available(*, unavailable, message: "A place has a `path`, and no URL.")
  public var url: String { fatalError("It cannot be called.") }

  /// Unavailable: values are JSON, or of types that are `Encodable`.
  @available(
    *, unavailable,
    message:
      "Values are JSON or Encodable: write `JSONValue(name)` for a variable, also a dictionary or an array of JSON values, or a type of your own."
  )
  @_disfavoredOverload
  public func setValue(_ value: Any?) async throws { fatalError("It cannot be called.") }

  /// Unavailable: errors are thrown.
  @available(
    *, unavailable, message: "Errors are thrown: `try await setValue(_:)` returns when it is done."
  )
  public func setValue(
    _ value: Any?, withCompletionBlock block: @escaping ((any Error)?, Reference) -> Void
  ) { fatalError("It cannot be called.") }

  /// Unavailable: values are JSON, or of types that are `Encodable`.
  @available(
    *, unavailable,
    message:
      "Values are JSON or Encodable: write `JSONValue(name)` for a variable, also a dictionary or an array of JSON values, or a type of your own."
  )
  @_disfavoredOverload
  public func updateChildValues(_ values: [String: Any]) async throws {
    fatalError("It cannot be called.")
  }

  /// Unavailable: errors are thrown.
  @available(
    *, unavailable,
    message: "Errors are thrown: `try await updateChildValues(_:)` returns when it is done."
  )
  public func updateChildValues(
    _ values: [String: Any], withCompletionBlock block: @escaping ((any Error)?, Reference) -> Void
  ) { fatalError("It cannot be called.") }

  /// Unavailable: errors are thrown.
  @available(
    *, unavailable, message: "Errors are thrown: `try await removeValue()` returns when it is done."
  )
  public func removeValue(
    completionBlock block: @escaping ((any Error)?, Reference) -> Void
  ) { fatalError("It cannot be called.") }

  /// Unavailable: errors are thrown.
  @available(
    *, unavailable,
    message:
      "Errors are thrown: `try await cancelDisconnectOperations()` returns when it is asked for."
  )
  public func cancelDisconnectOperations(
    withCompletionBlock block: @escaping ((any Error)?, Reference) -> Void
  ) { fatalError("It cannot be called.") }

  /// Unavailable: values are JSON, or of types that are `Encodable`.
  @available(
    *, unavailable,
    message:
      "Values are JSON or Encodable: write `JSONValue(name)` for a variable, also a dictionary or an array of JSON values, or a type of your own."
  )
  @_disfavoredOverload
  public func push(_ value: Any?) async throws -> Reference { fatalError("It cannot be called.") }
}

extension ServerValue {
  /// Unavailable: the time is a property.
  @available(*, unavailable, message: "Write `ServerValue.timestamp`, without parentheses.")
  public func callAsFunction() -> ServerValue { fatalError("It cannot be called.") }
}

extension TransactionResult {
  /// Unavailable: see `success(_:)`.
  @available(*, unavailable, message: "Return `.success(…)` with the new value.")
  public static func success(withValue data: MutableData) -> TransactionResult {
    fatalError("It cannot be called.")
  }
}

extension DataSnapshot {
  /// Unavailable: see `decode(_:using:)`.
  @available(*, unavailable, renamed: "decode(_:)")
  public func data<Value: Decodable>(as type: Value.Type) throws -> Value {
    fatalError("It cannot be called.")
  }

  /// Unavailable: see `exportValue`.
  @available(*, unavailable, renamed: "exportValue")
  public func valueInExportFormat() -> Any? { fatalError("It cannot be called.") }

  /// Unavailable: see `child(_:)`.
  @available(*, unavailable, renamed: "child(_:)")
  public func childSnapshot(forPath path: String) -> DataSnapshot {
    fatalError("It cannot be called.")
  }
}

extension [DataSnapshot] {
  /// Unavailable: the children are an array already.
  @available(*, unavailable, message: "`children` is an array already: leave `allObjects` out.")
  public var allObjects: [Any] { fatalError("It cannot be called.") }
}

extension DataEvent {
  /// Unavailable: an event has a snapshot.
  @available(
    *, unavailable,
    message:
      "Handlers are given an event: `observe(.value) { event in event.snapshot }`, whose `value` is JSON."
  )
  public var value: Any? { fatalError("It cannot be called.") }
}

extension EventKinds {
  /// Unavailable: see `added`.
  @available(*, unavailable, renamed: "added")
  public static var childAdded: EventKinds { fatalError("It cannot be called.") }
  /// Unavailable: see `changed`.
  @available(*, unavailable, renamed: "changed")
  public static var childChanged: EventKinds { fatalError("It cannot be called.") }
  /// Unavailable: see `moved`.
  @available(*, unavailable, renamed: "moved")
  public static var childMoved: EventKinds { fatalError("It cannot be called.") }
  /// Unavailable: see `removed`.
  @available(*, unavailable, renamed: "removed")
  public static var childRemoved: EventKinds { fatalError("It cannot be called.") }
}

/// Unavailable: see `Reference`.
@available(*, unavailable, renamed: "Reference")
public typealias DatabaseReference = Reference
/// Unavailable: see `ObservationToken`.
@available(*, unavailable, renamed: "ObservationToken")
public typealias DatabaseHandle = ObservationToken
/// Unavailable: see `EventKinds`.
@available(*, unavailable, renamed: "EventKinds")
public typealias DataEventType = EventKinds
/// Unavailable: a transaction is given a snapshot and returns the new value.
@available(
  *, unavailable, message: "A transaction is given a `DataSnapshot`, and returns the new value."
)
public final class MutableData {
  private init() {}

  /// Unavailable: see `TransactionResult.success(_:)`.
  public var value: Any? {
    get { fatalError("It cannot be made.") }
    set { fatalError("It cannot be made.") }
  }
}
