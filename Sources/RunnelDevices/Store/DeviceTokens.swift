import Glibc
import RunnelBase
import RunnelNetwork
import Synchronization

/// Gives the addresses to which notices for a device are sent.
public protocol DeviceTokenProvider: Sendable {
  /// Asks the user, or the system, whether notices are permitted.
  ///
  /// - Throws: `DeviceFailure` (`permissionDenied`) if they are not.
  func askPermission() async throws(DeviceFailure)

  /// The token, and each new one.
  func tokens() async -> AsyncStream<String>

  /// Replaces the token by another one, which `tokens` then tells, so that the old one is worthless.
  ///
  /// - Returns: false if that is not possible.
  func renew() async -> Bool
}

extension DeviceTokenProvider {
  /// Permits notices without asking.
  public func askPermission() async throws(DeviceFailure) {}
  /// Returns false: the token cannot be replaced.
  public func renew() async -> Bool { false }
}

/// No notices: the device is in the list, and its token is empty.
public struct NoDeviceTokens: DeviceTokenProvider {
  /// Makes the provider.
  public init() {}

  /// The empty token.
  public func tokens() async -> AsyncStream<String> {
    AsyncStream { continuation in continuation.yield("") }
  }
}

/// The endpoint of a UnifiedPush service: an address to which anybody who knows it can send notices.
///
/// The program, or a helper such as a distributor, reads the notices that arrive there; this type makes
/// an endpoint that cannot be guessed, keeps it, and replaces it.
///
/// Source: UnifiedPush, "Endpoint"; ntfy's endpoints are `https://HOST/TOPIC?up=1`.
public final class UnifiedPushTokens: DeviceTokenProvider {
  private static let topicBytes = 24

  private struct State {
    var endpoint: String?
    var readers: [Int: AsyncStream<String>.Continuation] = [:]
    var lastReader = 0
  }

  private let server: String
  private let file: String
  private let state = Mutex(State())
  /// The readers that were cancelled.
  ///
  /// It is a lock of its own: the system holds a lock of the task when it tells of the cancellation, and
  /// whoever gives an element to the reader takes that lock too.
  private let endedReaders = Mutex<[Int]>([])

  /// Makes a provider.
  ///
  /// - Parameters:
  ///   - server: the address of the service, such as `https://ntfy.sh`; with TLS, or on this machine.
  ///   - file: the file in which the endpoint is kept, for the user only.
  /// - Throws: `DeviceFailure` (`malformed`) if `server` is not such an address.
  public init(server: String, file: String) throws(DeviceFailure) {
    var base = server[...]
    while base.hasSuffix("/") { base = base.dropLast() }
    guard let address = WebAddress(String(base)), address.isSafe, !base.contains("?") else {
      throw DeviceFailure(
        .malformed, "The UnifiedPush service needs an address with https, such as https://ntfy.sh.")
    }
    (self.server, self.file) = (String(base), file)
  }

  /// The endpoint, and each new one.
  public func tokens() async -> AsyncStream<String> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let id = state.withLock { state in
        forgetEnded(&state)
        if state.endpoint == nil { state.endpoint = kept ?? made() }
        state.lastReader += 1
        state.readers[state.lastReader] = continuation
        if let endpoint = state.endpoint { continuation.yield(endpoint) }
        return state.lastReader
      }
      continuation.onTermination = { [weak self] _ in
        self?.endedReaders.withLock { $0.append(id) }
      }
    }
  }

  /// Replaces the endpoint; nobody reads what is sent to the old one.
  public func renew() async -> Bool {
    state.withLock { state in
      guard let endpoint = made() else { return false }
      state.endpoint = endpoint
      forgetEnded(&state)
      for reader in state.readers.values { reader.yield(endpoint) }
      return true
    }
  }

  private func forgetEnded(_ state: inout State) {
    let ended = endedReaders.withLock { ended in
      defer { ended = [] }
      return ended
    }
    for id in ended { state.readers[id] = nil }
  }

  /// The endpoint in the file, if it is one of this service.
  private var kept: String? {
    let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    if descriptor < 0 { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: DeviceLimits.tokenBytesMax)
    let count = read(descriptor, &bytes, bytes.count)
    let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).prefix { $0 != "\n" }
    return text.hasPrefix(server + "/") && WebAddress(String(text)) != nil ? String(text) : nil
  }

  /// Makes an endpoint and keeps it; nil if it cannot be kept.
  private func made() -> String? {
    var random = SystemRandomNumberGenerator()
    let topic = Base64URL.text(
      (0..<UnifiedPushTokens.topicBytes).map { _ in UInt8.random(in: 0...255, using: &random) })
    let endpoint = "\(server)/up\(topic)?up=1"
    let temporary = "\(file).\(getpid())"
    unlink(temporary)
    let descriptor = open(temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0o600)
    if descriptor < 0 { return nil }
    let bytes = Array((endpoint + "\n").utf8)
    let isWritten = write(descriptor, bytes, bytes.count) == bytes.count
    close(descriptor)
    if isWritten, rename(temporary, file) == 0 { return endpoint }
    unlink(temporary)
    return nil
  }
}
