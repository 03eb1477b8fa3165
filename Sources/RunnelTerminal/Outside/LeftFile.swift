import Glibc

/// A file that a process was still using when it was killed.
package enum LeftFile {
  /// Returns the paths of files in a folder whose names are a prefix, the number of a process that is gone,
  /// and an end that is accepted; sorted.
  ///
  /// A file that another process holds, and one whose state cannot be found out, is none. O(files in the
  /// folder).
  ///
  /// - Parameters:
  ///   - folder: the path of the folder.
  ///   - prefix: the beginning of the name, up to the number.
  ///   - isEnd: whether the rest of the name after the number is that of such a file.
  /// - Returns: The paths.
  package static func paths(
    in folder: String, prefix: String, isEnd: (Substring) -> Bool
  ) -> [String] {
    guard let stream = opendir(folder) else { return [] }
    defer { closedir(stream) }
    var paths: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard name.utf8.starts(with: prefix.utf8) else { continue }
      let rest = name.dropFirst(prefix.count)
      let digits = rest.prefix { $0.isASCII && $0.isNumber }
      guard let process = Int32(digits), process > 0, "\(process)" == digits,
        isEnd(rest.dropFirst(digits.count))
      else { continue }
      let path = folder == "/" ? "/\(name)" : "\(folder)/\(name)"
      if isLeft(path, by: process) { paths.append(path) }
    }
    return paths.sorted()
  }

  /// Whether a process that used a file is gone, and no other one holds the file.
  private static func isLeft(_ path: String, by process: Int32) -> Bool {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_uid == geteuid()
    else { return false }
    // The number of this process may be that of an earlier one; what it uses itself is marked.
    let isOwn = process == getpid()
    if !isOwn, kill(process, 0) == 0 || errno != ESRCH { return false }
    let isMarked = ByteLock.isMarked(file: path)
    return isOwn ? isMarked == false : isMarked != true
  }
}
