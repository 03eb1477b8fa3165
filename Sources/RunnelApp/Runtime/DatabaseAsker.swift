import RunnelDatabase
import RunnelWorkspace

/// The part of the workspace that asked the database for something, with its own id of the request.
///
/// A `DatabaseRequest` carries one number, and its answer carries it back. The number is made and read only
/// here, so that the ids of two parts cannot be taken for each other.
enum DatabaseAsker: Hashable {
  /// The state, or an export under an id of the state.
  case state(AppRequestID)
  /// The tree of a server, which reads what the replica knows.
  case tree(ListedRequestID)
  /// Nobody: the answer is dropped.
  case nobody

  /// Returns the asker for the number of an answer.
  init(number: Int) {
    switch number.signum() {
    case 1: self = .state(AppRequestID(number))
    case -1: self = .tree(ListedRequestID(-number))
    default: self = .nobody
    }
  }

  /// The number of the request.
  var number: Int {
    switch self {
    case .state(let id):
      precondition(id.number > 0, "The ids of the state begin with 1.")
      return id.number
    case .tree(let id): return -id.number
    case .nobody: return 0
    }
  }
}

/// The id of a request that the tree of a server sends to the replica.
struct ListedRequestID: Hashable {
  fileprivate let number: Int

  fileprivate init(_ number: Int) { self.number = number }

  /// The id of the first request.
  static let first = ListedRequestID(1)

  /// The id of the next request.
  var next: ListedRequestID { ListedRequestID(number + 1) }
}
