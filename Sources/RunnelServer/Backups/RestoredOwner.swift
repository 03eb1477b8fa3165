import Glibc

/// Who owns a restored file, so that the server's user can use what root restores.
struct RestoredOwner {
  /// The owner and the group; nil for those of this process.
  private let owner: (user: uid_t, group: gid_t)?
  /// The mode; nil for that of a new file.
  private let mode: mode_t?

  /// The owner of a file that may exist already, beside a database.
  ///
  /// If it is private, others than owner and group may not read it, whatever is there now.
  init(of target: String, database: String, isPrivate: Bool) {
    var status = stat()
    if stat(target, &status) == 0 {
      owner = (status.st_uid, status.st_gid)
      mode = status.st_mode & (isPrivate ? 0o770 : 0o777)
      return
    }
    mode = nil
    let folder = target.lastIndex(of: "/").map { String(target[...$0]) } ?? "."
    let isFound = stat(database, &status) == 0 || stat(folder, &status) == 0
    owner = geteuid() == 0 && isFound ? (status.st_uid, status.st_gid) : nil
  }

  /// Gives a new file to the owner; messages name the file that it will be.
  ///
  /// - Throws: `ServerError` if this process may not do that.
  func take(_ file: String, for target: String) throws(ServerError) {
    var status = stat()
    guard stat(file, &status) == 0 else { throw .system("\(target) cannot be made") }
    if let owner, owner != (status.st_uid, status.st_gid),
      chown(file, owner.user, owner.group) != 0
    {
      throw ServerError(
        "\(target) belongs to the user \(owner.user) and the group \(owner.group), and only root can keep that: "
          + "restore as root, or as that user. Nothing was changed.")
    }
    // A change of the owner may change the mode, so this comes last.
    if let mode, chmod(file, mode) != 0 { throw .system("\(target) cannot be made") }
  }
}
