/// Rules files that have something to them, from which mutations begin.
///
/// What a fuzzer found stands here too. This file is read by the test suite and by the drivers in
/// `Tests/Fuzzing`, and so knows nothing of either.
enum HostileRulesCorpus {
  /// Rules files, or nearly.
  static let files: [[UInt8]] = texts.map { Array($0.utf8) }

  private static let texts = [
    """
    {"rules": {"$a": {".read": "auth != null && root.child('x/' + $a).val() === -1.5e3 % 2",
    ".validate": "newData.val().matches(/^[a-z]{2,4}(b|c)*$/i) ? now > 1 : (data.hasChildren(['a']))",
    ".indexOn": ["a", "b/c"]}, ".write": true /* c */ // d
    }}
    """,
    #"{"rules":{".write":"newData.val() != null","$k":{".validate":"$k.replace('a', $k).length<9"}}}"#,
    #"{"rules":{".write":"\u0027\ud83d\ude00\u0027 < '\\u{1f600}' || \"\\x41\" == auth['uid'][now]"}}"#,
    #"{"rules":{".write":"!(1/0 + '' == 'NaN') || -now % .5 >= 1. && data.parent().exists()"}}"#,
    #"{"rules":{".write":"newData.child('ab').val().matches(/((a|[^b-d\\w])?){1,3}.$/)"}}"#,
    #"{"rules":{".write":true,"a":{"b":{"$c":{".validate":"newData.parent().val() == root.val()"}}}}}"#,
    #"{"rules":{".write":"query.orderByChild == null ? root.hasChildren([auth.uid, 'a']) : false",}}"#,
  ]
}
