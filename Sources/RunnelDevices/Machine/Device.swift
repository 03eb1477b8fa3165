/// A device on which a user is signed in, as the user's list has it.
public struct Device: Hashable, Sendable {
  /// The id, which is random and made once on the device.
  public var id: String
  /// The address for notices, such as a push token; empty if the device takes none.
  public var token: String
  /// The name for people.
  public var name: String
  /// The operating system with its version.
  public var os: String
  /// The kind of device.
  public var type: String
  /// What is known beside.
  public var status = DeviceStatus()

  /// Makes a device.
  public init(id: String, token: String, name: String, os: String, type: String) {
    (self.id, self.token, self.name, self.os, self.type) = (id, token, name, os, type)
  }
}

/// What is known of a device beside its entry; times are in milliseconds since 1970.
public struct DeviceStatus: Hashable, Sendable {
  /// The time of the first entry.
  public var created: Int64?
  /// The time at which the device was last seen.
  public var lastSeen: Int64?
  /// The version of the program.
  public var version: String?
  /// True while the device is connected; nil if the storage cannot tell.
  public var isOnline: Bool?
  /// The time at which the user took the device away; nil if it was not.
  public var revoked: Int64?

  /// Makes a status of which nothing is known.
  public init() {}
}

/// The names of the parts of a stored device.
///
/// The first five are all that an entry has, so that programs that know only these read it as before;
/// what is known beside stands next to the entries.
package enum DeviceField {
  static let deviceID = "deviceId"
  static let token = "fcmToken"
  static let name = "name"
  static let os = "os"
  static let type = "type"

  static let userID = "userId"
  static let devices = "devices"
  static let states = "deviceStates"
  static let created = "created"
  static let lastSeen = "lastSeen"
  static let version = "version"
  static let isOnline = "online"
  static let revoked = "revoked"
}

/// The reason why something about a device failed.
public struct DeviceFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kinds of failure.
  public enum Code: Hashable, Sendable {
    /// The user, or the system, does not permit notices.
    case permissionDenied
    /// Nobody is signed in.
    case notSignedIn
    /// The rules of the storage refuse it.
    case refused
    /// The device was taken away by the user.
    case revoked
    /// The storage cannot be reached, or cannot answer at the moment.
    case unavailable
    /// It is stored in this device's replica, and is sent when the origin can be reached.
    case queued
    /// There is no such device.
    case unknownDevice
    /// A value is not allowed, or an answer cannot be read.
    case malformed
    /// The device's own files cannot be read or written.
    case files
    /// The request was replaced by another one.
    case cancelled
  }

  /// The kind of failure.
  public var code: Code
  /// A sentence for people.
  public var message: String

  /// Makes a failure.
  public init(_ code: Code, _ message: String) { (self.code, self.message) = (code, message) }

  /// The sentence.
  public var description: String { message }

  /// True if the same may succeed later.
  public var isTemporary: Bool { code == .unavailable || code == .queued }

  static let cancelled = DeviceFailure(.cancelled, "The request was replaced by another one.")
  static let notSignedIn = DeviceFailure(.notSignedIn, "Nobody is signed in.")
}
