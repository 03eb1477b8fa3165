import RunnelTerminal

/// A layer with one line for typing, which has the keys.
protocol TextLayer: LayerComponent {
  var editor: LineEditor { get set }
}

extension TextLayer {
  var textField: LineEditor? {
    get { editor }
    set { if let newValue { editor = newValue } }
  }
}

/// A layer that offers choices, which its line narrows.
protocol MenuLayer: TextLayer {
  var menu: MenuList { get set }
}

extension MenuLayer {
  var extent: LayerExtent { .dialog }
  var offersCommandsBelow: Bool { true }
  var showsListBelow: Bool { true }

  var choices: MenuList? {
    get { menu }
    set { if let newValue { menu = newValue } }
  }
}
