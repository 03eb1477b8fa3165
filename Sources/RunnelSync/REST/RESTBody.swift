package import RunnelBase

/// The body of a write, as it was parsed.
package enum RESTBody: Hashable, Sendable {
  /// Its value.
  case json(JSONValue)
  /// It has more levels than are allowed.
  case tooDeep
  /// It is no JSON.
  case malformed

  /// Parses a body.
  ///
  /// Complexity: O(n) in its bytes.
  package init(parsing bytes: [UInt8], _ limits: RESTExchange.Limits) {
    if JSONDepth.exceeds(limits.jsonDepthMax, in: bytes) {
      self = .tooDeep
      return
    }
    do throws(JSONError) {
      self = .json(try JSONValue(parsing: bytes))
    } catch {
      self = .malformed
    }
  }
}
