// ComingFromFirebaseReSwift.md shows what stands between the marks; a test holds the two equal.

// example begin
import RunnelBase
import RunnelDatabase
import RunnelStore
import RunnelTree

struct Team: CodableTreeObject {
  var name: String
  var place: [String: String]?
}

struct TeamsState: Sendable {
  var teams: ObjectsState<Team>
  var opened: Team?
  var trouble: String?
}

func teamsReducer(state: inout TeamsState, action: any Action) {
  ObjectsState.reduce(&state.teams, action)
  switch action {
  case let action as ObjectObserved<Team>:
    if case .object(let team) = action.event { state.opened = team }
  case let action as any FailureAction: state.trouble = action.error.description
  default: break
  }
}
// example end

// example begin
func openTeams(_ database: Database) throws -> DatabaseStore<TeamsState> {
  let all = try Query(Path("teams")).ordered(byChild: "name")
  return DatabaseStore(
    database, state: TeamsState(teams: ObjectsState(of: all)), reducer: teamsReducer)
}

func watchTeams(_ store: DatabaseStore<TeamsState>) async throws {
  let query = await store.state.teams.query
  await store.dispatch(
    Team.subscribeToObjects(of: \TeamsState.teams, query, as: "teams"))
  await store.dispatch(Team.observeObject(at: try Path("teams/red"), as: "opened"))
}

func leaveTeams(_ store: DatabaseStore<TeamsState>) async {
  await store.dispatch(Unsubscribe("teams"))
  await store.dispatch(Unsubscribe("opened"))
}
// example end

// example begin
func changeTeams(_ store: DatabaseStore<TeamsState>) async throws {
  let red = try Path("teams/red")
  let new = try Team.createObject(Team(name: "Blue"), in: Path("teams"))
  await store.dispatch(Team.createObject(Team(name: "Red"), at: red))
  await store.dispatch(new)
  await store.dispatch(Team.mergeObject(at: red, ["place": ["city": "Oslo"]]))
  await store.dispatch(Team.mergeObject(at: red, ["place": ["hall": "North"]]))
  await store.dispatch(Team.updateObject(at: red, ["name": "Reds"]))
  await store.dispatch(Team.getObject(at: red, id: "red"))
  await store.dispatch(
    try Team.searchObjects(in: Path("teams"), where: "name", equals: .string("Blue")))
}
// example end

// example begin
func renameSlowly(_ name: String) -> AsyncThunk<TeamsState> {
  AsyncThunk("rename") { context in
    let teams = try context.database.reference(withPath: "teams")
    for team in try await teams.get().children {
      try await teams.child("\(team.key ?? "")/name").setValue(name)
      try await context.dispatch(Progress(done: team.key ?? ""))
    }
  }
}

struct Progress: Action { var done: String }

func stopRenaming(_ store: DatabaseStore<TeamsState>) async {
  await store.dispatch(CancelThunk("rename"))
}
// example end

// example begin
struct LookState: Codable, Equatable, Sendable { var isDark = false }

struct ProgramState: Sendable { var look = LookState() }

struct DarkChosen: Action { var isDark: Bool }

func openProgram(_ database: Database) async throws -> DatabaseStore<ProgramState> {
  let look = PersistedPart(\ProgramState.look, at: try database.reference(withPath: "look"))
  let state = try await look.restored(in: ProgramState())  // what the last run had
  let store = DatabaseStore(database, state: state) { state, action in
    if let action = action as? DarkChosen { state.look.isDark = action.isDark }
  }
  _ = await store.persist(look)  // each change from now on
  return store
}
// example end
