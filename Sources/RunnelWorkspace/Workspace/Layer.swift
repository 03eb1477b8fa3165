import RunnelBase

/// A layer over a view; the last layer is on top and has the keys.
///
/// This is the list of all layers, and the only file that switches over them. A new layer has a
/// component in a folder of its own, with its contexts and the names of its commands, and its lines
/// here.
enum Layer: Hashable, Sendable {
  case record(RecordScreen)
  case form(FormScreen)
  case question(Question)
  case help(HelpScreen)
  case compose(ComposeScreen)
  case filter(FilterScreen)
  case search(SearchScreen)
  case debug(DebugScreen)
  case history(HistoryScreen)
  case compare(CompareScreen)
  case queue(QueueScreen)
  case palette(PaletteScreen)
  case menu(MenuScreen)
  case calendar(CalendarScreen)
  case clients(ClientsScreen)
  case accounts(AccountsScreen)
  case devices(DevicesScreen)
  case why(WhyScreen)

  /// The component of the layer.
  ///
  /// A component of another kind replaces the layer by one of that kind.
  var component: any LayerComponent {
    get {
      switch self {
      case .record(let screen): screen
      case .form(let screen): screen
      case .question(let screen): screen
      case .help(let screen): screen
      case .compose(let screen): screen
      case .filter(let screen): screen
      case .search(let screen): screen
      case .debug(let screen): screen
      case .history(let screen): screen
      case .compare(let screen): screen
      case .queue(let screen): screen
      case .palette(let screen): screen
      case .menu(let screen): screen
      case .calendar(let screen): screen
      case .clients(let screen): screen
      case .accounts(let screen): screen
      case .devices(let screen): screen
      case .why(let screen): screen
      }
    }
    set { self = newValue.layer }
  }

  /// The tables of commands of all layers.
  static let tables: [CommandTable] = [
    RecordCommands.table, ValueCommands.table, FieldCommands.table,
    FormCommands.table,
    QuestionCommands.table, QuestionCommands.word,
    HelpCommands.table,
    ComposeCommands.table,
    FilterCommands.table,
    SearchCommands.table,
    LastActionsCommands.table,
    HistoryCommands.table,
    CompareCommands.table,
    QueueCommands.table,
    PaletteCommands.table,
    MenuCommands.table,
    CalendarCommands.table,
    ClientsCommands.table,
    AccountsCommands.table,
    DevicesCommands.table,
    WhyCommands.table,
  ]

  /// The layer as one with a list, or nil if it has none.
  var listed: (any ListLayer)? { component as? any ListLayer }
}
