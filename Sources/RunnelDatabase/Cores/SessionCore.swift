import RunnelStorage
package import RunnelTree

/// The operations of a session that differ between a tree of its own and a replica.
///
/// `DatabaseSession` is written once, against these requirements. There is one conformance for each
/// kind of tree, `LocalCore` and `ReplicaCore`, which holds the state of that kind only: a session
/// cannot have pending writes on a tree of its own, nor two engines that tell its listeners.
///
/// Features that a tree of its own does not have (a connection, pending writes) are no requirements
/// here: `DatabaseSession+Origin` calls the `ReplicaCore` for them.
///
/// Isolation: as the session's.
protocol SessionCore: AnyObject {
  /// The open file.
  var context: SessionContext { get }

  /// The state of the connection to the origin, as it stands at `/.info`.
  var connectionInfo: ConnectionInfo { get }

  /// True if anyone listens.
  var hasListeners: Bool { get }

  /// True if there are deliveries that could not be returned when they were found.
  var hasUndelivered: Bool { get }

  /// True if a removal can certainly be undone; on a replica the origin may refuse that.
  var canUndoRemovals: Bool { get }

  /// The tree that is shown, with the knowledge about it.
  func shown(_ transaction: StoreTransaction) -> any TreeReader

  /// Carries out a write that is made from the current tree.
  ///
  /// - Parameters:
  ///   - name: the write's name; a write is carried out once under each name.
  ///   - cause: why it is made, for the history.
  ///   - conditions: what a replica has its origin check; `make` has checked them here.
  ///   - make: makes the write, within the transaction that carries it out.
  /// - Returns: false if a write of this name was carried out before, or is pending; and the
  ///   deliveries for listeners, in order.
  /// - Throws: `DatabaseError`, and the errors of `make`; then nothing was written.
  func write(
    name: WriteID?, cause: WriteCause, if conditions: ConditionSet, _ make: WriteMaker
  ) throws -> (isApplied: Bool, deliveries: [Delivery])

  /// Changes the tree other than by a write; `body` returns the places that it changed.
  ///
  /// - Throws: `DatabaseError` (`refused` on a replica, whose origin takes writes only), and the
  ///   errors of `body`; then nothing was changed.
  func perform(
    _ change: DirectChange, _ body: (StoreTransaction, _ now: Int64) throws -> [Path]
  ) throws -> [Delivery]

  /// Registers a listener; returns its initial events, after the deliveries for other listeners.
  func listen(_ listener: ListenerID, _ request: ListenRequest) throws -> [Delivery]

  /// Removes a listener; one that is not registered is ignored.
  func unlisten(_ listener: ListenerID)

  /// Extends the window of a paged listener by up to `count` rows.
  func extend(_ listener: ListenerID, by count: Int) throws -> [Delivery]

  /// Reads the writes of other processes; returns the deliveries for listeners.
  func catchUp() throws -> [Delivery]

  /// Reads the result of a query, or asks the origin for it.
  ///
  /// `beforeAsking` is called before the origin is asked; if it throws, nothing is asked.
  func get(_ query: Query, beforeAsking: () throws -> Void) throws -> Decision<Node>

  /// Registers or cancels disconnect writes: in the file, or at the origin.
  ///
  /// - Returns: the deliveries for listeners, or the id under which the origin's answer is
  ///   completed.
  /// - Throws: `DatabaseError` if such a write would be refused; then nothing was registered.
  func ask(_ request: DisconnectRequest) throws -> Decision<[Delivery]>

  /// True if other running sessions have disconnect writes: only a check of their marks shows that
  /// they have ended.
  var awaitsOthers: Bool { get }

  /// Runs a transaction, or starts one whose end the origin decides.
  func run(_ request: TransactionRequest) throws -> Decision<TransactionOutcome>

  /// Takes back the effects of other sessions that have ended.
  func tidyUpAfterOthers() throws

  /// Releases everything that this session holds in the file, before the file is closed.
  func leave() throws
}

/// A function that makes a write from the current tree, within the transaction of the write.
package typealias WriteMaker = (any TreeReader, _ now: Int64) throws -> Write

/// A decision that a tree of its own makes at once, and a replica leaves to its origin.
enum Decision<Value> {
  /// The decision is made.
  case made(Value)
  /// The origin decides; its answer is completed under the id.
  case awaited(id: Int64, deliveries: [Delivery])
}

/// A change of the tree other than by a write, which only a tree of its own can carry out.
enum DirectChange {
  /// A document replaces a node, or the nodes that an import replaced are restored.
  case importing
  /// A function computes the new node of a place, and its caller waits for the result.
  case transaction

  /// The error with which a replica refuses the change.
  func refusal(_ file: String) -> DatabaseError {
    switch self {
    case .importing:
      DatabaseError(
        .refused,
        "\(file) is a replica: import where its origin is, or write the values here."
      ).with(.write)
    case .transaction:
      DatabaseError(
        .refused,
        "\(file) is a replica: what is done there is done when its origin has answered, "
          + "so that this cannot return it.")
    }
  }
}

extension SessionCore {
  /// Carries out a write without conditions.
  func write(
    name: WriteID?, cause: WriteCause = WriteCause(), _ make: WriteMaker
  ) throws -> (isApplied: Bool, deliveries: [Delivery]) {
    try write(name: name, cause: cause, if: ConditionSet(), make)
  }

  /// Carries out a write that has no name and undoes nothing.
  func write(_ make: WriteMaker) throws -> [Delivery] {
    try write(name: nil, make).deliveries
  }
}

/// Opens the core for the kind of tree that a file holds.
func openCore(
  _ context: SessionContext, _ transaction: StoreTransaction
) throws -> any SessionCore {
  if try transaction.hasReplica() { return try ReplicaCore(context, transaction) }
  return LocalCore(context)
}
