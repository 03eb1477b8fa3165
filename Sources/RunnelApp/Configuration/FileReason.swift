import Foundation

extension Error {
  /// The reason why work on a file failed, in the words of the system and with advice.
  ///
  /// - Returns: A part of a sentence without its end: `no such file or folder: check the name`.
  public var fileReason: String {
    switch (self as? CocoaError)?.code {
    case .fileNoSuchFile?, .fileReadNoSuchFile?:
      return "no such file or folder: check the name"
    case .fileReadNoPermission?, .fileWriteNoPermission?:
      return "permission denied: check its rights and those of its folder"
    case .fileReadInapplicableStringEncoding?, .fileReadUnknownStringEncoding?,
      .fileReadCorruptFile?:
      return "it is not UTF-8 text"
    case .fileWriteOutOfSpace?: return "the disk is full: free some space"
    case .fileWriteVolumeReadOnly?: return "the disk may only be read: name another place"
    case .fileWriteFileExists?: return "there is one already"
    default: break
    }
    let error = self as NSError
    let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError ?? error
    guard cause.domain == NSPOSIXErrorDomain else {
      // The system gives no reason for a folder that is to be made where a file is.
      return error.code == CocoaError.fileWriteUnknown.rawValue
        ? "it cannot be written: check that the folders on the way are folders"
        : localizedDescription
    }
    return SystemReason.words(Int32(cause.code))
  }
}

/// The reasons why the system refused something, in words.
public enum SystemReason {
  /// Returns the words for an `errno` value, with advice if there is any.
  ///
  /// - Returns: A part of a sentence without its end: `no such file or folder: check the name`.
  public static func words(_ number: Int32) -> String {
    switch number {
    case ENOENT, ENOTDIR: "no such file or folder: check the name"
    case EACCES, EPERM: "permission denied: check its rights and those of its folder"
    case ENOSPC, EDQUOT: "the disk is full: free some space"
    case EROFS: "the disk may only be read: name another place"
    default: String(cString: strerror(number))
    }
  }
}
