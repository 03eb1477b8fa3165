import RunnelBase
import RunnelWorkspace

// The first state of a recorded session; the texts in it are parsed as those of files.

extension WorkspaceOpened {
  /// Returns the first state.
  ///
  /// - Throws: `ConfigurationError` if the views or resources are not valid.
  func state() throws -> AppState {
    let settings = Settings(source: configuration, themes: themes)
    var views = try ViewFile(
      yaml: views.jsonText(), name: "the views of the recorded session",
      pageSize: settings.pageSize
    ).views
    for (index, parts) in zip(views.indices, inferred) {
      views[index] = parts.added(to: views[index])
    }
    let book =
      resources.isEmpty
      ? ResourceBook()
      : try ResourceBook(yaml: resources, name: "the resources of the recorded session")
    var state = AppState(
      views: views, resources: book, databaseName: databaseName, me: me, isReadOnly: isReadOnly,
      profile: profile, size: size, now: now, local: LocalTime.zone(named: zone),
      settings: settings)
    state.settings.allowsCrash = allowsCrash
    state.session.isKept = isKept
    state.session.isScratch = isScratch
    state.session.forgetsAccounts = forgetsAccounts
    state.files.dataFile = dataFile
    let front: Tab = tab == state.tabs.lists.count ? .tree : .view(tab)
    if front != state.tabs.front { state.open(front) }
    return state
  }
}
