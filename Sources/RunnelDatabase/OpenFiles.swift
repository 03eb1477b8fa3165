import Glibc

/// How many more files the process may open.
package enum OpenFiles {
  /// How many a database needs at once: itself, its log, what is shared of it, and a folder.
  package static let databaseCount = 6

  /// Why the process cannot open so many more files now, as `errno`; nil if it can.
  ///
  /// O(n) calls of the system.
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

  /// What is said where there is a shortage, and what to do, as sentences without a subject.
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
  /// How near to the limit a file is that a write failed on.
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

  /// What is said where a file would have become too large, and what to do.
  package static let words = "the file size limit is reached. Raise it with `ulimit -f`."
}

/// What a path leads to, for those that must lead to a file.
package enum FileKind {
  /// What it is instead of a file, after "is"; nil for a file, or where there is nothing.
  package static func otherThanFile(_ path: String) -> String? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return words(status.st_mode)
  }

  /// What a mode stands for, if it is not that of a file.
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
