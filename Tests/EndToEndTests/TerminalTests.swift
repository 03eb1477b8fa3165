import Testing

/// The workspace in a real terminal.
///
/// One test at a time: each has a terminal, or two, and a program that is to answer at once, while
/// the other tests go on beside them.
@Suite(.serialized) struct TerminalTests {}
