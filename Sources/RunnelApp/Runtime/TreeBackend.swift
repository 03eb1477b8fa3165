import RunnelDatabase

/// The receiver of requests for the tree.
protocol TreeBackend: AnyObject {
  /// Sends a request; its results are given to `AppRuntime.receive`.
  func submit(_ request: DatabaseRequest)
}

extension Database: TreeBackend {}
