public import RunnelBase

/// What asks a server for its services.
public protocol ServiceProvider: AnyObject, Sendable {
  /// True if the server tells of the events of its services.
  var hasEvents: Bool { get }
  /// Gets what the provider reports to, once, before any call.
  func attach(_ link: ProviderLink)
  /// Makes a call, and waits for its answer.
  func call(_ call: ProviderCall) async throws(FeathersError) -> JSONValue
  /// Ends the connection; calls that are under way fail.
  func close()
}

/// What a provider reports to.
public struct ProviderLink: Sendable {
  /// Passes on an event of the server: path, event and data.
  public let events: @Sendable (_ path: String, ServiceEvent, JSONValue) -> Void
  /// Signs in again, on a connection that was just made; other calls wait meanwhile.
  public let signIn: @Sendable () async -> Void
  /// Reports that the server has ended the session of who was signed in.
  public let refused: @Sendable () -> Void
  /// Why the last sign-in failed, if calls may not be sent as nobody; nil if they are sent.
  package var refusal: @Sendable () -> FeathersError? = { nil }

  /// Makes a link.
  public init(
    events: @escaping @Sendable (_ path: String, ServiceEvent, JSONValue) -> Void,
    signIn: @escaping @Sendable () async -> Void, refused: @escaping @Sendable () -> Void
  ) {
    (self.events, self.signIn, self.refused) = (events, signIn, refused)
  }
}

/// A call as a provider sends it.
public struct ProviderCall: Sendable {
  /// The path of the service, without placeholders.
  public var path: String
  /// The method and its arguments.
  public var request: ServiceRequest
  /// The token of who is signed in; nil for nobody.
  public var token: String?
  /// Further headers, for transports that have any.
  public var headers: [String: String]
  /// True for a call that signs in: it does not wait until that is done.
  public var isSignIn: Bool
  /// True for a call that signs in again by itself, which connections share.
  package var isRenewal = false

  /// Makes a call.
  public init(
    path: String, _ request: ServiceRequest, token: String? = nil,
    headers: [String: String] = [:], isSignIn: Bool = false
  ) {
    (self.path, self.request, self.token) = (path, request, token)
    (self.headers, self.isSignIn) = (headers, isSignIn)
  }
}

/// A service of the server.
struct ProviderService: FeathersService {
  private let path: String
  private let provider: any ServiceProvider
  private let authentication: ServiceAuthentication

  init(
    _ path: String, _ provider: any ServiceProvider, _ authentication: ServiceAuthentication
  ) {
    (self.path, self.provider, self.authentication) = (path, provider, authentication)
  }

  func perform(_ request: ServiceRequest, _ params: ServiceParams) async throws -> JSONValue {
    var request = request
    request.query = params.query
    if let answer = try localAnswer(request) { return answer }
    if !authentication.isPath(path) { try await authentication.require() }
    var call = ProviderCall(
      path: try ServicePath.filled(path, params.route), request, token: authentication.token,
      headers: params.headers)
    do throws(FeathersError) {
      return try await provider.call(call)
    } catch {
      // One attempt to sign in again, and one more of the call, which was refused or not sent.
      let isRefused =
        error.code == 401 || authentication.refusal != nil && error.data?["isSent"]?.bool != true
      guard isRefused, !authentication.isPath(path),
        await authentication.renew(after: call.token)
      else { throw error }
      call.token = authentication.token
      return try await provider.call(call)
    }
  }

  /// Returns the answer to a call that concerns no record, which is not sent.
  private func localAnswer(_ request: ServiceRequest) throws(FeathersError) -> JSONValue? {
    guard request.query.matchesNothing else { return JSONValue?.none }
    switch request.method {
    case .find:
      let limit = request.query["$limit"].flatMap { QueryReading.leadingInteger($0) } ?? 0
      let skip = request.query["$skip"].flatMap { QueryReading.leadingInteger($0) } ?? 0
      return ServicePage(total: 0, limit: limit, skip: skip, records: []).json
    case .patch where request.id == nil, .remove where request.id == nil: return .array([])
    default: return JSONValue?.none
    }
  }
}
