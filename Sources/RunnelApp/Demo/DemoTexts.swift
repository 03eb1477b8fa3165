/// What the demo's people say to each other.
///
/// The other files of this name hold the texts.
///
/// A conversation is a `String` with a turn a line: who, a colon, what. Who is a capital letter for
/// somebody (the same letter is the same person; `O` and `P` are organizers), or the key of a person
/// for texts that only they would write. A turn that begins with `?` is left out half of the time.
/// The single messages, which stand a line each, are by somebody unless they say by whom; where
/// there are more turns than one, ` // ` stands between them. In the text:
/// - `[a|b|c]` is one of them, by chance;
/// - `{a/b}` is `a` in the morning and `b` later;
/// - `{veg}` is a word for the slot `veg`, the same one each time in a conversation;
/// - `{A}` is the name of person A, and `{plotA}` the number of their plot.
///
/// `DemoSlots` knows the slots.
enum DemoTexts {}
