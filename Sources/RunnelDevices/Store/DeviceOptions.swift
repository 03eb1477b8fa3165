import Glibc
public import RunnelAccounts

/// The options of a store of devices.
public struct DeviceOptions: Sendable {
  /// The name of the device for people: by default that of the machine.
  public var name = DeviceOptions.machineName
  /// The operating system with its version.
  public var os = DeviceOptions.systemName
  /// The kind of device.
  public var type = "Linux"
  /// The version of the program; nil if it is not to be shown.
  public var version: String?
  /// The folder in which the device remembers its id: by default `runnel` in the user's state folder.
  public var stateFolder: String?
  /// The clock.
  public var clock = AccountClock.system
  /// The seed of the random pauses between attempts.
  public var seed = UInt64.random(in: 0...(.max))

  /// Makes the default options.
  public init() {}

  private static var machineName: String {
    var bytes = [CChar](repeating: 0, count: 256)
    guard gethostname(&bytes, bytes.count - 1) == 0 else { return "Linux" }
    let name = String(
      decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return name.isEmpty ? "Linux" : name
  }

  /// Source: os-release(5).
  private static var systemName: String {
    let field = "PRETTY_NAME="
    for path in ["/etc/os-release", "/usr/lib/os-release"] {
      let descriptor = open(path, O_RDONLY | O_CLOEXEC)
      if descriptor < 0 { continue }
      defer { close(descriptor) }
      var bytes = [UInt8](repeating: 0, count: 16_384)
      let text = String(
        decoding: bytes.prefix(max(0, read(descriptor, &bytes, bytes.count))), as: UTF8.self)
      guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix(field) }) else {
        continue
      }
      return String(line.dropFirst(field.count).filter { $0 != "\"" && $0 != "'" }.prefix(100))
    }
    return "Linux"
  }
}
