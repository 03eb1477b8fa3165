import Glibc

/// A file of the system, whatever names lead to it.
struct FileIdentity: Hashable {
  let device: UInt
  let inode: UInt

  init(_ status: stat) { (device, inode) = (status.st_dev, status.st_ino) }

  /// The file that a path leads to; nil if there is none, or if it is inaccessible.
  init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  /// The current path of the file, if this process has it open; nil if its last name was deleted.
  ///
  /// O(n) in the descriptors of the process.
  func whereabouts() -> String? {
    guard let folder = opendir("/proc/self/fd") else { return nil }
    defer { closedir(folder) }
    while let entry = readdir(folder) {
      guard let descriptor = Int32(FileIdentity.name(of: entry)) else { continue }
      var status = stat()
      guard fstat(descriptor, &status) == 0, FileIdentity(status) == self else { continue }
      guard status.st_nlink > 0, let path = FileIdentity.target(of: descriptor) else { continue }
      // Another name of the file may remain when the name that was opened is gone.
      if FileIdentity(path) == self { return path }
    }
    return nil
  }

  private static func name(of entry: UnsafeMutablePointer<dirent>) -> String {
    withUnsafePointer(to: &entry.pointee.d_name) { name in
      name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
    }
  }

  private static func target(of descriptor: Int32) -> String? {
    var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = bytes.withUnsafeMutableBytes { buffer in
      buffer.withMemoryRebound(to: CChar.self) { path in
        path.baseAddress.map { readlink("/proc/self/fd/\(descriptor)", $0, path.count) } ?? -1
      }
    }
    return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
  }
}
