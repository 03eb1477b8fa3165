package import RunnelTree

// Views with parameters: `/group_message/$group` is a list for each group. A piece of a path that
// begins with `$` is no key of the tree, so such a path stands for no place until it is bound. `$me` is no
// parameter: it is the user, who is known when the views are opened.

extension Path {
  /// The name that stands for the user.
  private static let me = "me"

  /// The names of the parameters in the path, from the left.
  package var parameters: [String] { names.filter { $0 != Path.me } }

  /// Whether the user stands in the path.
  fileprivate var hasUser: Bool { names.contains(Path.me) }

  private var names: [String] {
    keys.compactMap { key in
      key.text.first == "$" ? String(key.text.dropFirst()) : nil
    }
  }

  /// Returns the path with a user's key in place of `$me`.
  fileprivate func bound(toUser key: Key) -> Path { bound(to: [Path.me: key]) }

  /// Returns the path with keys in place of its parameters; parameters without a key stay.
  package func bound(to keys: [String: Key]) -> Path {
    Path(
      unchecked: self.keys.map { key in
        key.text.first == "$" ? keys[String(key.text.dropFirst())] ?? key : key
      })
  }

  /// Returns the keys that stand in a place where this path has its parameters, or nil if the path
  /// does not fit the place.
  package func keys(in place: Path) -> [String: Key]? {
    guard place.keys.count == keys.count else { return nil }
    var found: [String: Key] = [:]
    for (piece, key) in zip(keys, place.keys) {
      if piece.text.first == "$" {
        let name = String(piece.text.dropFirst())
        if let known = found[name], known != key { return nil }
        found[name] = key
      } else if piece != key {
        return nil
      }
    }
    return found
  }
}

extension SourceDefinition {
  fileprivate mutating func bind(to keys: [String: Key]) {
    path = path.bound(to: keys)
    writtenPath = writtenPath?.bound(to: keys)
  }

  fileprivate mutating func bind(toUser key: Key) {
    guard path.hasUser else { return }
    writtenPath = path
    path = path.bound(toUser: key)
  }
}

extension ViewDefinition {
  /// Returns the view with the user in place of `$me` in its paths.
  ///
  /// `$me` stays if the user's name is no key; see `userProblem`.
  package func bound(toUser me: String) -> ViewDefinition {
    guard let key = try? Key(me) else { return self }
    var view = self
    view.source.bind(toUser: key)
    for index in also.indices { view.also[index].bind(toUser: key) }
    return view
  }

  /// Returns why the user cannot stand in the paths of the view, or nil.
  package func userProblem(_ me: String) -> String? {
    let isMeant = ([source] + also).contains { $0.path.hasUser }
    guard isMeant, (try? Key(me)) == nil else { return nil }
    return
      "`$me` in a path of the view `\(name)` is `\(me)`, which no key is like: set `me` to another "
      + "name."
  }

  /// Whether the view has parameters: then it is opened from the rows of another view, and has no
  /// tab.
  package var hasParameters: Bool { !source.path.parameters.isEmpty }

  /// Returns the view with keys in place of the parameters of its paths.
  package func bound(to keys: [String: Key]) -> ViewDefinition {
    var view = self
    view.source.bind(to: keys)
    for index in also.indices { view.also[index].bind(to: keys) }
    return view
  }

  /// The parameter that the key of a row stands for, if the view is opened from that of `parent`:
  /// the last one that `parent` does not have.
  package func rowParameter(below parent: ViewDefinition) -> String? {
    source.path.parameters.last { !parent.source.path.parameters.contains($0) }
  }

  /// Returns the views with parameters, each with the name of the view that it is opened from.
  package static func templates(in views: [ViewDefinition]) -> [ViewDefinition] {
    views.filter(\.hasParameters).map { view in
      var view = view
      view.from = view.origin(among: views)
      return view
    }
  }

  /// Returns what is wrong with the parameters of the view among the views of its file, or nil if
  /// nothing is.
  package func parameterProblem(among views: [ViewDefinition]) -> String? {
    let own = Set(source.path.parameters)
    if also.contains(where: { !own.isSuperset(of: $0.path.parameters) }) {
      return "A path under `also` has only parameters that `path` has."
    }
    guard hasParameters else {
      return from == nil
        ? nil : "`from` belongs to a view with a parameter: `path: /group_message/$group`."
    }
    guard let origin = origin(among: views) else {
      return "`from` names the view from whose rows this one is opened: `from: Groups`."
    }
    guard let above = views.first(where: { $0.name == origin }) else {
      return "There is no view `\(origin)` that this one could be opened from."
    }
    let free = own.subtracting(above.source.path.parameters)
    if free.count != 1 {
      return "A row of `\(origin)` gives one parameter its key: "
        + "of \(source.path), \(free.count) are left."
    }
    return above.isReached(among: views, steps: views.count)
      ? nil : "`\(origin)` is opened from no view with a tab."
  }

  /// Whether the view has a tab, or is opened from a view that is reached.
  private func isReached(among views: [ViewDefinition], steps: Int) -> Bool {
    if !hasParameters { return true }
    guard steps > 0, let name = origin(among: views),
      let above = views.first(where: { $0.name == name })
    else { return false }
    return above.isReached(among: views, steps: steps - 1)
  }

  /// Returns the name of the view from whose rows the view is opened: `from`, or else the first whose
  /// path ends with the name of the last parameter, such as `/group` or `/groups` for `$group`; nil if
  /// there is none.
  package func origin(among views: [ViewDefinition]) -> String? {
    if let from { return from }
    guard let name = source.path.parameters.last else { return nil }
    return views.first { view in
      guard !view.hasParameters, let last = view.source.path.lastKey?.text else { return false }
      return last == name || last == name + "s"
    }?.name
  }
}
