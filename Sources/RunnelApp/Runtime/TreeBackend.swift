import RunnelDatabase

/// Where requests for the tree go.
protocol TreeBackend: AnyObject {
  /// Asks for something; what comes of it is given to `AppRuntime.receive`.
  func submit(_ request: DatabaseRequest)
}

extension Database: TreeBackend {}
