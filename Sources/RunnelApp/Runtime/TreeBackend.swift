import RunnelDatabase

/// The receiver of requests for the tree.
protocol TreeBackend: AnyObject {
  /// Sends a request; its results are given to `AppRuntime.receive`.
  func submit(_ request: DatabaseRequest)

  /// The path of the database's file; nil if there is none.
  var databaseFile: String? { get }
}

extension TreeBackend {
  var databaseFile: String? { nil }
}

extension Database: TreeBackend {
  nonisolated var databaseFile: String? { file }
}
