import Glibc

/// The number of files that the process may still open.
package enum OpenFiles {
  /// The number of files that an open database needs: itself, its log, the log's index, and a
  /// folder.
  package static let databaseCount = 6

  /// Returns the `errno` because of which the process cannot open `count` more files now, or nil if
  /// it can.
  ///
  /// Complexity: O(n) system calls.
  package static func shortage(of count: Int = databaseCount) -> Int32? {
    var opened: [Int32] = []
    defer { for descriptor in opened { Glibc.close(descriptor) } }
    for _ in 0..<count {
      let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
      if descriptor >= 0 {
        opened.append(descriptor)
      } else {
        return [EMFILE, ENFILE].contains(errno) ? errno : nil
      }
    }
    return nil
  }

  /// The message for a shortage and advice, as sentences without a subject.
  package static func words(_ shortage: Int32) -> String {
    if shortage == ENFILE {
      return "too many files are open in the whole system. End other programs."
    }
    var limit = rlimit()
    let isKnown = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
    let number = isKnown ? " (limit \(limit.rlim_cur))" : ""
    return "too many open files\(number). Raise the limit with `ulimit -n`, or close some."
  }
}

/// The largest size that the process may give a file.
package enum FileSizeLimit {
  /// The distance from the limit, in bytes, within which a failed write counts as having reached
  /// it.
  private static let nearBytes = 1 << 18

  /// True if there is a limit, and one of the files is near to it.
  static func isReached(by files: [String]) -> Bool {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0,
      limit.rlim_cur < UInt(Int.max)
    else { return false }
    return files.contains { file in
      var status = stat()
      return stat(file, &status) == 0
        && UInt(max(status.st_size, 0)) + UInt(nearBytes) > limit.rlim_cur
    }
  }

  /// The message for a file that would become too large, and advice.
  package static let words = "the file size limit is reached. Raise it with `ulimit -f`."
}

/// The kind of file that a path leads to, for paths that must lead to a regular file.
package enum FileKind {
  /// The kind of a path that leads to no regular file, to follow "is"; nil for a file or an empty
  /// path.
  package static func otherThanFile(_ path: String) -> String? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return words(status.st_mode)
  }

  /// The kind of file that a mode stands for; nil for a regular file.
  package static func words(_ mode: UInt32) -> String? {
    switch mode & S_IFMT {
    case S_IFREG: nil
    case S_IFDIR: "a folder"
    case S_IFIFO: "a pipe"
    case S_IFSOCK: "a socket"
    default: "a device"
    }
  }
}
