import RunnelBase
import Synchronization

/// A service that an application has, with its hooks, listeners and publishers.
///
/// Invariant: a chain in `chains` is that of the hooks of `hooksVersion`.
final class ServiceEntry: Sendable {
  private struct State {
    var hooks = ServiceHooks()
    var publishers = PublisherTable()
    var chains: [ServiceMethod: HookChain] = [:]
    /// The version of the application's hooks that the chains are made of.
    var hooksVersion = -1
  }

  let path: String
  let service: any FeathersService
  let options: ServiceOptions
  let emitter = ServiceEmitter()
  private let state = Mutex(State())

  init(_ path: String, _ service: any FeathersService, _ options: ServiceOptions) {
    (self.path, self.service, self.options) = (path, service, options)
  }

  var hooks: ServiceHooks { state.withLock(\.hooks) }

  func append(_ hooks: ServiceHooks) {
    state.withLock { state in
      state.hooks.append(hooks)
      state.chains = [:]
    }
  }

  func publish(_ event: ServiceEvent?, _ publisher: @escaping ServicePublisher) {
    state.withLock { $0.publishers.set(event, publisher) }
  }

  func publisher(for event: ServiceEvent) -> ServicePublisher? {
    state.withLock { $0.publishers.publisher(for: event) }
  }

  /// Returns the hooks of a method, made anew only after a change.
  func chain(_ method: ServiceMethod, _ appHooks: () -> ServiceHooks, version: Int) -> HookChain {
    state.withLock { state in
      if state.hooksVersion != version {
        state.chains = [:]
        state.hooksVersion = version
      }
      if let chain = state.chains[method] { return chain }
      let chain = HookChain(
        [HookChain.Level(appHooks(), method), HookChain.Level(state.hooks, method)], service)
      state.chains[method] = chain
      return chain
    }
  }
}

/// What stands for a service that there is not: every call of it is refused.
struct MissingService: FeathersService {
  let path: String

  func perform(_ request: ServiceRequest, _ params: ServiceParams) async throws -> JSONValue {
    throw FeathersError(.notFound, "Service '\(path)' not found")
  }
}

/// The path of a service: names between slashes, some of which may be placeholders (`:userId`).
enum ServicePath {
  /// Returns a path without slashes at its ends.
  static func trimmed(_ path: some StringProtocol) -> String {
    path.split(separator: "/", omittingEmptySubsequences: true).joined(separator: "/")
  }

  /// Returns the values of a pattern's placeholders in a path; nil if it does not fit.
  static func match(_ pattern: String, _ path: String) -> [String: String]? {
    let (names, parts) = (pattern.split(separator: "/"), path.split(separator: "/"))
    if names.count != parts.count { return nil }
    var values: [String: String] = [:]
    for (name, part) in zip(names, parts) {
      if name.hasPrefix(":") {
        values[String(name.dropFirst())] = String(part)
      } else if name != part {
        return nil
      }
    }
    return values
  }

  /// Returns a path with values in place of its placeholders.
  ///
  /// - Throws: `BadRequest` if a value is missing.
  static func filled(
    _ path: String, _ values: [String: String]
  ) throws(FeathersError) -> String {
    if !path.contains(":") { return path }
    var parts: [String] = []
    for part in path.split(separator: "/") {
      if !part.hasPrefix(":") {
        parts.append(String(part))
      } else if let value = values[String(part.dropFirst())], !value.isEmpty {
        parts.append(QueryString.pathSegment(value))
      } else {
        throw FeathersError(.badRequest, "The path \(path) needs a value for \(part) in `route`.")
      }
    }
    return parts.joined(separator: "/")
  }
}
