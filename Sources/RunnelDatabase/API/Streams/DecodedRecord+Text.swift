import RunnelStreams
import RunnelTree

extension DecodedRecord: CustomStringConvertible {
  /// The place and the value, or the error with its place.
  public var description: String {
    switch result {
    case .success(let value): "\(path): \(value)"
    case .failure(let error): error.description
    }
  }
}
