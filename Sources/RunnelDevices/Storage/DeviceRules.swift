public import RunnelBase

/// The security rules for the lists of devices: only the user may read and write their own.
public enum DeviceRules {
  /// Returns the rules for a tree, as one member of its rules.
  ///
  /// An entry has exactly the fields of a device, and its own id. An entry of a device that was taken
  /// away is refused, unless the same write takes back the mark, and the user signed in after it. So a
  /// write that waited while the device was taken away does not bring it back; nor does a sign-in in the same second,
  /// which may have been before. Tokens without a time
  /// of sign-in, as those of an emulator, are not held to the time.
  ///
  /// - Parameter collectionPath: the place of the lists.
  /// - Returns: an object, whose members belong below `rules`.
  public static func tree(collectionPath: String = "user-devices") -> JSONValue {
    let isOwner = "auth != null && auth.uid === $user"
    let isText = { (max: Int) -> JSONValue in
      [".validate": .string("newData.isString() && newData.val().length <= \(max)")]
    }
    let mark = ".parent().parent().child('deviceStates').child($device).child('revoked')"
    // A time of sign-in is in whole seconds: one in the second of the mark may have been before it.
    let isNewer =
      "auth.token.auth_time === null || auth.token.auth_time * 1000 > data\(mark).val()"
    let device: JSONValue = [
      ".validate": .string(
        "newData.hasChildren(['deviceId', 'fcmToken', 'name', 'os', 'type']) && "
          + "!newData\(mark).exists() && (!data\(mark).exists() || \(isNewer))"),
      "deviceId": [".validate": "newData.val() === $device"],
      "fcmToken": isText(DeviceLimits.tokenBytesMax),
      "name": isText(DeviceLimits.nameBytesMax),
      "os": isText(DeviceLimits.nameBytesMax),
      "type": isText(DeviceLimits.nameBytesMax),
      "$other": [".validate": false],
    ]
    let status: JSONValue = [
      "created": [".validate": "newData.isNumber()"],
      "lastSeen": [".validate": "newData.isNumber()"],
      "version": isText(DeviceLimits.nameBytesMax),
      "online": [".validate": "newData.isBoolean()"],
      "revoked": [".validate": "newData.isNumber()"],
      "$other": [".validate": false],
    ]
    var rules: JSONValue = [
      "$user": [
        ".read": .string(isOwner), ".write": .string(isOwner),
        "userId": [".validate": "newData.val() === $user"],
        "devices": ["$device": device], "deviceStates": ["$device": status],
        "$other": [".validate": false],
      ]
    ]
    for key in collectionPath.split(separator: "/").reversed() {
      rules = .object([JSONMember(String(key), rules)])
    }
    return rules
  }

  /// Returns the rules for Cloud Firestore, as a `match` statement for documents.
  public static func firestore(collectionPath: String = "user-devices") -> String {
    """
    match /\(collectionPath)/{user} {
      allow read, write: if request.auth != null && request.auth.uid == user;
    }
    """
  }
}
