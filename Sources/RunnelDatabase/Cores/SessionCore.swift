import RunnelStorage
import RunnelTree

/// What a session does differently on a tree of its own and on a replica.
///
/// `DatabaseSession` is written once, against these requirements. There is one conformance for each
/// kind of tree, `LocalCore` and `ReplicaCore`, which holds the state of that kind and no other: a
/// session cannot have pending writes on a tree of its own, nor two engines that tell its listeners.
///
/// What a tree of its own does not have at all (a connection, pending writes) is no requirement here:
/// it is asked of the `ReplicaCore` in `DatabaseSession+Origin`.
///
/// Isolation: as the session's.
protocol SessionCore: AnyObject {
  /// The open file.
  var context: SessionContext { get }

  /// What is known of the connection to the origin, as it stands at `/.info`.
  var connectionInfo: ConnectionInfo { get }

  /// True if anyone listens.
  var hasListeners: Bool { get }

  /// True if a listener was not told something yet that was found while nobody could be told.
  var hasUndelivered: Bool { get }

  /// True if a removal can surely be undone; on a replica the origin may refuse that.
  var canUndoRemovals: Bool { get }

  /// The tree that is shown, with what is known of it.
  func shown(_ transaction: StoreTransaction) -> any TreeReader

  /// Carries out a write that is made from the tree as it is at that moment.
  ///
  /// - Parameters:
  ///   - name: the write's name; a write is carried out once under each name.
  ///   - entry: the entry of the history that the write undoes.
  ///   - make: makes the write, within the transaction that carries it out.
  /// - Returns: false if a write of this name was carried out before, or is pending; and what listeners
  ///   are to be told, in order.
  /// - Throws: `DatabaseError`, and what `make` throws; then nothing was written.
  func write(
    name: WriteID?, undoes entry: HistoryEntry?, _ make: WriteMaker
  ) throws -> (isApplied: Bool, deliveries: [Delivery])

  /// Changes the tree other than by a write; `body` returns the places that it changed.
  ///
  /// - Throws: `DatabaseError` (`refused` on a replica, whose origin takes writes only), and what `body`
  ///   throws; then nothing was changed.
  func perform(
    _ change: DirectChange, _ body: (StoreTransaction, _ now: Int64) throws -> [Path]
  ) throws -> [Delivery]

  /// Registers a listener; returns its initial events, after those that others are to be told.
  func listen(_ listener: ListenerID, _ request: ListenRequest) throws -> [Delivery]

  /// Removes a listener; one that is not registered is ignored.
  func unlisten(_ listener: ListenerID)

  /// Extends the window of a paged listener by up to `count` rows.
  func extend(_ listener: ListenerID, by count: Int) throws -> [Delivery]

  /// Reads what other processes wrote; returns what listeners are to be told.
  func catchUp() throws -> [Delivery]

  /// Reads what a query shows, or asks the origin for it.
  ///
  /// `beforeAsking` is called before the origin is asked; if it throws, nothing is asked.
  func get(_ query: Query, beforeAsking: () throws -> Void) throws -> Decision<Node>

  /// Runs a transaction, or starts one whose end the origin decides.
  func run(_ request: TransactionRequest) throws -> Decision<TransactionOutcome>

  /// Takes back what other sessions left behind when they ended.
  func tidyUpAfterOthers() throws

  /// Ends what this session alone holds in the file, before the file is closed.
  func leave() throws
}

/// Makes a write from the tree as it is when the write is carried out.
typealias WriteMaker = (any TreeReader, _ now: Int64) throws -> Write

/// A decision that a tree of its own makes at once, and a replica leaves to its origin.
enum Decision<Value> {
  /// This was decided.
  case made(Value)
  /// The origin decides; its answer is completed under the id.
  case awaited(id: Int64, deliveries: [Delivery])
}

/// A change of the tree other than by a write, which only a tree of its own can carry out.
enum DirectChange {
  /// A document takes the place of what stands there, or what an import replaced is put back.
  case importing
  /// A function computes what is to stand at a place, and its caller waits for the result.
  case transaction

  /// Why a replica does not carry it out.
  func refusal(_ file: String) -> DatabaseError {
    switch self {
    case .importing:
      DatabaseError(
        .refused,
        "\(file) is a replica: import where its origin is, or write with `runnel set`.")
    case .transaction:
      DatabaseError(
        .refused,
        "\(file) is a replica: what is done there is done when its origin has answered, "
          + "so that this cannot return it.")
    }
  }
}

extension SessionCore {
  /// Carries out a write that has no name and undoes nothing.
  func write(_ make: WriteMaker) throws -> [Delivery] {
    try write(name: nil, undoes: nil, make).deliveries
  }
}

/// Opens the core for the kind of tree that a file holds.
func openCore(
  _ context: SessionContext, _ transaction: StoreTransaction
) throws -> any SessionCore {
  if try transaction.hasReplica() { return try ReplicaCore(context, transaction) }
  return LocalCore(context)
}
