public import RunnelBase
public import RunnelTree

/// The result of a transaction's function.
public struct TransactionResult: Sendable {
  enum Outcome {
    case success(JSONValue)
    case failure(DataCodingError)
    case abort
  }

  let outcome: Outcome

  /// The result that writes nothing.
  public static let abort = TransactionResult(outcome: .abort)

  /// Writes JSON; the priority stays unless the JSON has `.priority`, which may be null.
  ///
  /// Server values are resolved when the write is carried out.
  public static func success(_ json: JSONValue) -> TransactionResult {
    TransactionResult(outcome: .success(json))
  }

  /// Writes a node; the priority stays unless the node has one.
  public static func success(_ node: Node) -> TransactionResult { success(node.exportJSON) }

  /// Writes a Swift value; the priority stays.
  ///
  /// If it cannot be written, the transaction throws the `DataCodingError`.
  public static func success(
    _ value: some Encodable, using encoder: NodeEncoder = NodeEncoder()
  ) -> TransactionResult {
    do throws(DataCodingError) {
      return success(try encoder.json(value))
    } catch {
      return TransactionResult(outcome: .failure(error))
    }
  }
}

/// The outcome of a transaction.
package struct TransactionOutcome: Hashable, Sendable {
  /// False if it was aborted.
  package var isCommitted: Bool
  /// The node at its place afterwards.
  package var node: Node
  /// The deliveries for listeners of the session, in order.
  package var deliveries: [Delivery]
}
