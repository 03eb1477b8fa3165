/// Keeps the lists of users' devices: `user-devices/USER` with `userId` and `devices/DEVICE`.
///
/// Each function returns when the storage has it. Entries of other devices stay as they are.
public protocol DeviceStorage: Sendable {
  /// Puts a device into the list of a user, or replaces its entry.
  ///
  /// - Parameters:
  ///   - device: the device; of its status only the version is used.
  ///   - user: the id of the user.
  ///   - isFresh: true if the user has just signed in, so that the device is no longer revoked.
  /// - Throws: `DeviceFailure`; `revoked` if the user has taken the device away.
  func put(_ device: Device, of user: String, isFresh: Bool) async throws(DeviceFailure)

  /// Removes a device from the list of a user; one that is not there is ignored.
  ///
  /// - Throws: `DeviceFailure`.
  func remove(_ device: String, of user: String) async throws(DeviceFailure)

  /// Whether the mark of a device that was taken away has the server's time: then a later sign-in outweighs it.
  var marksByServerTime: Bool { get }

  /// Removes a device, and marks it as taken away.
  ///
  /// - Throws: `DeviceFailure`.
  func revoke(_ device: String, of user: String) async throws(DeviceFailure)

  /// Gives a device another name.
  ///
  /// - Throws: `DeviceFailure`; `unknownDevice` if it is not in the list.
  func rename(_ device: String, to name: String, of user: String) async throws(DeviceFailure)

  /// Returns the list of a user, with the devices that were revoked.
  ///
  /// - Throws: `DeviceFailure`.
  func devices(of user: String) async throws(DeviceFailure) -> [Device]

  /// Returns the list of a user now and after each change; nil if the storage does not tell.
  func changes(of user: String) async -> AsyncStream<[Device]>?

  /// Shows that a device is connected, until `endPresence` or until the connection is lost.
  func beginPresence(of device: String, user: String) async

  /// Shows that a device is not connected any more.
  func endPresence(of device: String, user: String) async
}

extension DeviceStorage {
  /// Returns false: it may have the time of the device that wrote it.
  public var marksByServerTime: Bool { false }
  /// Returns nil: the storage does not tell.
  public func changes(of user: String) async -> AsyncStream<[Device]>? { nil }
  /// Does nothing.
  public func beginPresence(of device: String, user: String) async {}
  /// Does nothing.
  public func endPresence(of device: String, user: String) async {}
}

/// The limits of what is stored of a device.
enum DeviceLimits {
  static let nameBytesMax = 256
  static let tokenBytesMax = 4096

  /// Checks a text that a user gave.
  ///
  /// - Throws: `DeviceFailure` (`malformed`).
  static func check(name: String) throws(DeviceFailure) {
    let isPlain = name.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f }
    guard isPlain, (1...nameBytesMax).contains(name.utf8.count) else {
      throw DeviceFailure(
        .malformed,
        "A device's name has 1 to \(nameBytesMax) bytes, and no control characters.")
    }
  }
}
